// The derived rows of a new file that are as many as its GPU activities. Read through SQLite on a
// frozen connection, sorted in memory, written as pages: a fifth of the time that SQL takes. While
// one kind of row is written, the next is read and sorted on another thread.
//
// NOT INDEXED matters: the indexes are still empty, and SQLite would answer from them.

#include <algorithm>
#include <future>
#include <map>
#include <optional>
#include <utility>

#include "ingest/derive_tables.h"
#include "ingest/fresh_rows.h"
#include "ingest/launch_table.h"
#include "ingest/step_finder.h"
#include "tracedb/pages/index_appender.h"
#include "tracedb/pages/page_file.h"
#include "tracedb/pages/record_encoder.h"
#include "tracedb/pages/table_appender.h"

namespace tracedb {
namespace {

constexpr size_t kStreamsMax = 4096;  // more are left to SQLite

Result<uint32_t> RootPage(SqliteDb& db, const std::string& name) {
  TRACEDB_ASSIGN(root,
                 db.Integer("SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'"));
  return static_cast<uint32_t>(root);
}

class FreshDerivation {
 public:
  FreshDerivation(SqliteDb db, std::unique_ptr<PageFile> file, int64_t rank, int64_t base_ns,
                  int64_t zero_ns, const LaunchCalls& calls, size_t bytes_max)
      : db_(std::move(db)),
        file_(std::move(file)),
        rank_(rank),
        base_ns_(base_ns),
        zero_ns_(zero_ns),
        calls_(calls),
        bytes_max_(bytes_max) {}

  Result<FreshUse> Run() {
    TRACEDB_ASSIGN(count, db_.Integer("SELECT count(*) FROM gpu_slice NOT INDEXED"));
    activities_ = static_cast<size_t>(count);
    TRACEDB_ASSIGN(few_tracks, ReadTracks());
    // Where memory allows, the next kind of row is read while the one before is written; else one
    // after the other, and what does not fit even alone is left to SQLite.
    const std::filesystem::path path = file_->path();
    const auto policy = Fits(kBytesTogether) ? std::launch::async : std::launch::deferred;
    auto timed = std::async(policy, ReadTimedActivities, path, activities_);
    TRACEDB_TRY(DeriveLaunches());
    auto by_track = std::async(std::launch::deferred, ReadTrackEntries, path, activities_);
    if (few_tracks && Fits(sizeof(TimedActivity))) {
      const auto activities = timed.get();
      if (policy == std::launch::async) {
        by_track = std::async(policy, ReadTrackEntries, path, activities_);
      }
      TRACEDB_TRY(DeriveBusyTime(activities));
    } else {
      use_.devices.clear();
      use_.streams.clear();
    }
    if (Fits(sizeof(CorrelationEntry))) {
      auto track_entries = by_track.get();
      auto by_correlation = std::async(policy, ReadCorrelationEntries, path, activities_);
      TRACEDB_TRY(IndexByTrack(track_entries));
      track_entries = std::vector<TrackEntry>();
      TRACEDB_TRY(IndexByCorrelation(by_correlation.get()));
      use_.indexes_done = true;
    }
    TRACEDB_TRY(file_->Finish());
    return std::move(use_);
  }

 private:
  struct Activity {
    int64_t id;
    int64_t ts;
    uint32_t place;  // of its correlation in the launch table
    bool has_correlation;
  };
  // The most that one activity takes when reading goes on beside: in the launch table, and in a row
  // of the next kind.
  static constexpr size_t kBytesTogether =
      sizeof(Activity) + LaunchTable::kBytesEach + sizeof(TimedActivity);

  bool Fits(size_t bytes_each) const { return activities_ * bytes_each <= bytes_max_; }

  struct TrackPlace {
    uint32_t device;  // in use_.devices
    uint32_t stream;  // in use_.streams
  };
  Status DeriveLaunches();
  Status OfferCalls(LaunchTable& launches);
  Result<bool> ReadTracks();
  Status DeriveBusyTime(const Result<std::vector<TimedActivity>>& activities);
  Status StoreSegments(TableAppender& table, std::string_view device,
                       std::vector<BusySegment>& segments);
  Status IndexByTrack(const Result<std::vector<TrackEntry>>& entries);
  Status IndexByCorrelation(const Result<std::vector<CorrelationEntry>>& entries);

