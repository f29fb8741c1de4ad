// Launches that found their queue full: a queue of the GPU holds some thousand launches, and a call
// that launches into a full one returns when the GPU has taken something out of it. So a host that
// is far ahead of its GPU waits for it in calls that are no waits by their names.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tracedb {

struct LaunchingCall {
  int64_t start_ns;
  int64_t end_ns;
  int64_t finish_ns;  // of the last activity that it launched
  uint32_t stream;    // of that
  bool is_wait;       // by its name: it returns later anyway
};

struct FullQueue {
  uint32_t call;     // its place among those that were given
  uint32_t made_by;  // the call whose last activity made room for it when it finished
};

// Of all launching calls of one trace; by call. At least 512 more of them had started before it
// than were done at its end, it takes 50 us or more, and ends at most 20 us after a finish on its
// stream during it.
std::vector<FullQueue> FindFullQueues(std::span<const LaunchingCall> calls);

}  // namespace tracedb
