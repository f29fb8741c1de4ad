// A doctor's report for programs.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/doctor/doctor_checks.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

// {"findings":[...],"notes":[...],"checks":[...],"traces":N}: an entry for each check that has rows
// (CheckResult::kRowsKeptMax of them at most), and what came of every check.
Status WriteJsonReport(const DoctorReport& report, OutputStream& output);

}  // namespace tracedb
