// The steps of a trace, to be asked in which of them a moment lies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tracedb/base/interval.h"

namespace tracedb {

class StepRanges {
 public:
  void Add(Interval range, int64_t step) { steps_.push_back({range, range.end_ns, step}); }

  // After the last Add and before the first question. Steps that begin together stay in the order
  // in which they came.
  void Sort() {
    std::ranges::stable_sort(steps_, {}, [](const Step& step) { return step.range.start_ns; });
    for (size_t i = 1; i < steps_.size(); ++i) {
      steps_[i].latest_end_ns = std::max(steps_[i].range.end_ns, steps_[i - 1].latest_end_ns);
    }
  }

  // Calls `use` with each that has begun and not ended, the first to begin first.
  template <typename Use>
  void ForEachAround(int64_t at_ns, const Use& use) const {
    auto step = std::ranges::upper_bound(steps_, at_ns, {}, &Step::latest_end_ns);
    for (; step != steps_.end() && step->range.start_ns <= at_ns; ++step) {
      if (at_ns < step->range.end_ns) use(step->step);
    }
  }

 private:
  struct Step {
    Interval range;
    int64_t latest_end_ns;  // up to this one
    int64_t step;
  };
  std::vector<Step> steps_;
};

}  // namespace tracedb
