// Where the system says that it has no memory, and not the allocator.
#pragma once

#include <new>
#include <system_error>

namespace tracedb {

// Else what needs it would be taken for not there: a folder that cannot be listed, a path without
// the folder that it starts from.
inline void ThrowIfNoMemory(const std::error_code& code) {
  if (code == std::errc::not_enough_memory) throw std::bad_alloc();
}

}  // namespace tracedb
