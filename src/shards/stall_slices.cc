#include "shards/stall_slices.h"

#include <algorithm>
#include <string>

#include "tracedb/base/interval.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

// As many as src/ranks/stalls looks at: within a stretch the last ones, and of those that begin
// before it, of each track.
constexpr size_t kWithinMax = 8192;
constexpr size_t kGpuBefore = 32;
constexpr size_t kHostBefore = 256;
constexpr int64_t kStretchNsMin = 20'000;  // in a shorter one nothing is looked for
constexpr size_t kRowsMax = 4'000'000;     // of a trace that are kept at a time

// A row of a file of slices, by the numbers of its own database.
struct FileSlice {
  int64_t id = 0;
  int64_t track = 0;
  int64_t ts = 0;
  size_t row = 0;  // in all that was read
  bool is_marked = false;
};

bool Reaches(const SummaryFile& file, size_t group, const std::vector<StallStretch>& stretches,
             int64_t base_ns) {
  const auto starts = file.Range(group, "ts");
  const auto ends = file.Range(group, "end_ts");
  if (!starts.has_value() || !ends.has_value()) return false;
  return std::any_of(stretches.begin(), stretches.end(), [&](const StallStretch& stretch) {
    return SumNs(starts->first, base_ns) <= stretch.end_ns &&
           SumNs(ends->second, base_ns) > stretch.start_ns;
  });
}

// Marks what may have held the rank in one of the stretches. `slices` are of one track, in the
// order of their start.
void Mark(std::vector<FileSlice*>& slices, const std::vector<StallStretch>& stretches,
          int64_t base_ns, size_t before) {
  const auto at = [&](int64_t ns) {
    const int64_t ts = DifferenceNs(ns, base_ns);
    return static_cast<size_t>(
        std::lower_bound(slices.begin(), slices.end(), ts,
                         [](const FileSlice* slice, int64_t t) { return slice->ts < t; }) -
        slices.begin());
  };
  for (const StallStretch& stretch : stretches) {
    const size_t first = at(stretch.start_ns);
    const size_t last = at(stretch.end_ns);
    const size_t from =
        std::max(first - std::min(first, before), last - std::min(last, kWithinMax + before));
    for (size_t i = from; i < last; ++i) slices[i]->is_marked = true;
  }
}

// The rows of the groups that reach into a stretch.
class SliceRows {
 public:
  SliceRows(SummaryFile& file, const SummaryTable& table, const SummaryTrace& trace,
            const std::vector<StallStretch>& stretches)
      : file_(file), table_(table), trace_(trace), stretches_(stretches) {}

  // Calls `take` for each row that is marked, with its group read.
  template <typename Take>
  Status ForMarked(size_t before, const std::vector<int64_t>& part_ids, Take take) {
    TRACEDB_TRY(ReadAll());
    std::map<int64_t, std::vector<FileSlice*>> tracks;
    for (FileSlice& slice : slices_) {
      tracks[slice.track].push_back(&slice);
      if (std::binary_search(part_ids.begin(), part_ids.end(), slice.id + trace_.row_shift)) {
        slice.is_marked = true;
      }
    }
    for (auto& [track, slices] : tracks) {
      std::stable_sort(slices.begin(), slices.end(),
                       [](const FileSlice* a, const FileSlice* b) { return a->ts < b->ts; });
      Mark(slices, stretches_, trace_.base_ns, before);
    }
    size_t slice = 0;
    size_t start = 0;
    for (const size_t group : groups_) {
      const auto rows = static_cast<size_t>(file_.GroupRows(group));
      bool is_read = false;
      for (; slice < slices_.size() && slices_[slice].row < start + rows; ++slice) {
        if (!slices_[slice].is_marked) continue;
        if (!is_read) TRACEDB_TRY(file_.ReadGroup(group));
        is_read = true;
        TRACEDB_TRY(take(slices_[slice].row - start));
      }
      start += rows;
    }
    return Done{};
  }

