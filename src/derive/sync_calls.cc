#include "derive/sync_calls.h"

#include <algorithm>

namespace tracedb {

void SyncCalls::Add(uint32_t thread, const Interval& time, const SyncKey& key) {
  const uint32_t use = uses_.Find(key);
  SyncSums& sums = uses_[use];
  ++sums.calls;
  AddTime(sums.total_ns, time.length());
  if (thread == 0 || count_ == calls_max_) return;
  if (threads_.size() <= thread) threads_.resize(thread + 1);
  std::vector<Call>& calls = threads_[thread];
  const int64_t start_ns =
      calls.empty() ? time.start_ns : std::max(time.start_ns, calls.back().end_ns);
  if (start_ns >= time.end_ns) return;
  calls.push_back({{start_ns, time.end_ns}, time.start_ns, use});
  ++count_;
}

std::span<const SyncCalls::Call> SyncCalls::In(uint32_t thread, const Interval& time) const {
  if (thread >= threads_.size()) return {};
  const std::vector<Call>& calls = threads_[thread];
  const auto first = std::partition_point(
      calls.begin(), calls.end(), [&](const Call& call) { return call.end_ns <= time.start_ns; });
  const auto last = std::partition_point(
      first, calls.end(), [&](const Call& call) { return call.start_ns < time.end_ns; });
  return {first, last};
}

}  // namespace tracedb
