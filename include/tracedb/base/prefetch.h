// Memory that will be written soon, and that another core has: asked for ahead of time, so that the
// writes need not wait for it one by one.
#pragma once

namespace tracedb {

// Any address will do.
inline void PrefetchToWrite(const void* at) {
#if defined(__x86_64__)
  // A prefetch that compilers make for reading leaves the other core its line. Processors that do
  // not know this one take it for no operation.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at, 1);
#endif
}

}  // namespace tracedb
