#include "derive/call_times.h"

#include <algorithm>

namespace tracedb {

uint32_t CallTimes::UseOf(const StepNumber& step, const HostSlice& slice) {
  if (step != near_step_) {
    near_step_ = step;
    near_uses_.assign(kNearUses, NearUse{});
  }
  const auto mixed = static_cast<uint64_t>(slice.event_name * 5 + slice.args_text * 3 +
                                           static_cast<int64_t>(slice.kind));
  NearUse& near = near_uses_[mixed % kNearUses];
  if (near.event_name != slice.event_name || near.args_text != slice.args_text ||
      near.kind != slice.kind) {
    near = {slice.event_name, slice.args_text, slice.kind,
            uses_.Find({step, slice.kind, slice.event_name, slice.args_text})};
  }
  return near.use;
}

void CallTimes::Add(const HostSlice& slice, CallUse& counted) {
  int64_t start_ns;
  StepNumber step;
  if (!__builtin_add_overflow(slice.ts, base_ns_, &start_ns)) step = steps_.At(start_ns);
  const uint32_t use = UseOf(step, slice);
  ++uses_[use].calls;
  if (slice.dur > 0) {
    if (Thread* thread = threads_.Of(slice.track); thread != nullptr) Own(*thread, slice, use);
  }
  counted.step_number = step.value_or(0);
  counted.use = use;
  counted.has_step = step.has_value();
}

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
      AddTime(uses_[owner.use].self_ns, until - counted_to);
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
