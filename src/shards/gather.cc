#include "tracedb/shards/gather.h"

#include <fmt/format.h>

#include <set>

#include "shards/find_shards.h"
#include "shards/job_tables.h"
#include "shards/stall_slices.h"
#include "shards/summary_load.h"
#include "tracedb/ranks/runs/decide_runs.h"
#include "tracedb/schema/empty_database.h"
#include "tracedb/schema/schema_sql.h"

namespace tracedb {
namespace {

// The file is nobody's yet.
Result<SqliteDb> MakeTables(const GatherOptions& options) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(options.database, SqliteMode::kReadWrite));
  if (options.stop != nullptr) db.StopWhen(*options.stop);
  TRACEDB_TRY(db.Execute("PRAGMA page_size = " + std::to_string(EmptyDatabase::kPageBytes) +
                         "; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;"
                         "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -" +
                         std::to_string(options.cache_kib)));
  TRACEDB_TRY(db.Execute("BEGIN"));
  TRACEDB_TRY(db.Execute(TablesSql()));
  TRACEDB_TRY(
      db.Execute("CREATE TABLE _shard (run TEXT, rank INTEGER, host TEXT, database TEXT, folder "
                 "TEXT); CREATE TABLE _left_out (table_name TEXT PRIMARY KEY) WITHOUT ROWID;"
                 "CREATE TABLE _part_use (id INTEGER PRIMARY KEY, computing_ns INTEGER, "
                 "idle_ns INTEGER); CREATE TABLE _full_queue (id INTEGER PRIMARY KEY);"
                 "COMMIT"));
  return db;
}

Status StoreShards(SqliteDb& db, const std::vector<FoundShard>& shards) {
  TRACEDB_ASSIGN(shard_row, db.Prepare("INSERT INTO _shard VALUES (?1, ?2, ?3, ?4, ?5)"));
  TRACEDB_ASSIGN(left_row, db.Prepare("INSERT OR IGNORE INTO _left_out VALUES (?1)"));
  for (const FoundShard& shard : shards) {
    TRACEDB_TRY(shard_row.Bind(1, std::string_view(shard.manifest.run)));
    TRACEDB_TRY(shard_row.Bind(2, shard.manifest.rank));
    TRACEDB_TRY(shard_row.Bind(3, std::string_view(shard.manifest.host)));
    TRACEDB_TRY(shard_row.Bind(4, std::string_view(shard.manifest.database)));
    TRACEDB_TRY(shard_row.Bind(5, std::string_view(shard.folder.native())));
    TRACEDB_TRY(shard_row.Run());
    for (const std::string& table : shard.manifest.left_out) {
      TRACEDB_TRY(left_row.Bind(1, std::string_view(table)));
      TRACEDB_TRY(left_row.Run());
    }
  }
  return Done{};
}

Status StoreTroubles(SqliteDb& db, const std::vector<ShardTrouble>& troubles) {
  TRACEDB_ASSIGN(row, db.Prepare("INSERT INTO _issue (kind, count, first_excerpt) "
                                 "VALUES (?1, ?3, ?2)"));
  for (const ShardTrouble& trouble : troubles) {
    TRACEDB_TRY(row.Bind(1, std::string_view(trouble.kind)));
    TRACEDB_TRY(row.Bind(2, std::string_view(trouble.text)));
    TRACEDB_TRY(row.Bind(3, trouble.ranks));
    TRACEDB_TRY(row.Run());
  }
  return Done{};
}

}  // namespace

int64_t GatherReport::MissingRanks() const {
  int64_t missing = 0;
  for (const ShardTrouble& trouble : troubles) missing += trouble.ranks;
  return missing;
}

GatheredDatabase::GatheredDatabase() = default;
GatheredDatabase::~GatheredDatabase() = default;
GatheredDatabase::GatheredDatabase(GatheredDatabase&& other) noexcept = default;

