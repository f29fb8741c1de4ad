#include "ingest/build/gathered_slices.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "tracedb/derive/time_rule.h"

namespace tracedb {
namespace {

std::optional<int64_t> NumberIn(const ArgsValues& values, ArgsColumn column) {
  const auto at = static_cast<size_t>(column);
  const uint32_t bit = uint32_t{1} << at;
  if ((values.mask & bit) == 0 || (values.text_mask & bit) != 0) return std::nullopt;
  return values.ints[at];
}

}  // namespace

GatheredSlices::GatheredSlices(const LoadLimits& limits, const std::filesystem::path& folder)
    : host_slices_(folder, limits.host_slice_bytes_max),
      gpu_activities_(folder, limits.gpu_activity_bytes_max),
      long_slices_(folder, limits.long_slice_bytes_max) {}

Status GatheredSlices::Add(EventTable table, const EventRow& row, const ArgsValues& values) {
  if (!IsSliceTable(table)) return Done{};
  return table == EventTable::kGpuSlice ? AddActivity(row, values)
                                        : AddHostSlice(table, row, values);
}

Status GatheredSlices::AddActivity(const EventRow& row, const ArgsValues& values) {
  const auto correlation = NumberIn(values, ArgsColumn::kCorrelation);
  const auto external_id = NumberIn(values, ArgsColumn::kExternalId);
  GpuActivity activity;
  activity.id = row.id;
  activity.ts = *row.ts;
  activity.dur = row.dur.value_or(0);
  activity.track = row.track;
  activity.correlation = correlation.value_or(0);
  activity.event_name = row.event_name;
  activity.external_id = external_id.value_or(0);
  if (row.gpu_kind == GpuKind::kCommunication) {
    const auto seq = NumberIn(values, ArgsColumn::kCollectiveSeq);
    activity.args_text = row.args_text;
    activity.seq = seq.value_or(0);
    activity.has_seq = seq.has_value();
  }
  activity.kind = row.gpu_kind;
  activity.has_dur = row.dur.has_value();
  activity.has_correlation = correlation.has_value();
  activity.has_external_id = external_id.has_value();
  return gpu_activities_.Add(activity);
}

Status GatheredSlices::AddHostSlice(EventTable table, const EventRow& row,
                                    const ArgsValues& values) {
  if (row.dur >= kLongSliceNs) {
    TRACEDB_TRY(long_slices_.Add({row.id, *row.ts, row.track, table}));
  }
  const HostCall& call = row.host_call;
  if (!call.kind.has_value() || row.dur > TimeRule::kDurationMaxNs) return Done{};
  HostSlice slice;
  slice.ts = *row.ts;
  slice.dur = std::max<int64_t>(row.dur.value_or(0), 0);
  slice.id = row.id;
  slice.track = row.track;
  slice.event_name = row.event_name;
  slice.kind = *call.kind;
  if (slice.kind == HostKind::kOperator) {
    slice.args_text = row.begin_args.value_or(row.args_text);
    const auto sequence = NumberIn(values, ArgsColumn::kSequenceNumber);
    slice.has_sequence = sequence.has_value();
    slice.sequence = sequence.value_or(0);
    slice.forward_thread = NumberIn(values, ArgsColumn::kFwdThreadId).value_or(0);
  } else if (slice.kind == HostKind::kCall) {
    slice.waits = call.waits;
    slice.graph_call = call.graph_call;
    const auto correlation = NumberIn(values, ArgsColumn::kCorrelation);
    slice.has_correlation = correlation.has_value();
    slice.correlation = correlation.value_or(0);
  }
  if (slice.kind == HostKind::kOperator || slice.kind == HostKind::kCall) {
    const auto external_id = NumberIn(values, ArgsColumn::kExternalId);
    slice.has_external_id = external_id.has_value();
    slice.external_id = external_id.value_or(0);
  }
  return host_slices_.Add(slice);
}

}  // namespace tracedb
