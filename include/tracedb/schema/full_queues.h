// Launches that found their queue full: a queue of the GPU holds some thousand launches, and a call
// that launches into a full one returns when the GPU has taken something out of it. So a host that
// is far ahead of its GPU waits for it in calls that are no waits by their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace tracedb {

struct LaunchingCall {
  int64_t slice_id;
  int64_t start_ns;
  int64_t end_ns;
  int64_t finish_ns;  // of the last activity that it launched
  uint32_t stream;    // of that
  bool is_wait;       // by its name: it returns later anyway
};

// The launching calls of one trace are added in the order of their starts, then slice_id.
class FullQueues {
 public:
  // The call whose last activity made room for this one when it finished. Nothing where it had
  // room: it takes less than 50 us, or fewer than 512 of those before it were not done at its end,
  // or none of those on its stream finished during it, at most 20 us before its end.
  std::optional<int64_t> Add(const LaunchingCall& call);

 private:
  struct Launched {
    int64_t finish_ns;
    int64_t slice_id;
  };
  using Queue = std::deque<Launched>;  // by finish

  std::optional<int64_t> RoomMadeFor(const LaunchingCall& call) const;
  void ForgetDone(int64_t now_ns);

  std::map<uint32_t, Queue> by_stream_;  // not known to be done
  size_t count_ = 0;                     // of all of them
  bool gave_up_ = false;                 // more than any GPU holds
};

}  // namespace tracedb
