#include "shards/summary_load.h"

#include <algorithm>
#include <tuple>

#include "tracedb/base/interval.h"
#include "tracedb/derive/collectives/derive_groups.h"
#include "tracedb/schema/waiting_calls.h"

namespace tracedb {
namespace {

constexpr int64_t kIdMax = int64_t{1} << 50;
constexpr int64_t kTimeMax = int64_t{1} << 62;
constexpr size_t kTracesMax = 4096;  // of a rank

Error Odd(const FoundShard& shard, const std::string& what) {
  return Error{ErrorKind::kInput, shard.folder.string() + ": " + what,
               "run tracedb ingest --shard for that rank again"};
}

// What a rank's own database would have of one trace, for MergeCollectives().
constexpr const char* kFreshSql =
    "ATTACH ':memory:' AS fresh;"
    "CREATE TABLE fresh._process_group AS SELECT * FROM main._process_group LIMIT 0;"
    "CREATE TABLE fresh._collective_part AS SELECT * FROM main._collective_part LIMIT 0";

// A summary of many traces has each of them in few row groups.
bool MayHave(const SummaryFile& file, size_t group, const SummaryTrace& trace) {
  const auto range = file.Range(group, "trace_id");
  return range.has_value() && range->first <= trace.from_id && trace.from_id <= range->second;
}

}  // namespace

bool FoundShard::Has(const std::string& file) const {
  return std::any_of(manifest.files.begin(), manifest.files.end(),
                     [&](const ShardManifest::File& has) { return has.name == file; });
}

Result<SummaryLoad> SummaryLoad::Begin(SqliteDb& db, std::optional<std::string> run) {
  TRACEDB_TRY(db.Execute(kFreshSql));
  SummaryLoad load(db, std::move(run));
  const auto prepare = [&db](std::optional<SqliteStatement>& to, const char* sql) -> Status {
    TRACEDB_ASSIGN(statement, db.Prepare(sql));
    to.emplace(std::move(statement));
    return Done{};
  };
  TRACEDB_TRY(prepare(load.group_,
                      "INSERT INTO fresh._process_group (group_id, name, ranks, description, size, "
                      "parallelism) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
  TRACEDB_TRY(prepare(load.part_,
                      "INSERT INTO fresh._collective_part (id, rank, trace_id, group_id, ordinal, "
                      "seq, collective, dtype, in_bytes, out_bytes, ts_ns, dur_ns, peer, step, "
                      "launch_ts_ns, pair, by_seq, match_no) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
                      "?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"));
  TRACEDB_TRY(prepare(load.slice_,
                      "INSERT INTO _gpu_slice (id, track, event_name, ts, dur, kind) "
                      "VALUES (?1, ?2, ?3, ?4, ?5, 1)"));
  TRACEDB_TRY(prepare(load.wait_,
                      "INSERT OR IGNORE INTO _runtime_slice (id, track, event_name, ts, dur) "
                      "VALUES (?1, ?2, ?3, ?4, ?5)"));
  TRACEDB_TRY(prepare(load.launch_,
                      "INSERT INTO _launch (id, launch_slice_id, launch_ts_ns, step) "
                      "VALUES (?1, ?2, ?3, ?4)"));
  return load;
}

Result<SqliteStatement*> SummaryLoad::Insert(const SummaryTable& table) {
  const auto known = inserts_.find(table.file);
  if (known != inserts_.end()) return &known->second;
  std::string names, values;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    names += (i == 0 ? "" : ", ") + table.columns[i].column.name;
    values += (i == 0 ? "?" : ", ?") + std::to_string(i + 1);
  }
  TRACEDB_ASSIGN(insert, db_->Prepare("INSERT INTO main." + table.table + " (" + names +
                                      ") VALUES (" + values + ")"));
  return &inserts_.emplace(table.file, std::move(insert)).first->second;
}

// A summary that is taken out leaves the numbers, and what it repeats, to the others.
Status SummaryLoad::AddTraces(FoundShard& shard) {
  const auto before = std::tuple(next_trace_, next_row_, next_text_);
  Status read = ReadTraces(shard);
  if (read.ok()) return read;
  std::tie(next_trace_, next_row_, next_text_) = before;
  for (const std::string& hash : shard.hashes) hashes_.erase(hash);
  return read;
}

Status SummaryLoad::ReadTraces(FoundShard& shard) {
  const SummaryTable& table = SummaryTableOf("trace.parquet");
  TRACEDB_ASSIGN(file, SummaryFile::Open(shard.folder / table.file, table));
  const auto column = [&](const char* name) { return static_cast<size_t>(table.Find(name)); };
  TRACEDB_ASSIGN(insert, Insert(table));
  shard.traces.clear();
  shard.hashes.clear();
  for (size_t group = 0; group < file.groups(); ++group) {
    TRACEDB_TRY(file.ReadGroup(group));
    for (size_t row = 0; row < file.rows(); ++row) {
      const auto number = [&](const char* name) { return file.Int(row, column(name)); };
      SummaryTrace trace;
      trace.from_id = number("trace_id");
      trace.first_row = number("first_row");
      trace.last_row = number("last_row");
      trace.first_text = number("first_text");
      trace.last_text = number("last_text");
      // One that claims them all would leave none to the other ranks.
      constexpr int64_t kTraceIdsMax = int64_t{1} << 34;
      const auto fits = [](int64_t first, int64_t last) {
        return first > 0 && last >= first - 1 && last < kIdMax && last - first < kTraceIdsMax;
      };
      const bool is_sound = fits(trace.first_row, trace.last_row) && trace.from_id > 0 &&
                            fits(trace.first_text, trace.last_text) &&
                            number("rank") == shard.manifest.rank &&
                            shard.traces.size() < kTracesMax;
      if (!is_sound) return Odd(shard, "trace.parquet has a trace that cannot be");
      for (const SummaryTrace& other : shard.traces) {
        if (other.from_id == trace.from_id || trace.first_row <= other.last_row ||
            trace.first_text <= other.last_text) {
          return Odd(shard, "trace.parquet has traces that overlap");
        }
      }
      const std::string hash(file.Text(row, column("text_hash")));
      trace.is_left_out = !hashes_.insert(hash).second;
      if (!trace.is_left_out) shard.hashes.push_back(hash);
      trace.trace_id = next_trace_;
      trace.row_shift = next_row_ - trace.first_row;
      trace.text_shift = next_text_ - trace.first_text;
      shard.traces.push_back(trace);
      if (trace.is_left_out) continue;
      ++next_trace_;
      next_row_ += trace.last_row - trace.first_row + 1;
      next_text_ += trace.last_text - trace.first_text + 1;
      if (next_row_ > kIdMax || next_text_ > kIdMax) return Odd(shard, "its rows are too many");
      const auto bind = [&](const char* name, int64_t value) {
        return insert->Bind(static_cast<int>(column(name)) + 1, value);
      };
      for (size_t i = 0; i < table.columns.size(); ++i) {
        TRACEDB_ASSIGN(bound, file.Bind(*insert, static_cast<int>(i) + 1, row, i, shard.traces));
        (void)bound;
      }
      TRACEDB_TRY(bind("first_row", trace.first_row + trace.row_shift));
      TRACEDB_TRY(bind("last_row", trace.last_row + trace.row_shift));
      TRACEDB_TRY(bind("first_text", trace.first_text + trace.text_shift));
      TRACEDB_TRY(bind("last_text", trace.last_text + trace.text_shift));
      if (run_.has_value()) {
        TRACEDB_TRY(
            insert->Bind(static_cast<int>(column("named_run")) + 1, std::string_view(*run_)));
      }
      TRACEDB_TRY(insert->Run());
    }
  }
  if (shard.traces.empty()) return Odd(shard, "trace.parquet has no trace");
  return FindBases(shard);
}

// What the times of a trace's rows count from: all its tracks say the same.
Status SummaryLoad::FindBases(FoundShard& shard) {
  const SummaryTable& table = SummaryTableOf("track.parquet");
  if (!shard.Has(table.file)) return Done{};
  TRACEDB_ASSIGN(file, SummaryFile::Open(shard.folder / table.file, table));
  const auto base = static_cast<size_t>(table.Find("base_ns"));
  const auto of = static_cast<size_t>(table.Find("trace_id"));
  std::set<int64_t> known;
  for (size_t group = 0; group < file.groups(); ++group) {
    TRACEDB_TRY(file.ReadGroup(group));
    for (size_t row = 0; row < file.rows(); ++row) {
      if (file.IsNull(row, base)) continue;
      const int64_t base_ns = file.Int(row, base);
      if (base_ns < -kTimeMax || base_ns > kTimeMax) return Odd(shard, "its times are none");
      for (SummaryTrace& trace : shard.traces) {
        if (trace.from_id != file.Int(row, of)) continue;
        if (known.insert(trace.from_id).second) trace.base_ns = base_ns;
        if (trace.base_ns != base_ns) return Odd(shard, "its tracks do not count from one time");
      }
    }
  }
  return Done{};
}

Status SummaryLoad::AddTable(const FoundShard& shard, const SummaryTable& table) {
  TRACEDB_ASSIGN(file, SummaryFile::Open(shard.folder / table.file, table));
  TRACEDB_ASSIGN(insert, Insert(table));
  for (size_t group = 0; group < file.groups(); ++group) {
    TRACEDB_TRY(file.ReadGroup(group));
    for (size_t row = 0; row < file.rows(); ++row) {
      bool is_taken = true;
      for (size_t i = 0; is_taken && i < table.columns.size(); ++i) {
        TRACEDB_ASSIGN(bound, file.Bind(*insert, static_cast<int>(i) + 1, row, i, shard.traces));
        is_taken = bound;
      }
      if (is_taken) TRACEDB_TRY(insert->Run());
    }
  }
  return Done{};
}

Status SummaryLoad::AddGroups(const FoundShard& shard, const SummaryTrace& trace) {
  const SummaryTable& table = SummaryTableOf("process_group.parquet");
  TRACEDB_TRY(db_->Execute("DELETE FROM fresh._process_group"));
  if (!shard.Has(table.file)) return Done{};
  TRACEDB_ASSIGN(file, SummaryFile::Open(shard.folder / table.file, table));
  for (size_t group = 0; group < file.groups(); ++group) {
    if (!MayHave(file, group, trace)) continue;
    TRACEDB_TRY(file.ReadGroup(group));
    for (size_t row = 0; row < file.rows(); ++row) {
      if (file.Int(row, 0) != trace.from_id) continue;
      for (size_t i = 1; i < table.columns.size(); ++i) {
        TRACEDB_ASSIGN(bound, file.Bind(*group_, static_cast<int>(i), row, i, shard.traces));
        (void)bound;
      }
      TRACEDB_TRY(group_->Run());
    }
  }
  return Done{};
}

// Each with the slice that it is of, by which its kernel has a name.
Status SummaryLoad::AddParts(const FoundShard& shard, const SummaryTrace& trace) {
  const SummaryTable& table = SummaryTableOf("collective_part.parquet");
  TRACEDB_TRY(db_->Execute("DELETE FROM fresh._collective_part"));
  if (!shard.Has(table.file)) return Done{};
  TRACEDB_ASSIGN(file, SummaryFile::Open(shard.folder / table.file, table));
  const auto column = [&](const char* name) { return static_cast<size_t>(table.Find(name)); };
  const size_t track = column("track");
  const size_t trace_at = column("trace_id");
  const size_t ts = column("ts_ns");
  const size_t dur = column("dur_ns");
  const size_t launch_columns[] = {0, column("launch_slice_id"), column("launch_ts_ns"),
                                   column("step")};
  for (size_t group = 0; group < file.groups(); ++group) {
    if (!MayHave(file, group, trace)) continue;
    TRACEDB_TRY(file.ReadGroup(group));
    for (size_t row = 0; row < file.rows(); ++row) {
      if (file.Int(row, trace_at) != trace.from_id) continue;
      for (size_t i = 0; i < track; ++i) {
        TRACEDB_ASSIGN(bound, file.Bind(*part_, static_cast<int>(i) + 1, row, i, shard.traces));
        (void)bound;
      }
      TRACEDB_TRY(part_->Run());
      if (file.IsNull(row, track) || file.IsNull(row, ts)) continue;
      const int64_t at = file.Int(row, ts);
      if (at < -kTimeMax || at > kTimeMax) return Odd(shard, "a collective is at no time");
      TRACEDB_ASSIGN(id, file.Bind(*slice_, 1, row, 0, shard.traces));
      TRACEDB_ASSIGN(of, file.Bind(*slice_, 2, row, track, shard.traces));
      TRACEDB_ASSIGN(name, file.Bind(*slice_, 3, row, column("event_name"), shard.traces));
      if (!id || !of || !name) continue;
      TRACEDB_TRY(slice_->Bind(4, DifferenceNs(at, trace.base_ns)));
      TRACEDB_TRY(file.IsNull(row, dur) ? slice_->BindNull(5)
                                        : slice_->Bind(5, file.Int(row, dur)));
      TRACEDB_TRY(slice_->Run());
      for (int i = 0; i < 4; ++i) {
        TRACEDB_ASSIGN(bound, file.Bind(*launch_, i + 1, row, launch_columns[i], shard.traces));
        (void)bound;
      }
      TRACEDB_TRY(launch_->Run());
    }
  }
  return Done{};
}

// What the host waited for its GPU: the replay of collectives has to know. Names are there already.
Status SummaryLoad::AddWaits(const FoundShard& shard) {
  const SummaryTable& table = SummaryTableOf("host_wait.parquet");
  if (!shard.Has(table.file)) return Done{};
  TRACEDB_ASSIGN(file, SummaryFile::Open(shard.folder / table.file, table));
  TRACEDB_ASSIGN(name, db_->Prepare("SELECT name FROM main._event_name WHERE id = ?1"));
  TRACEDB_ASSIGN(full, db_->Prepare("SELECT 1 FROM main._full_queue WHERE id = ?1"));
  const auto event_name = static_cast<size_t>(table.Find("event_name"));
  const auto ts = static_cast<size_t>(table.Find("ts"));
  const auto end = static_cast<size_t>(table.Find("end_ts"));
  std::map<int64_t, bool> waits;  // by name
  for (size_t group = 0; group < file.groups(); ++group) {
    TRACEDB_TRY(file.ReadGroup(group));
    for (size_t row = 0; row < file.rows(); ++row) {
      const bool is_whole = !file.IsNull(row, 0) && !file.IsNull(row, event_name) &&
                            !file.IsNull(row, ts) && !file.IsNull(row, end);
      if (!is_whole) continue;
      TRACEDB_ASSIGN(name_id, file.Moved(row, event_name, shard.traces));
      if (!name_id.has_value()) continue;
      const auto [known, is_new] = waits.try_emplace(*name_id, false);
      if (is_new) {
        TRACEDB_TRY(name.Bind(1, *name_id));
        TRACEDB_ASSIGN(any, name.Step());
        known->second = any && WaitsForGpu(name.Text(0));
        name.Reset();
      }
      if (!known->second) {
        TRACEDB_ASSIGN(id, file.Moved(row, 0, shard.traces));
        TRACEDB_TRY(full.Bind(1, id.value_or(0)));
        TRACEDB_ASSIGN(is_full, full.Step());
        full.Reset();
        if (!is_full) continue;
      }
      bool is_taken = true;
      for (size_t i = 0; is_taken && i < 4; ++i) {  // id, track, event_name, ts
        TRACEDB_ASSIGN(bound, file.Bind(*wait_, static_cast<int>(i) + 1, row, i, shard.traces));
        is_taken = bound;
      }
      if (!is_taken) continue;
      TRACEDB_TRY(wait_->Bind(5, DifferenceNs(file.Int(row, end), file.Int(row, ts))));
      TRACEDB_TRY(wait_->Run());
    }
  }
  return Done{};
}

Status SummaryLoad::AddAll(const FoundShard& shard) {
  for (const SummaryTable& table : SummaryTables()) {
    const bool is_copied = !table.table.empty() && table.table != "_trace";
    if (is_copied && shard.Has(table.file)) TRACEDB_TRY(AddTable(shard, table));
  }
  TRACEDB_TRY(AddWaits(shard));
  for (const SummaryTrace& trace : shard.traces) {
    const auto place = places_.find(trace.trace_id);
    if (trace.is_left_out || place == places_.end()) continue;
    TRACEDB_TRY(AddGroups(shard, trace));
    TRACEDB_TRY(AddParts(shard, trace));
    TRACEDB_TRY(
        MergeCollectives(*db_, trace.trace_id, place->second.run_id, place->second.capture_id));
  }
  return Done{};
}

Status SummaryLoad::AddRows(const FoundShard& shard) {
  TRACEDB_TRY(db_->Execute("SAVEPOINT shard"));
  Status added = AddAll(shard);
  if (added.ok()) return db_->Execute("RELEASE shard");
  // Fails where memory or the disk ends, as SQLite has undone all of the transaction then.
  (void)db_->Execute("ROLLBACK TO shard; RELEASE shard");
  return added;
}

}  // namespace tracedb
