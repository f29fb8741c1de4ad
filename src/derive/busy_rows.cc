#include "derive/busy_rows.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "derive/derive_launches.h"
#include "derive/gathered/lot_taker.h"
#include "derive/step_partition.h"
#include "tracedb/base/apart_bytes.h"
#include "tracedb/pages/index_appender.h"
#include "tracedb/pages/page_file.h"
#include "tracedb/pages/record_encoder.h"
#include "tracedb/schema/empty_database.h"

namespace tracedb {
namespace {

constexpr size_t kSegmentsAtOnce = 256;

// Streams and devices. Rows come in the order of their key: trace, device, start.
class alignas(kApartBytes) DeviceBusy {
 public:
  DeviceBusy(const GatheredTrace& trace, DerivedUse::Parts& use, IndexAppender& rows)
      : trace_(trace), use_(use), rows_(rows) {}

  Status Add(const SortEntry& entry) {
    if (entry.group != device_) TRACEDB_TRY(Finish());
    device_ = entry.group;
    const int64_t start_ns = entry.key + trace_.base_ns;
    const BusyInterval interval{{start_ns, start_ns + entry.value}, entry.kind};
    use_.streams[entry.stream].use.Add(interval);
    use_.devices[device_].use.Add(interval, segments_);
    return segments_.size() < kSegmentsAtOnce ? Status(Done{}) : Store();
  }
  // Of the device at hand no activity comes any more.
  Status Finish() {
    if (use_.devices.empty()) return Done{};
    use_.devices[device_].use.Finish(segments_);
    return Store();
  }

 private:
  Status Store() {
    for (const BusySegment& segment : segments_) {
      record_.Reset();
      record_.Int(trace_.trace_id);
      record_.NumberOrText(use_.devices[device_].device);
      record_.Int(segment.start_ns);
      record_.Int(segment.length());
      record_.Int(segment.kinds);
      TRACEDB_TRY(rows_.Append(record_.Finish()));
    }
    segments_.clear();
    return Done{};
  }

  const GatheredTrace& trace_;
  DerivedUse::Parts& use_;
  IndexAppender& rows_;
  uint32_t device_ = 0;
  std::vector<BusySegment> segments_;  // that are not stored yet
  RecordEncoder record_;
};

class alignas(kApartBytes) StepBusy {
 public:
  StepBusy(const BusyInput& input, StepUses& uses)
      : input_(input), uses_(uses), partition_(NewPartition()) {}

  Status Add(const SortEntry& entry) {
    if (entry.group != device_) TRACEDB_TRY(Finish());
    device_ = entry.group;
    if (entry.kind == GpuKind::kWaiting) return Done{};
    partition_.Add(ActivityOf(entry), stretches_);
    return Store();
  }
  // Of the device at hand no activity comes any more.
  Status Finish() {
    partition_.Finish(stretches_);
    partition_ = NewPartition();
    return Store();
  }

 private:
  StepPartition NewPartition() const {
    const size_t places = std::min(input_.steps.numbers(), 8 * input_.limits.step_bytes_max);
    return StepPartition(input_.syncs, input_.trace.base_ns, places);
  }
  PartitionActivity ActivityOf(const SortEntry& entry);
  Status Store() {
    for (const StepUse& use : stretches_) TRACEDB_TRY(uses_.Add(device_, use));
    stretches_.clear();
    return Done{};
  }

  const BusyInput& input_;
  StepUses& uses_;
  uint32_t device_ = 0;
  StepPartition partition_;  // of the device at hand
  std::vector<StepUse> stretches_;
};

PartitionActivity StepBusy::ActivityOf(const SortEntry& entry) {
  const LaunchFacts facts = LaunchFacts::Unpacked(entry.launch_facts);
  PartitionActivity activity;
  activity.start_ns = entry.key + input_.trace.base_ns;
  activity.end_ns = activity.start_ns + entry.value;
  activity.kind = entry.kind == GpuKind::kCompute ? StepPartition::kComputeKind
                  : entry.kind == GpuKind::kMemory
                      ? StepPartition::kMemoryKind
                      : StepPartition::CommunicationKind(facts.parallelism);
  if (facts.delay_ns.has_value()) activity.launch_ns = activity.start_ns - *facts.delay_ns;
  std::optional<StepFinder::Found> step;
  if (activity.launch_ns.has_value()) step = input_.steps.Find(*activity.launch_ns);
  if (!step.has_value()) step = input_.steps.Find(activity.start_ns);
  if (step.has_value()) {
    activity.step = step->step;
    activity.step_place = step->place;
  }
  activity.thread = facts.thread;
  return activity;
}

}  // namespace

Status DeriveBusyRows(const BusyInput& input, const std::filesystem::path& database,
                      SortBeside& entries, DerivedUse::Parts& use) {
  TRACEDB_ASSIGN(file, PageFile::Open(database, {}));
  const uint32_t root = EmptyDatabase::RootPages({"_busy_segment"}).front();
  TRACEDB_ASSIGN(rows, IndexAppender::Create(*file, root));  // the table is its key's index
  use.steps.emplace(database.parent_path(), input.limits.step_bytes_max);
  StepBusy steps(input, *use.steps);
  DeviceBusy devices(input.trace, use, rows);
  ItemTaker<SortEntry> beside(input.limits.has_cores_to_spare(), [&](auto lot) -> Status {
    for (const SortEntry& entry : lot) TRACEDB_TRY(devices.Add(entry));
    return Done{};
  });
  const auto take = [&](std::span<const SortEntry> lot) -> Status {
    for (const SortEntry& entry : lot) {
      TRACEDB_TRY(beside.Add(entry));
      TRACEDB_TRY(steps.Add(entry));
    }
    return Done{};
  };
  TRACEDB_TRY(entries.ForEach(take));
  TRACEDB_TRY(steps.Finish());
  TRACEDB_TRY(input.steps.status());
  TRACEDB_TRY(beside.Finish());
  TRACEDB_TRY(devices.Finish());
  TRACEDB_TRY(rows.Finish());
  return file->Finish();
}

}  // namespace tracedb
