// The derived rows of a new file that are as many as its GPU activities: made of what was gathered
// while it was read, sorted, and written as pages: a fifth of the time that SQL takes. Rows come in
// the order in which derive_busy.cc writes them.

#include "tracedb/derive/derive_trace.h"

#include <algorithm>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "derive/busy_rows.h"
#include "derive/collectives/collective_facts.h"
#include "derive/collectives/derive_collectives.h"
#include "derive/derive_launches.h"
#include "derive/derived_use.h"
#include "derive/gathered/sort_ahead.h"
#include "derive/gathered/sort_beside.h"
#include "derive/step_finder.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/derive/gathered/gpu_activities.h"
#include "tracedb/pages/index_appender.h"
#include "tracedb/pages/page_file.h"
#include "tracedb/pages/record_encoder.h"
#include "tracedb/pages/row_store.h"
#include "tracedb/schema/empty_database.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

// More tracks, and more than there is room for, are left to SQLite.
constexpr int64_t kTracksMax = 65536;
static_assert(kTracksMax - 1 <= std::numeric_limits<decltype(SortEntry::stream)>::max());
constexpr size_t kFewActivities = 16384;
constexpr size_t kTrackBytes = 64;    // a track's numbers, and counts while they are sorted
constexpr size_t kStreamBytes = 320;  // sums of a stream and of its device

class TraceDerivation {
 public:
  TraceDerivation(SqliteDb& db, const GatheredTrace& trace, const LoadLimits& limits)
      : db_(db), trace_(trace), limits_(limits) {}

  Result<DerivedUse> Run() {
    TRACEDB_ASSIGN(few_tracks, ReadTracks());
    if (trace_.activities.communication_count() > 0) {
      TRACEDB_ASSIGN(facts, CollectiveFacts::Read(db_, trace_.rank, trace_.activities));
      collective_facts_.emplace(std::move(facts));
    }
    std::optional<IndexSorts> sorts;
    if (few_tracks) sorts.emplace(*this);
    TRACEDB_TRY(DeriveLaunches(sorts));
    if (few_tracks) TRACEDB_TRY(DeriveBusyTime());
    TRACEDB_TRY(DeriveParts());
    use_->as_pages = few_tracks;
    use_->host = launches_->TakeHost();
    return DerivedUse(std::move(use_));
  }

 private:
  using ActivityOrder = SortAhead<GpuActivities>::Order;
  using SliceOrder = SortAhead<LongSlices>::Order;

  // What needs nothing of the launches, and is sorted and written while the host's calls are read.
  struct IndexSorts {
    explicit IndexSorts(const TraceDerivation& of)
        : by_track(of.trace_.activities, of.SortSpace<GpuActivities>(), {of.TrackOrder()}),
          by_correlation(of.trace_.activities, of.SortSpace<GpuActivities>(),
                         {of.CorrelationOrder()}),
          long_slices(of.trace_.long_slices, of.SortSpace<LongSlices>(), of.LongOrders()) {}

    SortAhead<GpuActivities> by_track;
    SortAhead<GpuActivities> by_correlation;
    SortAhead<LongSlices> long_slices;
  };

  static constexpr uint32_t kNoStream = 0xffffffff;
  struct Track {
    int64_t id;
    uint32_t device;  // in use_->devices
    uint32_t stream;  // in use_->streams; kNoStream: not a GPU's
  };

  Status DeriveLaunches(std::optional<IndexSorts>& sorts);
  Status DeriveParts();
  Result<bool> ReadTracks();
  uint32_t PlaceOf(int64_t track, uint32_t last) const;
  template <typename Gathered>
  typename SortAhead<Gathered>::Space SortSpace() const {
    return {db_.path().parent_path(), limits_.sort_bytes_max};
  }
  ActivityOrder TrackOrder() const;
  ActivityOrder CorrelationOrder() const;
  std::vector<SliceOrder> LongOrders() const;
  Status NoteBusy(const GpuActivity& activity, const LaunchFacts& facts);
  Status DeriveBusyTime();
  Status FillIndexes(IndexSorts& sorts);
  template <typename Gathered>
  Status FillIndex(PageFile& file, const char* name, SortAhead<Gathered>& sorted,
                   const std::function<void(const SortEntry&, RecordEncoder&)>& add_columns);

  SqliteDb& db_;
  const GatheredTrace& trace_;
  const LoadLimits& limits_;
  std::optional<CollectiveFacts> collective_facts_;  // where there is communication
  std::optional<LaunchDerivation> launches_;
  std::vector<Track> tracks_;       // by id
  std::optional<SortBeside> busy_;  // where there are few tracks
  uint32_t busy_place_ = 0;         // of the track of the activity before
  std::unique_ptr<DerivedUse::Parts> use_ = std::make_unique<DerivedUse::Parts>();
};

