// What is thrown at us - memory that cannot be had, threads that cannot be started - as an Error.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "tracedb/base/result.h"

namespace tracedb {

inline constexpr const char* kOutOfMemoryText = "out of memory";

inline Error OutOfMemory() {
  Error error{ErrorKind::kOutput, kOutOfMemoryText, ""};
  try {
    error.advice = "give the program more: see ulimit -v, and the limits of its container";
  } catch (const std::bad_alloc&) {  // then without
  }
  return error;
}

// `work` returns a Status or a Result. What it had begun is undone as it is left.
template <typename Work>
auto RunCaught(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::exception& thrown) {
    return Error{ErrorKind::kOutput, thrown.what(), ""};
  }
}

}  // namespace tracedb
