// The GPU activities of a new file, read on a connection of their own and sorted: what
// derive_fresh.cc needs in this order or that. Each function may run on a thread of its own.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "tracedb/base/result.h"

namespace tracedb {

// By start; only those that have a duration that is not negative.
struct TimedActivity {
  int64_t ts = 0;
  int64_t dur = 0;
  int64_t track = 0;
  int kind = 0;
};

// In the order of the index gpu_slice_by_track.
struct TrackEntry {
  int64_t track = 0;
  int64_t ts = 0;
  int64_t id = 0;
  auto operator<=>(const TrackEntry&) const = default;
};

// In the order of the index gpu_slice_by_correlation: none comes first, as NULL does.
struct CorrelationEntry {
  int64_t track = 0;
  bool has_correlation = false;
  int64_t correlation = 0;
  int64_t id = 0;
  auto operator<=>(const CorrelationEntry&) const = default;
};

Result<std::vector<TimedActivity>> ReadTimedActivities(const std::filesystem::path& file,
                                                       size_t rows_max);
Result<std::vector<TrackEntry>> ReadTrackEntries(const std::filesystem::path& file,
                                                 size_t rows_max);
Result<std::vector<CorrelationEntry>> ReadCorrelationEntries(const std::filesystem::path& file,
                                                             size_t rows_max);

}  // namespace tracedb
