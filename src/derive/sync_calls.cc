#include "derive/sync_calls.h"

#include <algorithm>

namespace tracedb {

void SyncCalls::Add(uint32_t thread, const Interval& time, const SyncKey& key) {
  const uint32_t use = uses_.Find(key);
  SyncSums& sums = uses_[use];
  ++sums.calls;
  AddTime(sums.total_ns, time.length());
  if (thread == 0 || time.length() <= 0 || count_ == calls_max_) return;
  if (threads_.size() <= thread) threads_.resize(thread + 1);
  std::vector<Call>& calls = threads_[thread];
  const int64_t end_max_ns =
      calls.empty() ? time.end_ns : std::max(time.end_ns, calls.back().end_max_ns);
  calls.push_back({time, end_max_ns, use});
  ++count_;
}

std::optional<uint32_t> SyncCalls::At(uint32_t thread, int64_t at, int64_t before) const {
  if (thread >= threads_.size()) return std::nullopt;
  const std::vector<Call>& calls = threads_[thread];
  auto after = std::upper_bound(calls.begin(), calls.end(), at,
                                [](int64_t ts, const Call& call) { return ts < call.start_ns; });
  while (after != calls.begin()) {
    --after;
    if (after->end_max_ns <= at) return std::nullopt;
    if (after->end_ns > at && after->start_ns < before) return after->use;
  }
  return std::nullopt;
}

}  // namespace tracedb
