#include "derive/busy/busy_sweep.h"

#include <algorithm>
#include <cassert>

namespace tracedb {

void BusySweep::Add(int64_t start_ns, int64_t end_ns, int kind, std::vector<BusySegment>& done) {
  if (!begun_) {
    begun_ = true;
    now_ns_ = start_ns;
    ends_ns_.fill(start_ns);
  }
  assert(start_ns >= now_ns_);
  RunTo(start_ns, done);
  int64_t& end = ends_ns_[static_cast<size_t>(kind)];
  end = std::max(end, end_ns);
}

void BusySweep::Finish(std::vector<BusySegment>& done) {
  if (!begun_) return;
  RunTo(*std::max_element(ends_ns_.begin(), ends_ns_.end()), done);
  if (open_.length() > 0) done.push_back(open_);
  open_ = {};
}

// Reports the time from now to `until_ns`, cut where a kind ends.
void BusySweep::RunTo(int64_t until_ns, std::vector<BusySegment>& done) {
  while (now_ns_ < until_ns) {
    uint32_t kinds = 0;
    int64_t next = until_ns;
    for (size_t kind = 0; kind < ends_ns_.size(); ++kind) {
      if (ends_ns_[kind] <= now_ns_) continue;
      kinds |= uint32_t{1} << kind;
      next = std::min(next, ends_ns_[kind]);
    }
    if (kinds == open_.kinds && open_.end_ns == now_ns_ && open_.end_ns > open_.start_ns) {
      open_.end_ns = next;
    } else {
      if (open_.end_ns > open_.start_ns && open_.kinds != 0) done.push_back(open_);
      open_ = {{now_ns_, next}, kinds};
    }
    now_ns_ = next;
  }
  if (open_.kinds == 0) open_ = {};
}

}  // namespace tracedb