  SqliteDb db_;
  std::unique_ptr<PageFile> file_;
  int64_t rank_;
  int64_t base_ns_;
  int64_t zero_ns_;
  const LaunchCalls& calls_;
  size_t bytes_max_;
  size_t activities_ = 0;
  int64_t next_segment_ = 1;
  std::map<int64_t, TrackPlace> tracks_;
  RecordEncoder record_;
  FreshUse use_;
};

Status FreshDerivation::OfferCalls(LaunchTable& launches) {
  if (calls_.complete()) {
    for (const auto& block : calls_.blocks()) {
      for (const LaunchCall& call : block) launches.Offer(call);
    }
    return Done{};
  }
  TRACEDB_ASSIGN(rows, db_.Prepare("SELECT correlation, id, ts FROM runtime_slice"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return Done{};
    if (rows.Type(0) != SqlType::kNull) launches.Offer({rows.Int(0), rows.Int(1), rows.Int(2)});
  }
}

// As many activities at a time as fit in memory; the runtime calls are gone through for each lot.
Status FreshDerivation::DeriveLaunches() {
  TRACEDB_ASSIGN(steps, StepFinder::Read(db_, base_ns_));
  TRACEDB_ASSIGN(root, RootPage(db_, "launch"));
  TRACEDB_ASSIGN(table, TableAppender::Create(*file_, root));
  TRACEDB_ASSIGN(rows, db_.Prepare("SELECT id, ts, correlation FROM gpu_slice NOT INDEXED"));
  const size_t lot_max =
      std::min(activities_, bytes_max_ / (sizeof(Activity) + LaunchTable::kBytesEach));
  std::vector<Activity> lot;
  lot.reserve(lot_max);
  for (bool more = activities_ > 0; more;) {
    LaunchTable launches(lot_max);
    lot.clear();
    while (lot.size() < lot_max) {
      TRACEDB_ASSIGN(row, rows.Step());
      more = row;
      if (!row) break;
      const bool has_correlation = rows.Type(2) != SqlType::kNull;
      const uint32_t place = has_correlation ? launches.Want(rows.Int(2)) : 0;
      lot.push_back({rows.Int(0), rows.Int(1), place, has_correlation});
    }
    if (lot.empty()) break;
    TRACEDB_TRY(OfferCalls(launches));
    for (const Activity& activity : lot) {
      const LaunchCall none;
      const LaunchCall& call = activity.has_correlation ? launches.At(activity.place) : none;
      std::optional<int64_t> step;
      if (call.slice_id != 0) step = steps.At(call.ts + base_ns_);
      if (!step.has_value()) step = steps.At(activity.ts + base_ns_);
      if (call.slice_id == 0 && !step.has_value()) continue;
      record_.Reset();
      record_.Null();
      call.slice_id != 0 ? record_.Int(call.slice_id) : record_.Null();
      call.slice_id != 0 ? record_.Int(call.ts + base_ns_) : record_.Null();
      step.has_value() ? record_.Int(*step) : record_.Null();
      TRACEDB_TRY(table.Append(activity.id, record_.Finish()));
    }
  }
  return table.Finish();
}

// Numbers the devices and streams of all tracks. False when there are too many for this way.
Result<bool> FreshDerivation::ReadTracks() {
  TRACEDB_ASSIGN(rows, db_.Prepare("SELECT id, device, stream FROM track "
                                   "WHERE device IS NOT NULL LIMIT " +
                                   std::to_string(kStreamsMax + 1)));
  std::map<std::string, uint32_t> devices;
  std::map<std::pair<uint32_t, std::string>, uint32_t> streams;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return true;
    if (tracks_.size() == kStreamsMax) return false;
    const std::string device(rows.Text(1));
    const std::string stream(rows.Text(2));
    const auto [at_device, new_device] =
        devices.emplace(device, static_cast<uint32_t>(use_.devices.size()));
    if (new_device) use_.devices.push_back({device, {}});
    const auto [at_stream, new_stream] = streams.emplace(
        std::pair(at_device->second, stream), static_cast<uint32_t>(use_.streams.size()));
    if (new_stream) use_.streams.push_back({device, stream, {}});
    tracks_[rows.Int(0)] = {at_device->second, at_stream->second};
  }
}

Status FreshDerivation::DeriveBusyTime(const Result<std::vector<TimedActivity>>& activities) {
  if (!activities.ok()) return activities.error();
  TRACEDB_ASSIGN(root, RootPage(db_, "busy_segment"));
  TRACEDB_ASSIGN(table, TableAppender::Create(*file_, root));
  std::vector<std::vector<BusySegment>> segments(use_.devices.size());
  for (const TimedActivity& activity : activities.value()) {
    if (activity.dur == 0 && activity.ts + base_ns_ == zero_ns_) continue;  // without timing
    const auto found = tracks_.find(activity.track);
    if (found == tracks_.end()) continue;  // a track without a device: not a GPU's
    const TrackPlace place = found->second;
    const BusyInterval interval{activity.ts + base_ns_, activity.ts + activity.dur + base_ns_,
                                activity.kind};
    use_.streams[place.stream].use.Add(interval);
    std::vector<BusySegment>& done = segments[place.device];
    use_.devices[place.device].use.Add(interval, done);
    if (done.size() < 256) continue;
    TRACEDB_TRY(StoreSegments(table, use_.devices[place.device].device, done));
  }
  for (size_t i = 0; i < use_.devices.size(); ++i) {
    use_.devices[i].use.Finish(segments[i]);
    TRACEDB_TRY(StoreSegments(table, use_.devices[i].device, segments[i]));
  }
  use_.busy_done = true;
  return table.Finish();
}

Status FreshDerivation::StoreSegments(TableAppender& table, std::string_view device,
                                      std::vector<BusySegment>& segments) {
  for (const BusySegment& segment : segments) {
    record_.Reset();
    record_.Int(rank_);
    record_.Text(device);
    record_.Int(segment.start_ns);
    record_.Int(segment.end_ns - segment.start_ns);
    record_.Int(segment.kinds);
    TRACEDB_TRY(table.Append(next_segment_++, record_.Finish()));
  }
  segments.clear();
  return Done{};
}

Status FreshDerivation::IndexByTrack(const Result<std::vector<TrackEntry>>& entries) {
  if (!entries.ok()) return entries.error();
  TRACEDB_ASSIGN(root, RootPage(db_, "gpu_slice_by_track"));
  TRACEDB_ASSIGN(index, IndexAppender::Create(*file_, root));
  for (const TrackEntry& entry : entries.value()) {
    record_.Reset();
    record_.Int(entry.track);
    record_.Int(entry.ts);
    record_.Int(entry.id);
    TRACEDB_TRY(index.Append(record_.Finish()));
  }
  return index.Finish();
}

Status FreshDerivation::IndexByCorrelation(const Result<std::vector<CorrelationEntry>>& entries) {
  if (!entries.ok()) return entries.error();
  TRACEDB_ASSIGN(root, RootPage(db_, "gpu_slice_by_correlation"));
  TRACEDB_ASSIGN(index, IndexAppender::Create(*file_, root));
  for (const CorrelationEntry& entry : entries.value()) {
    record_.Reset();
    record_.Int(entry.track);
    entry.has_correlation ? record_.Int(entry.correlation) : record_.Null();
    record_.Int(entry.id);
    TRACEDB_TRY(index.Append(record_.Finish()));
  }
  return index.Finish();
}

}  // namespace

Result<FreshUse> DeriveFresh(const std::filesystem::path& file, int64_t rank, int64_t base_ns,
                             int64_t zero_ns, const LaunchCalls& calls, const LoadLimits& limits) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(file, SqliteMode::kFrozen));
  PageFileOptions options;
  options.start_writeback_early = true;
  TRACEDB_ASSIGN(pages, PageFile::Open(file, options));
  FreshDerivation derivation(std::move(db), std::move(pages), rank, base_ns, zero_ns, calls,
                             limits.derive_bytes_max);
  return derivation.Run();
}

}  // namespace tracedb
