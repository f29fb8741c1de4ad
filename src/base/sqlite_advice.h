// What a person can do where SQLite failed.
#pragma once

#include <string>

namespace tracedb {

// `system_code`: errno of the system call that failed; 0: none did. Empty: nothing that is known.
std::string AdviceAfter(int sqlite_code, int system_code);

}  // namespace tracedb
