// The derived rows of a new file that are as many as its GPU activities: made of what was gathered
// while it was read, sorted in memory in as many lots as the bound asks for, and written as pages.
// A fifth of the time that SQL takes. Rows come in the order in which derive_busy.cc writes them.

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "ingest/derive_tables.h"
#include "ingest/gpu_activities.h"
#include "ingest/launch_table.h"
#include "ingest/sort_ahead.h"
#include "ingest/step_finder.h"
#include "tracedb/pages/index_appender.h"
#include "tracedb/pages/page_file.h"
#include "tracedb/pages/record_encoder.h"
#include "tracedb/pages/row_store.h"

namespace tracedb {
namespace {

constexpr int64_t kTracksMax = 65536;  // more are left to SQLite

enum DerivedTable : size_t { kLaunch, kBusySegment };  // in the RowStore

Result<uint32_t> RootPage(SqliteDb& db, const std::string& name) {
  TRACEDB_ASSIGN(root,
                 db.Integer("SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'"));
  return static_cast<uint32_t>(root);
}

class FreshDerivation {
 public:
  FreshDerivation(SqliteDb db, std::unique_ptr<RowStore> rows, const FreshTrace& trace,
                  const LoadLimits& limits)
      : db_(std::move(db)), rows_(std::move(rows)), trace_(trace), limits_(limits) {}

  Result<FreshUse> Run() {
    TRACEDB_ASSIGN(few_tracks, ReadTracks());
    if (!few_tracks) return RunLaunches();
    SortAhead sorted(trace_.activities, limits_.derive_bytes_max / 2, Orders());
    TRACEDB_TRY(DeriveLaunches());
    TRACEDB_TRY(DeriveBusyTime(sorted));
    TRACEDB_TRY(rows_->Finish());
    SortAhead sorted_long(trace_.long_slices, limits_.derive_bytes_max / 4, LongOrders());
    TRACEDB_TRY(FillIndexes(sorted, sorted_long));
    use_.busy_done = use_.indexes_done = true;
    return std::move(use_);
  }

  Result<FreshUse> RunLaunches() {
    TRACEDB_TRY(DeriveLaunches());
    TRACEDB_TRY(rows_->Finish());
    return std::move(use_);
  }

 private:
  static constexpr uint32_t kNoStream = 0xffffffff;
  struct Track {
    int64_t id;
    uint32_t device;  // in use_.devices
    uint32_t stream;  // in use_.streams; kNoStream: not a GPU's
  };

  Status DeriveLaunches();
  Status WriteLaunches(const StepFinder& steps, LaunchTable& launches, size_t first, size_t behind);
  Result<bool> ReadTracks();
  uint32_t PlaceOf(int64_t track, uint32_t last) const;
  std::vector<SortAhead::Order> Orders() const;
  std::vector<SortAhead::Order> LongOrders() const;
  Status DeriveBusyTime(SortAhead& sorted);
  Status StoreSegments(std::string_view device, std::vector<BusySegment>& segments);
  Status FillIndexes(SortAhead& sorted, SortAhead& sorted_long);
  Status FillIndex(PageFile& file, const char* name, SortAhead& sorted,
                   const std::function<void(const SortEntry&)>& add_columns);

