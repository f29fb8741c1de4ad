// The summaries of ranks -> rows of one database, under numbers of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "shards/shard_manifest.h"
#include "shards/summary_file.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// A summary that has been found whole.
struct FoundShard {
  std::filesystem::path folder;
  ShardManifest manifest;
  std::vector<SummaryTrace> traces;  // once AddTraces() has read them
  std::vector<std::string> hashes;   // of those that no other summary has

  bool Has(const std::string& file) const;
};

class SummaryLoad {
 public:
  // `db` has all tables, and no rows.
  static Result<SummaryLoad> Begin(SqliteDb& db, std::optional<std::string> run);

  // Its rows of _trace alone: of which runs they are depends on all.
  Status AddTraces(FoundShard& shard);
  // After DecideRuns(): where each trace has come.
  void Place(int64_t trace_id, int64_t run_id, int64_t capture_id) {
    places_[trace_id] = {run_id, capture_id};
  }
  // The rest of it, all or nothing of which is then there.
  Status AddRows(const FoundShard& shard);

 private:
  SummaryLoad(SqliteDb& db, std::optional<std::string> run) : db_(&db), run_(std::move(run)) {}
  Status ReadTraces(FoundShard& shard);
  static Status FindBases(FoundShard& shard);
  Status AddTable(const FoundShard& shard, const SummaryTable& table);
  Status AddGroups(const FoundShard& shard, const SummaryTrace& trace);
  Status AddParts(const FoundShard& shard, const SummaryTrace& trace);
  Status AddWaits(const FoundShard& shard);
  Status AddAll(const FoundShard& shard);
  Result<SqliteStatement*> Insert(const SummaryTable& table);

  SqliteDb* db_;
  std::optional<std::string> run_;
  int64_t next_trace_ = 1, next_row_ = 1, next_text_ = 1;
  std::set<std::string> hashes_;
  struct RunPlace {
    int64_t run_id = 0, capture_id = 0;
  };
  std::map<int64_t, RunPlace> places_;
  std::map<std::string, SqliteStatement> inserts_;  // by file
  std::optional<SqliteStatement> group_, part_, slice_, launch_, wait_;
};

}  // namespace tracedb
