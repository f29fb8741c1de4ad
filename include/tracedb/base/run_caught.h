// What is thrown at us - memory that cannot be had, threads that cannot be started - as an Error.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <system_error>

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

inline Error NoThread() {
  return {ErrorKind::kOutput, "a thread cannot be started",
          "give the program more memory or processes: see ulimit -v and ulimit -u, and the limits "
          "of its container"};
}

// `work` returns a Status or a Result. What it had begun is undone as it is left.
template <typename Work>
auto RunCaught(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::system_error& thrown) {
    if (thrown.code() == std::errc::resource_unavailable_try_again) return NoThread();
    return Error{ErrorKind::kOutput, thrown.what(), ""};
  } catch (const std::exception& thrown) {
    return Error{ErrorKind::kOutput, thrown.what(), ""};
  }
}

}  // namespace tracedb
