// The GPU activities of a trace as they are gathered while it is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <unordered_map>

#include "tracedb/base/result.h"
#include "tracedb/memory/packed_rows.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

struct GpuActivity {
  int64_t id = 0;
  int64_t ts = 0;
  int64_t dur = 0;
  int64_t track = 0;
  int64_t correlation = 0;
  int64_t event_name = 0;
  int64_t external_id = 0;
  int64_t args_text = 0;  // communication only, as is the next
  int64_t seq = 0;        // args.Seq
  GpuKind kind = GpuKind::kCompute;
  bool has_dur = false;
  bool has_correlation = false;
  bool has_external_id = false;
  bool has_seq = false;
};

class GpuActivities {
 public:
  using Item = GpuActivity;

  GpuActivities(std::filesystem::path folder, size_t bytes_max)
      : rows_(std::move(folder), bytes_max) {}

  size_t count() const { return rows_.rows(); }
  size_t communication_count() const { return communication_count_; }
  // Calls `take` with the args text of communication kernels and whether they have an External id:
  // once for each such pair where few texts differ, else for each kernel.
  template <typename Take>
  Status ForEachCommunicationArgs(Take take) const {
    if (communication_args_.size() > kArgsMax) {
      return ForEach([&take](const GpuActivity& activity) {
        if (activity.kind == GpuKind::kCommunication) {
          take(activity.args_text, activity.has_external_id);
        }
      });
    }
    for (const auto& [args_text, is_of] : communication_args_) {
      for (const bool has_external_id : {false, true}) {
        if (is_of[has_external_id]) take(args_text, has_external_id);
      }
    }
    return Done{};
  }
  Status Add(const GpuActivity& activity) {
    if (activity.kind == GpuKind::kCommunication) NoteCommunication(activity);
    const int64_t flags = static_cast<int64_t>(activity.kind) | (activity.has_dur ? kHasDur : 0) |
                          (activity.has_correlation ? kHasCorrelation : 0) |
                          (activity.has_external_id ? kHasExternalId : 0) |
                          (activity.has_seq ? kHasSeq : 0);
    return rows_.Add({activity.id, activity.ts, activity.dur, activity.track, activity.correlation,
                      flags, activity.event_name, activity.external_id, activity.args_text,
                      activity.seq});
  }
  // In the order of their ids.
  template <typename Take>
  Status ForEach(Take take) const {
    return ForEach(0, count(), take);
  }
  // The `first`-th to the one before the `end`-th, counted from 0.
  template <typename Take>
  Status ForEach(size_t first, size_t end, Take take) const {
    return rows_.ForEach(first, end, [&take](const Row& row) {
      take(GpuActivity{row.id, row.ts, row.dur, row.track, row.correlation, row.event_name,
                       row.external_id, row.args_text, row.seq,
                       static_cast<GpuKind>(row.flags & kKindBits), (row.flags & kHasDur) != 0,
                       (row.flags & kHasCorrelation) != 0, (row.flags & kHasExternalId) != 0,
                       (row.flags & kHasSeq) != 0});
    });
  }

 private:
  static constexpr int64_t kKindBits = 3;
  static constexpr int64_t kHasDur = 4;
  static constexpr int64_t kHasCorrelation = 8;
  static constexpr int64_t kHasExternalId = 16;
  static constexpr int64_t kHasSeq = 32;
  struct Row {
    int64_t id, ts, dur, track, correlation, flags, event_name, external_id, args_text, seq;
  };

  void NoteCommunication(const GpuActivity& activity) {
    ++communication_count_;
    if (communication_args_.size() > kArgsMax) return;
    communication_args_[activity.args_text][activity.has_external_id] = true;
  }

  static constexpr size_t kArgsMax = 1024;

  PackedRows<Row> rows_;
  size_t communication_count_ = 0;
  // Whether any without, and any with an External id has the args text; one too many where more do.
  std::unordered_map<int64_t, std::array<bool, 2>> communication_args_;
};

}  // namespace tracedb
