// What doctor's checks say, as JSON for the page.
#pragma once

#include <string>

#include "tracedb/doctor/doctor_checks.h"

namespace tracedb {

// [{"check","title","verdict":"clean|note|finding","count","meaning","advice","result":{...}}], of
// each check the first few rows; a clean one has its title and verdict alone.
std::string ChecksAsJson(const DoctorReport& report);

}  // namespace tracedb
