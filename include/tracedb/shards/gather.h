// The summaries that ranks have left in a folder -> one database of the ordinary schema.
//
//   OUT/run=*/rank=*/*.parquet ──▶ rows under own numbers ──▶ runs, captures, communicators
//
// What of slices the causes of waits need is read when these are known: AddStallSlices().
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct FoundShard;

struct GatherOptions {
  std::filesystem::path folder;    // OUT
  std::filesystem::path database;  // an empty place for it
  std::optional<std::string> run;  // all are of this one; none: as the ranks' databases say
  int64_t cache_kib = 65536;       // for SQLite's pages
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string& doing, size_t done, size_t all)> on_progress;
};

// A rank of whom there is no summary that is whole; beyond the first thousand of a run all others.
struct ShardTrouble {
  std::string kind;  // shard_missing or shard_broken
  std::string text;  // "rank 5 of run job: ..."
  int64_t ranks = 1;
};

struct GatherReport {
  int64_t ranks = 0;
  int64_t traces = 0;
  int64_t repeated = 0;  // traces whose content another one has
  int64_t text_bytes = 0;
  std::vector<ShardTrouble> troubles;

  int64_t MissingRanks() const;
};

class GatheredDatabase {
 public:
  // Makes it: all but what compares ranks. An error where no summary can be used.
  static Result<GatheredDatabase> Make(const GatherOptions& options);
  ~GatheredDatabase();
  GatheredDatabase(GatheredDatabase&& other) noexcept;
  GatheredDatabase(const GatheredDatabase&) = delete;
  GatheredDatabase& operator=(const GatheredDatabase&) = delete;
  GatheredDatabase& operator=(GatheredDatabase&&) = delete;

  const GatherReport& report() const { return report_; }
  // The slices that show what held those who came last, for the stalls in temp.stall: within the
  // transaction of ExplainStalls().
  Status AddStallSlices(SqliteDb& db) const;
  // What was found out of all ranks, as Parquet in FOLDER/gathered beside their summaries: for
  // engines that read these. `db` is finished.
  Status WriteForEngines(SqliteDb& db, const std::filesystem::path& folder) const;

 private:
  GatheredDatabase();
  Status Fill(SqliteDb& db, const GatherOptions& options, std::vector<ShardTrouble>& broken);

  GatherReport report_;
  std::vector<FoundShard> shards_;
};

}  // namespace tracedb
