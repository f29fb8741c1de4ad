#include "derive/call_uses.h"

namespace tracedb {

uint32_t CallUses::UseOf(const StepNumber& step, const HostSlice& slice) {
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

void CallUses::Add(const HostSlice& slice, CallUse& counted) {
  int64_t start_ns;
  StepNumber step;
  if (!__builtin_add_overflow(slice.ts, base_ns_, &start_ns)) step = steps_.At(start_ns);
  const uint32_t use = UseOf(step, slice);
  ++uses_[use].calls;
  counted.step_number = step.value_or(0);
  counted.use = use;
  counted.has_step = step.has_value();
}

}  // namespace tracedb
