// The union of time intervals, split by which kinds of activity run: one pass over intervals that
// come in order of their start. Integer nanoseconds; knows nothing of traces or SQL.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tracedb/base/interval.h"

namespace tracedb {

inline constexpr int kBusyKinds = 3;

// A stretch in which the same kinds run. Stretches without any are not reported.
struct BusySegment : Interval {
  uint32_t kinds = 0;  // bit i: kind i runs
};

// Several intervals of one kind may overlap: only the furthest end of each kind matters, so the
// state is three numbers.
class BusySweep {
 public:
  // Starts must not fall from call to call; an interval without length adds nothing.
  void Add(int64_t start_ns, int64_t end_ns, int kind, std::vector<BusySegment>& done);
  // No interval comes any more: reports what still runs.
  void Finish(std::vector<BusySegment>& done);

 private:
  void RunTo(int64_t until_ns, std::vector<BusySegment>& done);

  int64_t now_ns_ = 0;
  std::array<int64_t, kBusyKinds> ends_ns_{};  // of what runs since before now_ns_; <= now: nothing
  bool begun_ = false;
  BusySegment open_;  // may still be prolonged
};

// Length of the union of intervals that come in order of their start.
class BusyUnion {
 public:
  void Add(int64_t start_ns, int64_t end_ns) {
    if (!begun_ || start_ns > end_ns_) {
      begun_ = true;
      end_ns_ = start_ns;
    }
    if (end_ns > end_ns_) {
      busy_ns_ += end_ns - end_ns_;
      end_ns_ = end_ns;
    }
  }
  int64_t busy_ns() const { return busy_ns_; }

 private:
  bool begun_ = false;
  int64_t end_ns_ = 0;
  int64_t busy_ns_ = 0;
};

}  // namespace tracedb
