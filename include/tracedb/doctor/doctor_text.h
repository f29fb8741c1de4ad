// A doctor's report for people.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/doctor/doctor_checks.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

// A block for each check that has rows, findings first, of each the first few rows; and a line that
// sums up. Tables leave out columns to keep to `width` characters; 0: any number.
Status WriteTextReport(const DoctorReport& report, int width, OutputStream& output);

}  // namespace tracedb