  SqliteDb db_;
  std::unique_ptr<RowStore> rows_;
  const FreshTrace& trace_;
  const LoadLimits& limits_;
  int64_t next_segment_ = 1;
  std::vector<Track> tracks_;  // by id
  RecordEncoder record_;
  FreshUse use_;
};

// As many correlations at a time as fit in memory; the runtime calls are gone through for each lot.
Status FreshDerivation::DeriveLaunches() {
  TRACEDB_ASSIGN(steps, StepFinder::Read(db_, trace_.base_ns));
  use_.host = std::make_unique<HostDerivation>(steps, trace_.base_ns, limits_.derive_bytes_max / 2);
  LaunchCalls calls(db_.path().parent_path(), limits_.gathered_bytes_max / 4);
  TRACEDB_TRY(use_.host->ReadSlices(trace_.host_slices, calls));
  const size_t count = trace_.activities.count();
  const size_t lot = std::min(count, limits_.derive_bytes_max / 2 / LaunchTable::kBytesEach);
  for (size_t first = 0; first < count; first += lot) {
    LaunchTable launches(lot);
    size_t at = 0;
    TRACEDB_TRY(trace_.activities.ForEach([&](const GpuActivity& activity) {
      const bool wanted = activity.has_correlation && at >= first && at < first + lot;
      if (wanted) launches.Want(activity.correlation);
      ++at;
    }));
    TRACEDB_TRY(calls.ForEach([&](const LaunchCall& call) { launches.Offer(call); }));
    TRACEDB_TRY(WriteLaunches(steps, launches, first, first + lot));
  }
  return Done{};
}

Status FreshDerivation::WriteLaunches(const StepFinder& steps, LaunchTable& launches, size_t first,
                                      size_t behind) {
  Status written = Done{};
  size_t at = 0;
  TRACEDB_TRY(trace_.activities.ForEach([&](const GpuActivity& activity) {
    const bool here = at >= first && at < behind;
    ++at;
    if (!here || !written.ok()) return;
    const LaunchCall none;
    const LaunchCall& call = activity.has_correlation ? launches.Of(activity.correlation) : none;
    std::optional<int64_t> step;
    if (call.slice_id != 0) step = steps.At(call.ts + trace_.base_ns);
    if (!step.has_value()) step = steps.At(activity.ts + trace_.base_ns);
    const LaunchPath path = use_.host->PathOf(activity, call);
    use_.host->Count(activity, path, step);
    if (call.slice_id == 0 && !step.has_value() && path.path == 0) return;
    record_.Reset();
    record_.Null();
    call.slice_id != 0 ? record_.Int(call.slice_id) : record_.Null();
    call.slice_id != 0 ? record_.Int(call.ts + trace_.base_ns) : record_.Null();
    step.has_value() ? record_.Int(*step) : record_.Null();
    for (const PathId id : {path.path, path.forward}) {
      id != 0 ? record_.Int(trace_.first_row + id - 1) : record_.Null();
    }
    written = rows_->Append(kLaunch, activity.id, record_.Finish());
  }));
  return written;
}

// Numbers the tracks, and their devices and streams. False when there are too many for this way.
Result<bool> FreshDerivation::ReadTracks() {
  TRACEDB_ASSIGN(count, db_.Integer("SELECT count(*) FROM (SELECT 1 FROM track LIMIT " +
                                    std::to_string(kTracksMax + 1) + ")"));
  if (count > kTracksMax) return false;
  std::map<std::pair<std::string, std::string>, std::pair<uint32_t, uint32_t>> numbers;
  TRACEDB_ASSIGN(streams, db_.Prepare("SELECT DISTINCT device, stream FROM track WHERE "
                                      "device IS NOT NULL ORDER BY device, stream"));
  for (;;) {
    TRACEDB_ASSIGN(row, streams.Step());
    if (!row) break;
    const std::string device(streams.Text(0));
    const std::string stream(streams.Text(1));
    const bool is_new = use_.devices.empty() || use_.devices.back().device != device;
    if (is_new) use_.devices.push_back({device, {}});
    numbers[{device, stream}] = {static_cast<uint32_t>(use_.devices.size() - 1),
                                 static_cast<uint32_t>(use_.streams.size())};
    use_.streams.push_back({device, stream, {}});
  }
  TRACEDB_ASSIGN(rows, db_.Prepare("SELECT id, device, stream FROM track ORDER BY id"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return true;
    const bool has_device = rows.Type(1) != SqlType::kNull;
    const auto [device, stream] =
        has_device ? numbers[{std::string(rows.Text(1)), std::string(rows.Text(2))}]
                   : std::pair(uint32_t{0}, kNoStream);
    tracks_.push_back({rows.Int(0), device, stream});
  }
}

// Where in tracks_ a track is. Activities come in runs of one: `last` is where the one before was.
uint32_t FreshDerivation::PlaceOf(int64_t track, uint32_t last) const {
  if (tracks_[last].id == track) return last;
  const auto at = std::lower_bound(tracks_.begin(), tracks_.end(), track,
                                   [](const Track& a, int64_t id) { return a.id < id; });
  return static_cast<uint32_t>(at - tracks_.begin());
}

// By device and start; by track and start; by track and correlation, without one first, as NULL
// comes first.
std::vector<SortAhead::Order> FreshDerivation::Orders() const {
  const auto by_device = [this, place = uint32_t{0}](const GpuActivity& activity,
                                                     SortEntry& entry) mutable {
    if (!activity.has_dur || activity.dur < 0) return false;
    const bool without_timing = activity.dur == 0 && activity.ts + trace_.base_ns == trace_.zero_ns;
    place = PlaceOf(activity.track, place);
    if (without_timing || tracks_[place].stream == kNoStream) return false;
    entry = {activity.ts, activity.dur, tracks_[place].device,
             place << 2 | static_cast<uint32_t>(activity.kind)};
    return true;
  };
  const auto by_track = [this, place = uint32_t{0}](const GpuActivity& activity,
                                                    SortEntry& entry) mutable {
    place = PlaceOf(activity.track, place);
    entry = {activity.ts, activity.id, place, 0};
    return true;
  };
  const auto by_correlation = [this, place = uint32_t{0}](const GpuActivity& activity,
                                                          SortEntry& entry) mutable {
    place = PlaceOf(activity.track, place);
    const uint32_t has = activity.has_correlation ? 1 : 0;
    entry = {activity.correlation, activity.id, 2 * place + has, 0};
    return true;
  };
  const auto devices = static_cast<uint32_t>(use_.devices.size());
  const auto tracks = static_cast<uint32_t>(tracks_.size());
  return {{devices, by_device}, {tracks, by_track}, {2 * tracks, by_correlation}};
}

// Those of one table after the other, by track and start.
std::vector<SortAhead::Order> FreshDerivation::LongOrders() const {
  std::vector<SortAhead::Order> orders;
  for (const EventTable table : kLongSliceTables) {
    const auto by_track = [this, kind = static_cast<int>(table), place = uint32_t{0}](
                              const GpuActivity& slice, SortEntry& entry) mutable {
      if (slice.kind != kind) return false;
      place = PlaceOf(slice.track, place);
      entry = {slice.ts, slice.id, place, 0};
      return true;
    };
    orders.push_back({static_cast<uint32_t>(tracks_.size()), by_track});
  }
  return orders;
}

Status FreshDerivation::DeriveBusyTime(SortAhead& sorted) {
  uint32_t device = 0;
  std::vector<BusySegment> segments;
  const auto finish = [&]() -> Status {
    if (use_.devices.empty()) return Done{};
    use_.devices[device].use.Finish(segments);
    return StoreSegments(use_.devices[device].device, segments);
  };
  const auto take = [&](std::span<const SortEntry> entries) -> Status {
    for (const SortEntry& entry : entries) {
      if (entry.group != device) TRACEDB_TRY(finish());
      device = entry.group;
      const int64_t start_ns = entry.key + trace_.base_ns;
      const BusyInterval interval{start_ns, start_ns + entry.value,
                                  static_cast<int>(entry.tag & 3)};
      use_.streams[tracks_[entry.tag >> 2].stream].use.Add(interval);
      use_.devices[device].use.Add(interval, segments);
      if (segments.size() < 256) continue;
      TRACEDB_TRY(StoreSegments(use_.devices[device].device, segments));
    }
    return Done{};
  };
  TRACEDB_TRY(sorted.Next(take));
  return finish();
}

Status FreshDerivation::StoreSegments(std::string_view device, std::vector<BusySegment>& segments) {
  for (const BusySegment& segment : segments) {
    record_.Reset();
    record_.Int(trace_.rank);
    record_.Text(device);
    record_.Int(segment.start_ns);
    record_.Int(segment.end_ns - segment.start_ns);
    record_.Int(segment.kinds);
    TRACEDB_TRY(rows_->Append(kBusySegment, next_segment_++, record_.Finish()));
  }
  segments.clear();
  return Done{};
}

// As pages: an index that SQLite keeps is filled row by row, or from a sort of its own.
Status FreshDerivation::FillIndexes(SortAhead& sorted, SortAhead& sorted_long) {
  PageFileOptions options;
  options.start_writeback_early = true;
  TRACEDB_ASSIGN(file, PageFile::Open(db_.path(), options));
  const auto track_and_start = [this](const SortEntry& entry) {
    record_.Int(tracks_[entry.group].id);
    record_.Int(entry.key);
  };
  TRACEDB_TRY(FillIndex(*file, "gpu_slice_by_track", sorted, track_and_start));
  TRACEDB_TRY(FillIndex(*file, "gpu_slice_by_correlation", sorted, [this](const SortEntry& entry) {
    record_.Int(tracks_[entry.group / 2].id);
    entry.group % 2 != 0 ? record_.Int(entry.key) : record_.Null();
  }));
  for (const EventTable table : kLongSliceTables) {
    const std::string name = std::string(EventTableName(table)) + "_long";
    TRACEDB_TRY(FillIndex(*file, name.c_str(), sorted_long, track_and_start));
  }
  return file->Finish();
}

Status FreshDerivation::FillIndex(PageFile& file, const char* name, SortAhead& sorted,
                                  const std::function<void(const SortEntry&)>& add_columns) {
  TRACEDB_ASSIGN(root, RootPage(db_, name));
  TRACEDB_ASSIGN(index, IndexAppender::Create(file, root));
  const auto take = [&](std::span<const SortEntry> entries) -> Status {
    for (const SortEntry& entry : entries) {
      record_.Reset();
      add_columns(entry);
      record_.Int(entry.value);
      TRACEDB_TRY(index.Append(record_.Finish()));
    }
    return Done{};
  };
  TRACEDB_TRY(sorted.Next(take));
  return index.Finish();
}

}  // namespace

Result<FreshUse> DeriveFresh(const std::filesystem::path& file, const FreshTrace& trace,
                             const LoadLimits& limits, RowWriter writer) {
  const RowStoreOptions options{writer, limits.sqlite_cache_kib};
  TRACEDB_ASSIGN(db, SqliteDb::Open(file, SqliteMode::kFrozen));
  TRACEDB_ASSIGN(rows, RowStore::Open(file, {"launch", "busy_segment"}, options));
  FreshDerivation derivation(std::move(db), std::move(rows), trace, limits);
  if (writer == RowWriter::kPages) return derivation.Run();
  // Busy time is left to SQL as well: so two ways of working it out are held against each other.
  TRACEDB_ASSIGN(use, derivation.RunLaunches());
  use.indexes_done = true;
  return use;
}

}  // namespace tracedb