 private:
  Status ReadAll() {
    const auto id = static_cast<size_t>(table_.Find("id"));
    const auto track = static_cast<size_t>(table_.Find("track"));
    const auto ts = static_cast<size_t>(table_.Find("ts"));
    const std::vector<SummaryTrace> only = {trace_};
    size_t start = 0;
    for (size_t group = 0; group < file_.groups(); ++group) {
      if (!Reaches(file_, group, stretches_, trace_.base_ns)) continue;
      if (slices_.size() >= kRowsMax) break;
      TRACEDB_TRY(file_.ReadGroup(group));
      groups_.push_back(group);
      for (size_t row = 0; row < file_.rows(); ++row) {
        const bool is_usable = !file_.IsNull(row, id) && !file_.IsNull(row, track) &&
                               !file_.IsNull(row, ts) && file_.TraceOf(row, id, only) != nullptr;
        if (!is_usable) continue;
        slices_.push_back(
            {file_.Int(row, id), file_.Int(row, track), file_.Int(row, ts), start + row, false});
      }
      start += file_.rows();
    }
    return Done{};
  }

  SummaryFile& file_;
  const SummaryTable& table_;
  const SummaryTrace& trace_;
  const std::vector<StallStretch>& stretches_;
  std::vector<size_t> groups_;
  std::vector<FileSlice> slices_;
};

}  // namespace

