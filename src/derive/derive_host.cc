#include "derive/derive_host.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "derive/gathered/lot_taker.h"
#include "derive/gathered/slices_ahead.h"
#include "tracedb/base/bounded_queue.h"
#include "tracedb/pages/record_encoder.h"

namespace tracedb {
namespace {

constexpr size_t kPendingMax = 16384;

size_t RecentMax(const HostLimits& limits) {
  return std::bit_floor(limits.recent_path_bytes_max / RecentPaths::kBytesEach);
}

size_t PathsMax(const HostLimits& limits) {
  return limits.call_path_bytes_max / CallPaths::kBytesEach;
}

uint64_t PairKey(const LaunchPath& path) { return uint64_t{path.path} << 32 | path.forward; }

Status BindStep(SqliteStatement& insert, int parameter, const StepNumber& step) {
  return step.has_value() ? insert.Bind(parameter, *step) : insert.BindNull(parameter);
}

// 0 stands for none.
Status BindId(SqliteStatement& insert, int parameter, int64_t id) {
  return id != 0 ? insert.Bind(parameter, id) : insert.BindNull(parameter);
}

void AddStep(RecordEncoder& record, const StepNumber& step) {
  step.has_value() ? record.Int(*step) : record.Null();
}

void AddId(RecordEncoder& record, int64_t id) { id != 0 ? record.Int(id) : record.Null(); }

}  // namespace

HostDerivation::HostDerivation(StepFinder steps, int64_t base_ns, const LoadLimits& limits,
                               std::filesystem::path folder)
    : steps_(std::move(steps)),
      host_uses_(limits.host.host_use_bytes_max / HostUse::kBytesEach),
      kernel_uses_(limits.host.kernel_use_bytes_max / KernelUse::kBytesEach),
      paths_(PathsMax(limits.host)),
      syncs_(limits.host.sync_call_bytes_max / SyncCalls::kBytesEach,
             limits.host.sync_use_bytes_max / SyncUse::kBytesEach),
      graphs_(std::move(folder), limits.host.graph_call_bytes_max),
      uses_(steps_, base_ns, host_uses_),
      nest_(RecentMax(limits.host), paths_, syncs_, graphs_),
      has_cores_to_spare_(limits.has_cores_to_spare()) {}

// One slice after the other: each is in the cache for all that is done with it.
Status HostDerivation::ReadInTurn(const HostSlices& slices, const TimeRule& times,
                                  LaunchCalls& calls) {
  SlicesAhead ahead(slices, false);
  const CallNesting::TakeCall take = [&calls](const LaunchCall& call) { return calls.Add(call); };
  CallUse counted;
  while (auto lot = ahead.Next()) {
    for (const HostSlice& slice : *lot) {
      if (!times.KeepsHost(slice.ts, slice.dur)) continue;
      uses_.Add(slice, counted);
      times_.Add(slice, counted.use);
      TRACEDB_TRY(nest_.Add(slice, counted, take));
    }
    ahead.Return(std::move(*lot));
  }
  return ahead.status();
}

// A thread each brings slices together, counts them, sums their own times, finds their paths and
// keeps the calls.
Status HostDerivation::ReadInStages(const HostSlices& slices, const TimeRule& times,
                                    LaunchCalls& calls) {
  struct CountedLot {
    SlicesAhead::Lot slices;
    std::vector<CallUse> counted;
  };
  using Lots = LotTaker<CountedLot>;
  SlicesAhead ahead(slices, true);
  // Or nobody would be told of an error: those that two stages leave are not for reading any more.
  static_assert(SlicesAhead::kLotsInStages >= 2 * (Lots::kLots + 1) + 1);
  BoundedQueue<std::vector<CallUse>> spare(SlicesAhead::kLotsInStages);
  for (size_t i = 0; i < SlicesAhead::kLotsInStages; ++i) static_cast<void>(spare.Push({}));
  ItemTaker<LaunchCall> keeping(true, [&calls](std::span<const LaunchCall> lot) -> Status {
    for (const LaunchCall& call : lot) TRACEDB_TRY(calls.Add(call));
    return Done{};
  });
  Lots nesting(true, [&](CountedLot& lot) -> Status {
    // Of this thread, as what lies beside it on a stack is written all the time.
    const CallNesting::TakeCall take = [&keeping](const LaunchCall& call) {
      return keeping.Add(call);
    };
    for (size_t i = 0; i < lot.slices.size(); ++i) {
      TRACEDB_TRY(nest_.Add(lot.slices[i], lot.counted[i], take));
    }
    ahead.Return(std::move(lot.slices));
    static_cast<void>(spare.Push(std::move(lot.counted)));
    return Done{};
  });
  Lots timing(true, [&](CountedLot& lot) -> Status {
    for (size_t i = 0; i < lot.slices.size(); ++i) times_.Add(lot.slices[i], lot.counted[i].use);
    return nesting.Give(std::move(lot));
  });
  while (auto lot = ahead.Next()) {
    auto counted = spare.Pop();
    counted->resize(SlicesAhead::kLotSlices);
    size_t kept = 0;
    for (HostSlice& slice : *lot) {
      if (!times.KeepsHost(slice.ts, slice.dur)) continue;
      if (&(*lot)[kept] != &slice) (*lot)[kept] = slice;
      uses_.Add(slice, (*counted)[kept++]);
    }
    lot->resize(kept);
    TRACEDB_TRY(timing.Give({std::move(*lot), std::move(*counted)}));
  }
  TRACEDB_TRY(ahead.status());
  TRACEDB_TRY(timing.Finish());
  TRACEDB_TRY(nesting.Finish());
  return keeping.Finish();
}

Status HostDerivation::ReadSlices(const HostSlices& slices, const TimeRule& times,
                                  LaunchCalls& calls) {
  TRACEDB_TRY(has_cores_to_spare_ ? ReadInStages(slices, times, calls)
                                  : ReadInTurn(slices, times, calls));
  times_.Finish();
  const std::vector<int64_t>& self_ns = times_.self_ns();
  for (uint32_t use = 0; use < self_ns.size(); ++use) host_uses_[use].self_ns = self_ns[use];
  const std::vector<int64_t>& totals_ns = nest_.totals_ns();
  for (uint32_t use = 0; use < totals_ns.size(); ++use) host_uses_[use].total_ns = totals_ns[use];
  return graphs_.Finish();
}

LaunchPath HostDerivation::PathOf(const GpuActivity& activity, const LaunchCall& call) const {
  if (call.slice_id != 0 && paths_.node(call.path).op != 0) return {call.path, call.forward};
  if (activity.has_external_id) {
    const LaunchPath path = nest_.PathOf(activity.external_id);
    if (path.path != 0) return path;
  }
  return {call.path, call.forward};
}

// Activities that were launched on one path come one after the other: they are summed first.
void HostDerivation::Count(int64_t event_name, int64_t gpu_ns, const LaunchPath& path,
                           const StepNumber& step) {
  const int64_t op = paths_.node(paths_.node(path.path).op).event_name;
  const int64_t forward_op = paths_.node(paths_.node(path.forward).op).event_name;
  KernelSums& sums = kernel_uses_[kernel_uses_.Find({step, op, forward_op, event_name})];
  ++sums.activities;
  AddTime(sums.gpu_ns, gpu_ns);
  if (path.path == 0 && path.forward == 0) return;
  if (step != pending_step_ || pending_.size() >= kPendingMax) CountPending();
  pending_step_ = step;
  Pending& pending = pending_[PairKey(path)];
  ++pending.activities;
  AddTime(pending.gpu_ns, gpu_ns);
}

void HostDerivation::CountPending() {
  for (const auto& [key, pending] : pending_) {
    CountFor({static_cast<PathId>(key >> 32), static_cast<PathId>(key)}, pending);
  }
  pending_.clear();
}

void HostDerivation::CountFor(const LaunchPath& path, const Pending& pending) {
  std::array<bool, kHostKinds> has_self{};
  const auto use_of = [this](const PathNode& node) -> HostSums& {
    return host_uses_[host_uses_.Find({pending_step_, node.kind, node.event_name, node.args_text})];
  };
  for (PathId at = path.path; at != 0; at = paths_.node(at).parent) {
    const PathNode& node = paths_.node(at);
    HostSums& sums = use_of(node);
    bool& self = has_self[static_cast<size_t>(node.kind)];
    if (!self) AddTime(sums.self_gpu_ns, pending.gpu_ns);
    self = true;
    if (node.recursive) continue;
    sums.activities += pending.activities;
    AddTime(sums.gpu_ns, pending.gpu_ns);
  }
  has_self = {};
  for (PathId at = path.forward; at != 0; at = paths_.node(at).parent) {
    const PathNode& node = paths_.node(at);
    bool& self = has_self[static_cast<size_t>(node.kind)];
    const bool first = !self;
    self = true;
    if (paths_.IsOn(path.path, node.event_name)) continue;  // it has all of it already
    HostSums& sums = use_of(node);
    if (first) AddTime(sums.self_backward_gpu_ns, pending.gpu_ns);
    if (!node.recursive) AddTime(sums.backward_gpu_ns, pending.gpu_ns);
  }
}

Result<std::optional<Parallelism>> HostDerivation::ParallelismOf(
    const GpuActivity& activity, const LaunchPath& path, ArgsParallelism& parallelism) const {
  TRACEDB_ASSIGN(own, parallelism.Of(activity.args_text));
  if (own.has_value()) return own;
  for (PathId at = path.path; at != 0; at = paths_.node(at).parent) {
    TRACEDB_ASSIGN(found, parallelism.Of(paths_.node(at).args_text));
    if (found.has_value()) return found;
  }
  return std::optional<Parallelism>();
}

Status HostDerivation::Store(SqliteDb& db, int64_t trace_id, int64_t first_path) {
  const auto operator_of = [this](int64_t path) {
    const PathNode& node = paths_.node(static_cast<PathId>(path));
    return node.kind == HostKind::kOperator
               ? std::optional(std::pair(node.event_name, node.args_text))
               : std::nullopt;
  };
  TRACEDB_TRY(graphs_.Store(db, trace_id, first_path, operator_of));
  return StoreSyncUse(db, trace_id, first_path);
}

Status HostDerivation::StorePaths(RowStore& rows, size_t table, int64_t trace_id,
                                  int64_t first_path) const {
  RecordEncoder record;
  for (PathId id = 1; id <= paths_.count(); ++id) {
    const PathNode& node = paths_.node(id);
    record.Reset();
    record.Null();
    record.Int(trace_id);
    AddId(record, node.parent != 0 ? first_path + node.parent - 1 : 0);
    record.Int(static_cast<int64_t>(node.kind));
    record.Int(node.event_name);
    AddId(record, node.args_text);
    AddId(record, paths_.node(node.op).event_name);
    TRACEDB_TRY(rows.Append(table, first_path + id - 1, record.Finish()));
  }
  return Done{};
}

Status HostDerivation::StoreUses(RowStore& rows, size_t host_table, size_t kernel_table,
                                 int64_t trace_id, int64_t first_row) {
  CountPending();
  TRACEDB_TRY(StoreHostUse(rows, host_table, trace_id, first_row));
  return StoreKernelUse(rows, kernel_table, trace_id);
}

Status HostDerivation::StoreHostUse(RowStore& rows, size_t table, int64_t trace_id,
                                    int64_t first_row) {
  RecordEncoder record;
  int64_t rowid = first_row;
  for (const HostUse::Row* const sorted : host_uses_.Sorted()) {
    const HostUse::Row& row = *sorted;
    if (row.sums == HostSums{}) continue;  // it was on a path in this step, for others of its name
    record.Reset();
    record.Int(trace_id);
    AddStep(record, row.key.step);
    row.key.event_name != 0 ? record.Int(static_cast<int64_t>(row.key.kind)) : record.Null();
    AddId(record, row.key.event_name);
    AddId(record, row.key.args_text);
    const HostSums& sums = row.sums;
    for (const int64_t value :
         {sums.calls, sums.total_ns, sums.self_ns, sums.activities, sums.gpu_ns, sums.self_gpu_ns,
          sums.backward_gpu_ns, sums.self_backward_gpu_ns}) {
      record.Int(value);
    }
    record.Int(0);  // graph_calls
    TRACEDB_TRY(rows.Append(table, rowid++, record.Finish()));
  }
  return Done{};
}

Status HostDerivation::StoreKernelUse(RowStore& rows, size_t table, int64_t trace_id) {
  RecordEncoder record;
  int64_t rowid = 0;
  for (const KernelUse::Row* const sorted : kernel_uses_.Sorted()) {
    const KernelUse::Row& row = *sorted;
    record.Reset();
    record.Int(trace_id);
    AddStep(record, row.key.step);
    AddId(record, row.key.op);
    AddId(record, row.key.forward_op);
    AddId(record, row.key.kernel);
    record.Int(row.sums.activities);
    record.Int(row.sums.gpu_ns);
    TRACEDB_TRY(rows.Append(table, ++rowid, record.Finish()));
  }
  return Done{};
}

Status HostDerivation::StoreSyncUse(SqliteDb& db, int64_t trace_id, int64_t first_path) {
  TRACEDB_ASSIGN(insert,
                 db.Prepare("INSERT INTO _sync_use VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
  for (const SyncUse::Row* const sorted : syncs_.uses().Sorted()) {
    const SyncUse::Row& row = *sorted;
    TRACEDB_TRY(insert.Bind(1, trace_id));
    TRACEDB_TRY(BindStep(insert, 2, row.key.step));
    TRACEDB_TRY(BindId(insert, 3, row.key.event_name));
    TRACEDB_TRY(BindId(insert, 4, row.key.path != 0 ? first_path + row.key.path - 1 : 0));
    TRACEDB_TRY(insert.Bind(5, row.sums.calls));
    TRACEDB_TRY(insert.Bind(6, row.sums.total_ns));
    TRACEDB_TRY(insert.Bind(7, row.sums.stalls));
    TRACEDB_TRY(insert.Bind(8, row.sums.stalled_ns));
    TRACEDB_TRY(insert.Bind(9, row.sums.after_ns));
    TRACEDB_TRY(insert.Run());
  }
  return Done{};
}

}  // namespace tracedb