// What the host called is worked out without a page being written: the indexes are meanwhile, where
// there are enough of them for a thread.
Status TraceDerivation::DeriveLaunches(std::optional<IndexSorts>& sorts) {
  const bool few_tracks = sorts.has_value();
  TRACEDB_ASSIGN(steps, StepFinder::Read(db_, trace_.base_ns, db_.path().parent_path(),
                                         limits_.step_bytes_max));
  CollectiveFacts* const collectives = collective_facts_ ? &*collective_facts_ : nullptr;
  const LaunchDerivation::Input input{trace_.activities, trace_.host_slices, trace_.parallelism,
                                      collectives,       trace_.times,       trace_.base_ns,
                                      trace_.first_path};
  launches_.emplace(input, std::move(steps), limits_, db_.path().parent_path());
  std::future<Status> indexes;
  if (sorts.has_value() && trace_.activities.count() <= kFewActivities) {
    TRACEDB_TRY(FillIndexes(*sorts));
    sorts.reset();
  } else if (few_tracks) {
    indexes = std::async(std::launch::async,
                         [&] { return RunCaught([&] { return FillIndexes(*sorts); }); });
  }
  LaunchCalls calls(db_.path().parent_path(), limits_.launch_call_bytes_max);
  const Status read = launches_->ReadHost(calls);
  if (indexes.valid()) TRACEDB_TRY(indexes.get());
  TRACEDB_TRY(read);
  sorts.reset();
  if (few_tracks) {
    busy_.emplace(db_.path().parent_path(), limits_.sort_bytes_max, trace_.activities.count());
  }
  const auto note_busy = [&](const GpuActivity& activity, const LaunchFacts& facts) {
    return few_tracks ? NoteBusy(activity, facts) : Status(Done{});
  };
  const auto roots =
      EmptyDatabase::RootPages({"_launch", "_call_path", "_host_use", "_kernel_use"});
  TRACEDB_ASSIGN(rows, RowStore::Open(db_.path(), roots));
  TRACEDB_TRY(launches_->Write(calls, rows, 0, note_busy));
  TRACEDB_TRY(launches_->host().StorePaths(rows, 1, trace_.trace_id, trace_.first_path));
  TRACEDB_TRY(launches_->host().StoreUses(rows, 2, 3, trace_.trace_id, trace_.first_row));
  return rows.Finish();
}

Status TraceDerivation::DeriveParts() {
  const CommunicationKernels& kernels = launches_->communication();
  use_->has_parts = kernels.count() > 0;
  if (!use_->has_parts) return Done{};
  TRACEDB_ASSIGN(rows, RowStore::Open(db_.path(), EmptyDatabase::RootPages({"_collective_part"})));
  const CollectivesPlace place{trace_.trace_id, trace_.rank, db_.path().parent_path(),
                               limits_.sort_bytes_max};
  TRACEDB_TRY(DeriveCollectives(kernels, *collective_facts_, place, rows, 0));
  collective_facts_.reset();
  return rows.Finish();
}