Result<StallSlices> StallSlices::Open(SqliteDb& db) {
  StallSlices slices;
  const auto prepare = [&db](std::optional<SqliteStatement>& to, const char* sql) -> Status {
    TRACEDB_ASSIGN(statement, db.Prepare(sql));
    to.emplace(std::move(statement));
    return Done{};
  };
  TRACEDB_TRY(prepare(slices.gpu_,
                      "INSERT OR IGNORE INTO _gpu_slice (id, track, event_name, ts, dur, kind) "
                      "VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
  TRACEDB_TRY(prepare(slices.launch_,
                      "INSERT OR IGNORE INTO _launch (id, launch_slice_id, launch_ts_ns, step) "
                      "VALUES (?1, ?2, ?3, ?4)"));
  TRACEDB_TRY(prepare(slices.call_,
                      "INSERT OR IGNORE INTO _runtime_slice (id, track, event_name, ts, dur) "
                      "VALUES (?1, ?2, ?3, ?4, ?5)"));
  for (const EventTable table : kLongSliceTables) {
    TRACEDB_ASSIGN(insert,
                   db.Prepare("INSERT OR IGNORE INTO " + std::string(EventTableName(table)) +
                              " (id, track, event_name, ts, dur) VALUES (?1, ?2, ?3, ?4, "
                              "?5)"));
    slices.host_.push_back(std::move(insert));
  }
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT s.trace_id, s.id, s.first_start_ns, s.start_ns, p.ts_ns "
                                  "FROM temp.stall s JOIN _collective_part p ON p.id = s.id "
                                  "ORDER BY s.id"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return slices;
    const int64_t length_ns = DifferenceNs(rows.Int(3), rows.Int(2));
    if (length_ns < kStretchNsMin) continue;
    slices.stretches_[rows.Int(0)].push_back(
        {rows.Int(1), DifferenceNs(rows.Int(4), length_ns), rows.Int(4)});
  }
}

Status StallSlices::Add(const FoundShard& shard, const SummaryTrace& trace) {
  const auto found = stretches_.find(trace.trace_id);
  if (found == stretches_.end()) return Done{};
  TRACEDB_TRY(AddGpu(shard, trace, found->second));
  for (size_t i = 0; i < kLongSliceTables.size(); ++i) {
    TRACEDB_TRY(AddHost(shard, trace, i, found->second));
  }
  return Done{};
}

Status StallSlices::AddGpu(const FoundShard& shard, const SummaryTrace& trace,
                           const std::vector<StallStretch>& stretches) {
  const SummaryTable& table = SummaryTableOf("gpu_slice.parquet");
  if (!shard.Has(table.file)) return Done{};
  TRACEDB_ASSIGN(file, SummaryFile::Open(shard.folder / table.file, table));
  const auto column = [&](const char* name) { return static_cast<size_t>(table.Find(name)); };
  const size_t slice_columns[] = {column("id"), column("track"), column("event_name"),
                                  column("ts")};
  const size_t launch_columns[] = {column("id"), column("launch_slice_id"), column("launch_ts_ns"),
                                   column("step")};
  const size_t call_columns[] = {column("launch_slice_id"), column("launch_track"),
                                 column("launch_name")};
  const size_t end = column("end_ts");
  const size_t kind = column("kind");
  const size_t launch_ns = column("launch_ts_ns");
  const size_t call_dur = column("launch_dur");
  std::vector<int64_t> part_ids;  // in their order
  for (const StallStretch& stretch : stretches) part_ids.push_back(stretch.part_id);
  const auto bind = [&](SqliteStatement& to, size_t row, const size_t* columns,
                        int count) -> Status {
    for (int i = 0; i < count; ++i) {
      TRACEDB_ASSIGN(bound, file.Bind(to, i + 1, row, columns[i], shard.traces));
      (void)bound;
    }
    return Done{};
  };
  SliceRows rows(file, table, trace, stretches);
  return rows.ForMarked(kGpuBefore, part_ids, [&](size_t row) -> Status {
    TRACEDB_TRY(bind(*gpu_, row, slice_columns, 4));
    TRACEDB_TRY(
        file.IsNull(row, end)
            ? gpu_->BindNull(5)
            : gpu_->Bind(5, DifferenceNs(file.Int(row, end), file.Int(row, slice_columns[3]))));
    TRACEDB_ASSIGN(bound, file.Bind(*gpu_, 6, row, kind, shard.traces));
    (void)bound;
    TRACEDB_TRY(gpu_->Run());
    if (file.IsNull(row, launch_ns)) return Done{};
    TRACEDB_TRY(bind(*launch_, row, launch_columns, 4));
    TRACEDB_TRY(launch_->Run());
    if (file.IsNull(row, call_columns[0]) || file.IsNull(row, call_columns[1])) return Done{};
    TRACEDB_TRY(bind(*call_, row, call_columns, 3));
    TRACEDB_TRY(call_->Bind(4, DifferenceNs(file.Int(row, launch_ns), trace.base_ns)));
    TRACEDB_ASSIGN(is_there, file.Bind(*call_, 5, row, call_dur, shard.traces));
    (void)is_there;
    return call_->Run();
  });
}

Status StallSlices::AddHost(const FoundShard& shard, const SummaryTrace& trace, size_t number,
                            const std::vector<StallStretch>& stretches) {
  const std::string name(EventTableName(kLongSliceTables[number]).substr(1));
  const SummaryTable& table = SummaryTableOf(name + ".parquet");
  if (!shard.Has(table.file)) return Done{};
  TRACEDB_ASSIGN(file, SummaryFile::Open(shard.folder / table.file, table));
  const auto ts = static_cast<size_t>(table.Find("ts"));
  const auto end = static_cast<size_t>(table.Find("end_ts"));
  SqliteStatement& insert = host_[number];
  SliceRows rows(file, table, trace, stretches);
  return rows.ForMarked(kHostBefore, {}, [&](size_t row) -> Status {
    for (size_t i = 0; i < 4; ++i) {  // id, track, event_name, ts
      TRACEDB_ASSIGN(bound, file.Bind(insert, static_cast<int>(i) + 1, row, i, shard.traces));
      (void)bound;
    }
    TRACEDB_TRY(file.IsNull(row, end)
                    ? insert.BindNull(5)
                    : insert.Bind(5, DifferenceNs(file.Int(row, end), file.Int(row, ts))));
    return insert.Run();
  });
}

}  // namespace tracedb
