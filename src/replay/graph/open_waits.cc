#include "replay/graph/open_waits.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace tracedb {

OpenWaits::OpenWaits(std::span<const Call> calls) {
  for (const Call& call : calls) {
    if (call.kind != CallKind::kWait && call.kind != CallKind::kWaitForAll) continue;
    waits_.push_back({call.thread, call.start_ns, call.end_ns});
  }
  std::sort(waits_.begin(), waits_.end());
  for (size_t i = 1; i < waits_.size(); ++i) {
    int64_t& end_ns = std::get<2>(waits_[i]);
    const auto& [thread, start_ns, before_ns] = waits_[i - 1];
    if (thread == std::get<0>(waits_[i])) end_ns = std::max(end_ns, before_ns);
  }
}

bool OpenWaits::AnyAround(const Call& hold) const {
  const Wait last{hold.thread, hold.start_ns, std::numeric_limits<int64_t>::max()};
  const auto after = std::upper_bound(waits_.begin(), waits_.end(), last);
  if (after == waits_.begin()) return false;
  const auto& [thread, start_ns, end_ns] = *std::prev(after);
  return thread == hold.thread && end_ns >= hold.end_ns;
}

}  // namespace tracedb