// Numbers the tracks, and their devices and streams. False when there are too many for this way.
Result<bool> TraceDerivation::ReadTracks() {
  const auto most = [this](size_t each) {
    return std::min(kTracksMax, static_cast<int64_t>(limits_.track_bytes_max / each));
  };
  TRACEDB_ASSIGN(count, db_.Integer("SELECT count(*) FROM (SELECT 1 FROM _track LIMIT " +
                                    std::to_string(most(kTrackBytes) + 1) + ")"));
  if (count > most(kTrackBytes)) return false;
  TRACEDB_ASSIGN(streams, db_.Prepare("SELECT DISTINCT device, stream FROM _track WHERE "
                                      "device IS NOT NULL ORDER BY device, stream"));
  for (;;) {
    TRACEDB_ASSIGN(row, streams.Step());
    if (!row) break;
    if (static_cast<int64_t>(use_->streams.size()) == most(kStreamBytes)) return false;
    const bool is_new = use_->devices.empty() || use_->devices.back().device != streams.Text(0);
    if (is_new) use_->devices.push_back({std::string(streams.Text(0)), {}});
    use_->streams.push_back({use_->devices.size() - 1, std::string(streams.Text(1)), {}});
  }
  TRACEDB_ASSIGN(rows, db_.Prepare("SELECT id, device IS NULL, dense_rank() OVER (PARTITION BY "
                                   "device IS NULL ORDER BY device, stream) - 1 "
                                   "FROM _track ORDER BY id"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return true;
    const auto stream = static_cast<uint32_t>(rows.Int(2));
    if (rows.Int(1) == 1) {
      tracks_.push_back({rows.Int(0), 0, kNoStream});
    } else {
      const auto device = static_cast<uint32_t>(use_->streams[stream].device);
      tracks_.push_back({rows.Int(0), device, stream});
    }
  }
}

// Where in tracks_ a track is. Activities come in runs of one: `last` is where the one before was.
uint32_t TraceDerivation::PlaceOf(int64_t track, uint32_t last) const {
  if (tracks_[last].id == track) return last;
  const auto at = std::lower_bound(tracks_.begin(), tracks_.end(), track,
                                   [](const Track& a, int64_t id) { return a.id < id; });
  return static_cast<uint32_t>(at - tracks_.begin());
}

// Those that have a time on the GPU, by device and start.
Status TraceDerivation::NoteBusy(const GpuActivity& activity, const LaunchFacts& facts) {
  if (!activity.has_dur || activity.dur < 0) return Done{};
  const bool without_timing = activity.dur == 0 && activity.ts + trace_.base_ns == trace_.zero_ns;
  busy_place_ = PlaceOf(activity.track, busy_place_);
  const Track& track = tracks_[busy_place_];
  if (without_timing || track.stream == kNoStream) return Done{};
  return busy_->Add({activity.ts, activity.dur, track.device, static_cast<uint16_t>(track.stream),
                     activity.kind, facts.Packed()});
}

// By track and start.
TraceDerivation::ActivityOrder TraceDerivation::TrackOrder() const {
  return [this, place = uint32_t{0}](const GpuActivity& activity, SortEntry& entry) mutable {
    place = PlaceOf(activity.track, place);
    entry = {activity.ts, activity.id, place};
    return true;
  };
}

// By track and correlation, without one first, as NULL comes first.
TraceDerivation::ActivityOrder TraceDerivation::CorrelationOrder() const {
  return [this, place = uint32_t{0}](const GpuActivity& activity, SortEntry& entry) mutable {
    place = PlaceOf(activity.track, place);
    const uint32_t has = activity.has_correlation ? 1 : 0;
    entry = {activity.correlation, activity.id, 2 * place + has};
    return true;
  };
}

// Those of one table after the other, by track and start.
std::vector<TraceDerivation::SliceOrder> TraceDerivation::LongOrders() const {
  std::vector<SliceOrder> orders;
  for (const EventTable table : kLongSliceTables) {
    orders.push_back(
        [this, table, place = uint32_t{0}](const LongSlice& slice, SortEntry& entry) mutable {
          if (slice.table != table) return false;
          place = PlaceOf(slice.track, place);
          entry = {slice.ts, slice.id, place};
          return true;
        });
  }
  return orders;
}

Status TraceDerivation::DeriveBusyTime() {
  const BusyInput input{trace_, launches_->steps(), launches_->host().syncs(), limits_};
  TRACEDB_TRY(DeriveBusyRows(input, db_.path(), *busy_, *use_));
  busy_.reset();
  return Done{};
}

Status TraceDerivation::FillIndexes(IndexSorts& sorts) {
  PageFileOptions options;
  options.start_writeback_early = true;
  TRACEDB_ASSIGN(file, PageFile::Open(db_.path(), options));
  const auto track_and_start = [this](const SortEntry& entry, RecordEncoder& record) {
    record.Int(tracks_[entry.group].id);
    record.Int(entry.key);
  };
  TRACEDB_TRY(FillIndex(*file, "_gpu_slice_by_track", sorts.by_track, track_and_start));
  const auto track_and_correlation = [this](const SortEntry& entry, RecordEncoder& record) {
    record.Int(tracks_[entry.group / 2].id);
    entry.group % 2 != 0 ? record.Int(entry.key) : record.Null();
  };
  TRACEDB_TRY(
      FillIndex(*file, "_gpu_slice_by_correlation", sorts.by_correlation, track_and_correlation));
  for (const EventTable table : kLongSliceTables) {
    const std::string name = std::string(EventTableName(table)) + "_long";
    TRACEDB_TRY(FillIndex(*file, name.c_str(), sorts.long_slices, track_and_start));
  }
  return file->Finish();
}

template <typename Gathered>
Status TraceDerivation::FillIndex(
    PageFile& file, const char* name, SortAhead<Gathered>& sorted,
    const std::function<void(const SortEntry&, RecordEncoder&)>& add_columns) {
  const uint32_t root = EmptyDatabase::RootPages({name}).front();
  TRACEDB_ASSIGN(index, IndexAppender::Create(file, root));
  RecordEncoder record;
  const auto take = [&](std::span<const SortEntry> entries) -> Status {
    for (const SortEntry& entry : entries) {
      record.Reset();
      add_columns(entry, record);
      record.Int(entry.value);
      TRACEDB_TRY(index.Append(record.Finish()));
    }
    return Done{};
  };
  TRACEDB_TRY(sorted.Next(take));
  return index.Finish();
}

}  // namespace

Result<DerivedUse> DeriveTrace(SqliteDb& db, const GatheredTrace& trace, const LoadLimits& limits) {
  return TraceDerivation(db, trace, limits).Run();
}

}  // namespace tracedb
