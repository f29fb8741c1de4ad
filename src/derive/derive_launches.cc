#include "derive/derive_launches.h"

#include <algorithm>
#include <deque>
#include <future>
#include <utility>

#include "tracedb/base/run_caught.h"
#include "tracedb/pages/record_encoder.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

// The number's parts, from its last bit: thread, whether the launch is known, parallelism, delay.
constexpr int kThreadBits = 13;  // CallNesting numbers fewer
constexpr int kKnownBit = kThreadBits;
constexpr int kParallelismAt = kKnownBit + 1;
constexpr int kDelayAt = kParallelismAt + 3;
constexpr int64_t kDelayMax = (int64_t{1} << (63 - kDelayAt)) - 1;

constexpr size_t kLotActivities = 16384;  // half of that where several are looked up
constexpr size_t kLotsAhead = 3;          // looked up at a time
constexpr size_t kOffersEach = 6;  // calls that are read for an activity; traces have about two

CommunicationKernel CommunicationOf(const GpuActivity& activity, const LaunchCall& call,
                                    const StepNumber& step, int64_t base_ns) {
  const auto known = [](bool is_known, int64_t value) {
    return is_known ? std::optional(value) : std::nullopt;
  };
  return {activity.id,
          activity.ts + base_ns,
          known(activity.has_dur, activity.dur),
          activity.args_text,
          known(activity.has_seq, activity.seq),
          known(activity.has_external_id, activity.external_id),
          step,
          known(call.slice_id != 0, call.ts + base_ns),
          activity.event_name};
}

}  // namespace

uint64_t LaunchFacts::Packed() const {
  const int64_t delay = std::clamp(delay_ns.value_or(0), -kDelayMax, kDelayMax);
  const uint64_t known = delay_ns.has_value() ? 1 : 0;
  const uint64_t thread_part = thread >> kThreadBits == 0 ? thread : 0;
  return static_cast<uint64_t>(delay + kDelayMax) << kDelayAt |
         static_cast<uint64_t>(parallelism) << kParallelismAt | known << kKnownBit | thread_part;
}

LaunchFacts LaunchFacts::Unpacked(uint64_t packed) {
  LaunchFacts facts;
  if ((packed >> kKnownBit & 1) != 0) {
    facts.delay_ns = static_cast<int64_t>(packed >> kDelayAt) - kDelayMax;
  }
  facts.thread = static_cast<uint32_t>(packed & ((uint64_t{1} << kThreadBits) - 1));
  facts.parallelism = static_cast<Parallelism>(packed >> kParallelismAt & 7);
  return facts;
}

LaunchDerivation::LaunchDerivation(const Input& input, StepFinder steps, const LoadLimits& limits,
                                   std::filesystem::path folder)
    : input_(input),
      steps_(std::move(steps)),
      limits_(limits),
      folder_(std::move(folder)),
      communication_(folder_, limits.communication_bytes_max) {}

Status LaunchDerivation::ReadHost(LaunchCalls& calls) {
  host_ = std::make_unique<HostDerivation>(steps_, input_.base_ns, limits_, folder_);
  return host_->ReadSlices(input_.host_slices, input_.times, calls);
}

Status LaunchDerivation::Write(const LaunchCalls& calls, RowStore& rows, size_t table,
                               const Take& take) {
  const bool beside = limits_.has_cores_to_spare();
  Launches counted(beside, [this](std::span<const Launch> lot) {
    Count(lot);
    return Status(Done{});
  });
  Launches stored(beside, [&](std::span<const Launch> lot) {
    if (!beside) Count(lot);
    return Store(lot, rows, table);
  });
  TRACEDB_TRY(WriteLots(calls, {beside ? &counted : nullptr, stored, take}));
  TRACEDB_TRY(counted.Finish());
  return stored.Finish();
}

// A lot of activities at a time, whose launches stay in a core's cache; while one is gone through
// the next ones are looked up. Where activities do not come in the order of their launches, most
// calls are read for each lot: then lots grow, as far as memory allows.
Status LaunchDerivation::WriteLots(const LaunchCalls& calls, const Output& output) {
  struct Lot {
    size_t first, end;
    std::future<Result<LookedUp>> looked_up;
  };
  const size_t count = input_.activities.count();
  const bool beside = limits_.has_cores_to_spare();
  const size_t bytes_each = LaunchTable::kBytesEach + (beside ? sizeof(GpuActivity) : 0);
  // Two lots have room at the same time, smaller ones more.
  const size_t lot_max = limits_.launch_lot_bytes_max / bytes_each / 2;
  size_t size = std::min(beside ? kLotActivities / 2 : kLotActivities, lot_max);
  size_t begun = 0;  // of the activities
  std::deque<Lot> lots;
  const auto begin_next = [&] {
    const size_t first = begun;
    begun = std::min(count, begun + size);
    const bool is_only = begun - first == count;
    auto looked_up =
        std::async(is_only ? std::launch::deferred : std::launch::async,
                   [this, &calls, beside, first, end = begun] {
                     return RunCaught([&] { return LookUp(calls, first, end, beside); });
                   });
    lots.push_back({first, begun, std::move(looked_up)});
  };
  const size_t ahead = beside ? kLotsAhead : 1;
  while (begun < count || !lots.empty()) {
    while (begun < count && lots.size() < std::min(ahead + 1, 2 * lot_max / size)) begin_next();
    Lot lot = std::move(lots.front());
    lots.pop_front();
    TRACEDB_ASSIGN(looked_up, lot.looked_up.get());
    const size_t activities = lot.end - lot.first;
    if (looked_up.launches.offers() > kOffersEach * activities) size = std::min(2 * size, lot_max);
    TRACEDB_TRY(WriteLot(output, looked_up, lot.first, lot.end));
  }
  return steps_.status();
}

