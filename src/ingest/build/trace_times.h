// When the events of a trace were, in stretches of about a year: from where the bulk of them is
// follows which times cannot be. Takes the same memory for any trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "tracedb/derive/time_rule.h"
#include "tracedb/schema/event_issues.h"

namespace tracedb {

class TraceTimes {
 public:
  enum class Of { kHost, kGpu };

  // Times since the trace's own zero; |ts| below TimeRule::kTimeMaxNs.
  void Add(Of of, int64_t ts, int64_t dur, uint64_t offset) {
    if (dur > TimeRule::kDurationMaxNs) return AddTooLong(offset);
    const int64_t end = ts + std::max<int64_t>(dur, 0);
    if (of == Of::kGpu && ts == 0) {
      Count(zero_, ts, end, offset);
    } else {
      Count((of == Of::kGpu ? gpu_ : host_)[Place(ts)], ts, end, offset);
    }
  }
  void AddTooLong(uint64_t offset) { Count(too_long_, 0, 0, offset); }

  struct Verdict {
    TimeRule rule;  // starts as Add() takes them
    std::optional<int64_t> first_start_ns;
    std::optional<int64_t> last_end_ns;
  };
  // What is not kept becomes an issue.
  Verdict Decide(EventIssues& issues) const;

 private:
  struct Stretch {
    uint64_t events = 0;
    uint64_t first_offset = 0;
    int64_t first_start = 0;
    int64_t last_end = 0;
  };
  using Stretches = std::vector<Stretch>;
  static constexpr int kStretchBits = 55;  // 417 days
  static constexpr size_t kStretches = size_t{1} << (63 - kStretchBits);

  static size_t Place(int64_t ts) {
    return static_cast<size_t>((ts + TimeRule::kTimeMaxNs) >> kStretchBits);
  }
  static void Count(Stretch& stretch, int64_t start, int64_t end, uint64_t offset) {
    if (stretch.events++ == 0) {
      stretch = {1, offset, start, end};
      return;
    }
    stretch.first_start = std::min(stretch.first_start, start);
    stretch.last_end = std::max(stretch.last_end, end);
    stretch.first_offset = std::min(stretch.first_offset, offset);
  }
  static std::optional<size_t> Bulk(const Stretches& stretches, std::optional<size_t> near);
  static TimeRule::Window Around(const Stretches& stretches, std::optional<size_t> bulk,
                                 Stretch& kept, Stretch& far);

  Stretches host_{kStretches};
  Stretches gpu_{kStretches};
  Stretch zero_;      // GPU activities at ts 0, where profilers put those without a time
  Stretch too_long_;  // offsets alone
};

}  // namespace tracedb
