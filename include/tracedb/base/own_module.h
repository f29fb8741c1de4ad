// What few commands need and is dear to load lies in modules of ours (tracedb-http.so): beside the
// program where it is built, in lib/tracedb where it is installed.
#pragma once

#include "tracedb/base/result.h"

// Of each module: the version of the program that it was built with.
extern "C" const char* const tracedb_module_version;

namespace tracedb {

// A module's function of the C interface. It stays loaded: what it made may have threads. An error
// (kOutput) when it is missing or of another version.
Result<void*> ModuleFunction(const char* module, const char* function);

}  // namespace tracedb
