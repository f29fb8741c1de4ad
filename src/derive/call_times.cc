#include "derive/call_times.h"

#include <algorithm>

#include "derive/host_use.h"

namespace tracedb {

// From its start on the thread's time, among its kind, is its own.
void CallTimes::Own(Thread& thread, const HostSlice& slice, uint32_t use) {
  const auto kind = static_cast<size_t>(slice.kind);
  CountSelf(thread, kind, slice.ts);
  if (thread.owners[kind].size() >= limits_.depth_max || held_ >= limits_.held_max) return;
  thread.owners[kind].push_back({EndOf(slice), use});
  ++held_;
}

// The innermost of a kind has the thread's time; of several that are open the last that began.
void CallTimes::CountSelf(Thread& thread, size_t kind, int64_t now) {
  std::vector<Owner>& owners = thread.owners[kind];
  int64_t& counted_to = thread.counted_to[kind];
  while (!owners.empty()) {
    const Owner& owner = owners.back();
    const int64_t until = std::min(owner.end, now);
    if (until > counted_to) {  // never both at the ends of 64 bits: it has been open since
      AddTime(self_ns_[owner.use], until - counted_to);
      counted_to = until;
    }
    if (owner.end > now) return;
    owners.pop_back();
    --held_;
  }
  counted_to = std::max(counted_to, now);
}

void CallTimes::Finish() {
  for (auto& [track, thread] : threads_) {
    for (size_t kind = 0; kind < kHostKinds; ++kind) {
      CountSelf(thread, kind, std::numeric_limits<int64_t>::max());
    }
  }
}

}  // namespace tracedb
