// Memory that will be written soon and that another core has, asked for ahead of time: writes need
// not wait for it one line after the other.
#pragma once

#include <cstddef>

namespace tracedb {

// The lines of an item; it need not be one yet.
template <typename Item>
void PrefetchToWrite(const Item* item) {
  constexpr size_t kLineBytes = 64;
  const auto* const bytes = reinterpret_cast<const char*>(item);
  for (size_t at = 0; at < sizeof(Item); at += kLineBytes) {
#if defined(__x86_64__)
    // What compilers make of __builtin_prefetch leaves the other core its line. Processors that do
    // not know this one take it for no operation.
    asm volatile("prefetchw %0" : : "m"(bytes[at]));
#else
    __builtin_prefetch(bytes + at, 1);
#endif
  }
}

}  // namespace tracedb