// `broken` gets those that could not be loaded after all: then all is to be made again.
Status GatheredDatabase::Fill(SqliteDb& db, const GatherOptions& options,
                              std::vector<ShardTrouble>& broken) {
  TRACEDB_ASSIGN(load, SummaryLoad::Begin(db, options.run));
  TRACEDB_TRY(db.Execute("BEGIN"));
  std::set<size_t> bad;
  const auto failed = [&](size_t at, const Error& error) -> Status {
    const bool is_its_own = error.kind == ErrorKind::kInput || error.kind == ErrorKind::kQuery ||
                            error.what.find("constraint failed") != std::string::npos;
    if (!is_its_own) return error;
    if (options.stop != nullptr && options.stop->load()) return error;
    const ShardManifest& manifest = shards_[at].manifest;
    broken.push_back({"shard_broken", fmt::format("rank {} of run {}: {}", manifest.rank,
                                                  manifest.run, error.what)});
    bad.insert(at);
    return Done{};
  };
  for (size_t i = 0; i < shards_.size(); ++i) {
    const Status added = load.AddTraces(shards_[i]);
    if (!added.ok()) TRACEDB_TRY(failed(i, added.error()));
  }
  TRACEDB_ASSIGN(moves, DecideRuns(db));
  for (const TraceMove& move : moves) load.Place(move.trace_id, move.run_id, move.capture_id);
  for (size_t i = 0; i < shards_.size(); ++i) {
    if (options.on_progress) options.on_progress("gathering summaries", i, shards_.size());
    if (bad.contains(i)) continue;
    const Status added = load.AddRows(shards_[i]);
    if (!added.ok()) TRACEDB_TRY(failed(i, added.error()));
  }
  for (size_t i = shards_.size(); i-- > 0;) {
    if (bad.contains(i)) shards_.erase(shards_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return db.Execute(bad.empty() ? "COMMIT" : "ROLLBACK");
}

Result<GatheredDatabase> GatheredDatabase::Make(const GatherOptions& options) {
  TRACEDB_ASSIGN(found, FindShards(options));
  GatheredDatabase made;
  made.report_.troubles = found.broken;
  const std::vector<ShardTrouble> missing = MissingRanks(found, options.run);
  made.report_.troubles.insert(made.report_.troubles.end(), missing.begin(), missing.end());
  made.shards_ = std::move(found.whole);
  for (;;) {
    if (made.shards_.empty()) {
      return Error{ErrorKind::kInput,
                   fmt::format("{}: no summary can be used; the first: {}", options.folder.string(),
                               made.report_.troubles.front().text),
                   "run tracedb ingest --shard again for these ranks"};
    }
    std::filesystem::resize_file(options.database, 0);
    TRACEDB_ASSIGN(db, MakeTables(options));
    std::vector<ShardTrouble> broken;
    TRACEDB_TRY(made.Fill(db, options, broken));
    if (!broken.empty()) {  // what is left is gathered without them
      made.report_.troubles.insert(made.report_.troubles.end(), broken.begin(), broken.end());
      continue;
    }
    TRACEDB_TRY(db.Execute("BEGIN"));
    TRACEDB_TRY(StoreShards(db, made.shards_));
    TRACEDB_TRY(StoreTroubles(db, made.report_.troubles));
    TRACEDB_TRY(db.Execute(ViewsSql()));
    TRACEDB_TRY(db.Execute("COMMIT"));
    for (const FoundShard& shard : made.shards_) {
      made.report_.text_bytes += shard.manifest.text_bytes;
      for (const SummaryTrace& trace : shard.traces) {
        ++(trace.is_left_out ? made.report_.repeated : made.report_.traces);
      }
    }
    made.report_.ranks = static_cast<int64_t>(made.shards_.size());
    return made;
  }
}

Status GatheredDatabase::AddStallSlices(SqliteDb& db) const {
  TRACEDB_ASSIGN(slices, StallSlices::Open(db));
  for (const FoundShard& shard : shards_) {
    for (const SummaryTrace& trace : shard.traces) {
      if (!trace.is_left_out) TRACEDB_TRY(slices.Add(shard, trace));
    }
  }
  return Done{};
}

Status GatheredDatabase::WriteForEngines(SqliteDb& db, const std::filesystem::path& folder) const {
  return WriteJobTables(db, shards_, folder);
}

}  // namespace tracedb
