#include "derive/step_partition.h"

#include <algorithm>

namespace tracedb {
namespace {
constexpr size_t kPartsMax = 1024;  // of a gap
}  // namespace

void StepPartition::Add(const PartitionActivity& activity, std::vector<StepUse>& done) {
  if (!begun_) {
    begun_ = true;
    now_ns_ = end_ns_ = activity.start_ns;
    ends_ns_.fill(activity.start_ns);
    stretches_.push_back({});
    stretches_.back().start_ns = activity.start_ns;
  }
  if (gap_.ended && activity.start_ns > gap_.end_ns) ExplainGap();
  RunTo(activity.start_ns);
  if (activity.length() > 0) EndGap(activity);
  EnterStep(activity);
  int64_t& end = ends_ns_[activity.kind];
  end = std::max(end, activity.end_ns);
  end_ns_ = std::max(end_ns_, activity.end_ns);
  // The next step may begin where the last one did, and so before it.
  if (stretches_.size() > 2) Give(last() - 1, done);
}

// Those before the `end`-th, unless the gap at hand is in part theirs.
void StepPartition::Give(size_t end, std::vector<StepUse>& done) {
  if (!gap_.parts.empty()) end = std::min(end, gap_.parts.front().stretch);
  for (; given_ < end; ++given_) {
    const StepUse& use = stretches_.front();
    const bool nothing = !use.step.has_value() && use.length() == 0;
    if (!nothing) done.push_back(use);
    stretches_.pop_front();
  }
}

// From now to `until_ns`, cut where a kind ends.
void StepPartition::RunTo(int64_t until_ns) {
  while (now_ns_ < until_ns) {
    uint32_t kinds = 0;
    int64_t next = until_ns;
    for (size_t kind = 0; kind < kKinds; ++kind) {
      if (ends_ns_[kind] <= now_ns_) continue;
      kinds |= uint32_t{1} << kind;
      next = std::min(next, ends_ns_[kind]);
    }
    kinds != 0 ? CountBusy(kinds, next - now_ns_) : CountIdle(now_ns_, next - now_ns_);
    now_ns_ = next;
  }
}

void StepPartition::CountBusy(uint32_t kinds, int64_t ns) {
  constexpr uint32_t kCompute = uint32_t{1} << kComputeKind;
  constexpr uint32_t kMemory = uint32_t{1} << kMemoryKind;
  StepUse& use = stretches_.back();
  const bool computes = (kinds & kCompute) != 0;
  const bool communicates = (kinds & ~(kCompute | kMemory)) != 0;
  if (computes) use.compute_ns += ns;
  if (communicates) use.communication_ns += ns;
  if (computes && communicates) use.overlap_ns += ns;
  if (kinds == kMemory) use.exposed_memory_ns += ns;
  if (computes || !communicates) return;
  size_t last = kParallelisms;
  for (size_t i = 0; i < kParallelisms; ++i) {
    if ((kinds >> (i + 1) & 1) == 0) continue;
    if (last == kParallelisms || ends_ns_[i + 1] > ends_ns_[last + 1]) last = i;
  }
  use.exposed_ns[last] += ns;
}

void StepPartition::CountIdle(int64_t from_ns, int64_t ns) {
  if (gap_.parts.empty()) gap_.start_ns = from_ns;
  if (!gap_.parts.empty() && gap_.parts.back().stretch == last()) {
    gap_.parts.back().ns += ns;
  } else {
    if (gap_.parts.size() == kPartsMax) ForgetParts();
    gap_.parts.push_back({last(), ns});
  }
}

void StepPartition::ForgetParts() {
  const auto half = gap_.parts.begin() + kPartsMax / 2;
  for (auto part = gap_.parts.begin(); part != half; ++part) {
    StretchAt(part->stretch).idle_ns[static_cast<size_t>(IdleCause::kUnknown)] += part->ns;
  }
  gap_.parts.erase(gap_.parts.begin(), half);
}

void StepPartition::EndGap(const PartitionActivity& activity) {
  if (gap_.parts.empty()) return;
  const bool first = !gap_.ended;
  const bool earlier = !first && activity.launch_ns.has_value() &&
                       (!gap_.launch_ns.has_value() || *activity.launch_ns < *gap_.launch_ns);
  if (!first && !earlier) return;
  gap_.ended = true;
  gap_.end_ns = activity.start_ns;
  gap_.launch_ns = activity.launch_ns;
  gap_.thread = activity.thread;
}

// From when on the thread was in a call whose work had not ended: that the gap ended while it was
// in it says so, as what a blocked thread has launched was launched before. A gap's end: never.
int64_t StepPartition::SyncStart() {
  const Interval gap{gap_.start_ns - base_ns_, gap_.end_ns - base_ns_};
  int64_t from_ns = gap_.end_ns;
  for (const SyncCalls::Call& call : syncs_->In(gap_.thread, gap)) {
    SyncSums& sums = syncs_->uses()[call.use];
    AddTime(sums.stalled_ns, call.Intersection(gap).length());
    if (call.end_ns > gap.end_ns) {
      from_ns = std::max(call.begun_ns, gap.start_ns) + base_ns_;
    } else if (call.start_ns <= gap.start_ns) {
      ++sums.stalls;
      AddTime(sums.after_ns, gap.end_ns - call.end_ns);
    }
  }
  return from_ns;
}

void StepPartition::ExplainGap() {
  IdleCause cause = IdleCause::kUnknown;
  int64_t sync_ns = 0;
  if (gap_.launch_ns.has_value()) {
    cause = *gap_.launch_ns < gap_.start_ns ? IdleCause::kDependency : IdleCause::kHost;
    sync_ns = gap_.end_ns - SyncStart();
  }
  // A gap ends in what was synchronous of it.
  for (auto part = gap_.parts.rbegin(); part != gap_.parts.rend(); ++part) {
    StepUse& stretch = StretchAt(part->stretch);
    const int64_t synchronous_ns = std::min(sync_ns, part->ns);
    sync_ns -= synchronous_ns;
    stretch.idle_ns[static_cast<size_t>(IdleCause::kSync)] += synchronous_ns;
    stretch.idle_ns[static_cast<size_t>(cause)] += part->ns - synchronous_ns;
  }
  gap_ = {};
}

// The first activity of a step begins its stretch, here; of several that begin at once the last is
// the one that lasts.
void StepPartition::EnterStep(const PartitionActivity& activity) {
  const size_t place = activity.step_place;
  if (!activity.step.has_value() || place >= seen_.size() || seen_[place]) return;
  seen_[place] = true;
  StepUse& now = stretches_.back();
  StepUse next;
  next.step = activity.step;
  next.start_ns = next.end_ns = activity.start_ns;
  if (now.start_ns < activity.start_ns || now.step < next.step) {
    now.end_ns = activity.start_ns;
    stretches_.push_back(next);
    return;
  }
  stretches_.insert(stretches_.end() - 1, next);
}

void StepPartition::Finish(std::vector<StepUse>& done) {
  if (!begun_) return;
  if (gap_.ended) ExplainGap();
  RunTo(end_ns_);
  // Up to an activity without length, which ends no gap.
  if (!gap_.parts.empty()) ExplainGap();
  stretches_.back().end_ns = end_ns_;
  Give(last() + 1, done);
}

}  // namespace tracedb