// The launches of activities `first` to `end` - 1, and with `keep` these themselves.
Result<LaunchDerivation::LookedUp> LaunchDerivation::LookUp(const LaunchCalls& calls, size_t first,
                                                            size_t end, bool keep) const {
  LookedUp found{LaunchTable(end - first), {}};
  if (keep) found.activities.reserve(end - first);
  TRACEDB_TRY(input_.activities.ForEach(first, end, [&found, keep](const GpuActivity& activity) {
    if (activity.has_correlation) found.launches.Want(activity.correlation);
    if (keep) found.activities.push_back(activity);
  }));
  TRACEDB_TRY(calls.ForEach(found.launches.wanted(),
                            [&found](const LaunchCall& call) { found.launches.Offer(call); }));
  return found;
}

Status LaunchDerivation::WriteLot(const Output& output, LookedUp& lot, size_t first, size_t end) {
  const auto add = [&](const GpuActivity& activity) {
    const LaunchCall none;
    return AddLaunch(output, activity,
                     activity.has_correlation ? lot.launches.Of(activity.correlation) : none);
  };
  for (const GpuActivity& activity : lot.activities) TRACEDB_TRY(add(activity));
  if (!lot.activities.empty()) return Done{};
  Status written = Done{};
  TRACEDB_TRY(input_.activities.ForEach(first, end, [&](const GpuActivity& activity) {
    if (written.ok()) written = add(activity);
  }));
  return written;
}

Status LaunchDerivation::AddLaunch(const Output& output, const GpuActivity& activity,
                                   const LaunchCall& call) {
  if (!input_.times.KeepsActivity(activity.ts, activity.dur)) return Done{};
  const bool known = call.slice_id != 0;
  const int64_t base_ns = input_.base_ns;
  StepNumber step;
  if (known) step = steps_.At(call.ts + base_ns);
  if (!step.has_value()) step = steps_.At(activity.ts + base_ns);
  const LaunchPath path = host_->PathOf(activity, call);
  LaunchFacts facts;
  if (known) facts.delay_ns = activity.ts - call.ts;
  facts.thread = call.thread;
  if (activity.kind == GpuKind::kCommunication) {
    const CommunicationKernel kernel = CommunicationOf(activity, call, step, base_ns);
    TRACEDB_ASSIGN(parallelism, ParallelismOf(activity, path, kernel));
    facts.parallelism = parallelism;
    TRACEDB_TRY(communication_.Add(kernel));
  }
  TRACEDB_TRY(output.take(activity, facts));
  const int64_t gpu_ns = activity.has_dur ? std::max<int64_t>(activity.dur, 0) : 0;
  const Launch launch{activity.id,   activity.event_name,           gpu_ns,
                      call.slice_id, known ? call.ts + base_ns : 0, step,
                      path};
  if (output.counted != nullptr) TRACEDB_TRY(output.counted->Add(launch));
  return output.stored.Add(launch);
}

void LaunchDerivation::Count(std::span<const Launch> launches) const {
  for (const Launch& launch : launches) {
    host_->Count(launch.event_name, launch.gpu_ns, launch.path, launch.step);
  }
}

Status LaunchDerivation::Store(std::span<const Launch> launches, RowStore& rows,
                               size_t table) const {
  RecordEncoder record;
  for (const Launch& launch : launches) {
    const bool known = launch.slice_id != 0;
    if (!known && !launch.step.has_value() && launch.path.path == 0) continue;
    record.Reset();
    record.Null();
    known ? record.Int(launch.slice_id) : record.Null();
    known ? record.Int(launch.launch_ns) : record.Null();
    launch.step.has_value() ? record.Int(*launch.step) : record.Null();
    for (const PathId id : {launch.path.path, launch.path.forward}) {
      id != 0 ? record.Int(input_.first_path + id - 1) : record.Null();
    }
    TRACEDB_TRY(rows.Append(table, launch.activity_id, record.Finish()));
  }
  return Done{};
}

// By the path it was launched on; by what tells its collective where that does not say: messages in
// batches are launched beside the operators that name their group.
Result<Parallelism> LaunchDerivation::ParallelismOf(const GpuActivity& activity,
                                                    const LaunchPath& path,
                                                    const CommunicationKernel& kernel) {
  TRACEDB_ASSIGN(by_path, host_->ParallelismOf(activity, path, input_.parallelism));
  if (by_path.has_value()) return *by_path;
  if (input_.collectives == nullptr) return Parallelism::kOther;
  TRACEDB_ASSIGN(told, input_.collectives->ToldBy(kernel));
  TRACEDB_ASSIGN(fact, input_.collectives->Of(told.args_text));
  return fact->parallelism;
}

}  // namespace tracedb
