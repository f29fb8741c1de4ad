// How a trace gets into the database whole or not at all: its rows are made in a file of their
// own beside the database, NAME.partial, and land in one step. The first trace's file becomes
// the database by being renamed; later ones are merged into it (database_merge.h).
//
// NAME.partial is locked while an ingest works, so that two never mix; the lock goes with the
// process, and what a killed one left behind is overwritten by the next. A trace that is read ahead
// of its turn (trace_loads.h) has its rows in NAME.partial-XXXXXX, locked as well until they land.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ingest/build/record_builder.h"
#include "ingest/build/trace_header.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/schema/kind_rules.h"
#include "tracedb/schema/parallelism.h"

namespace tracedb {

// What the database holds before a trace is added.
struct LandingPlace {
  bool exists = false;
  FirstIds first;
  int64_t first_path = 1;  // the id of its first row in call_path
  std::vector<KindRule> rules;
  ParallelismRules parallelism_rules;
};

class DatabaseLanding {
 public:
  // Waits for another ingest into the same database; `options.on_note` says so. `options` must
  // outlive the landing.
  static Result<DatabaseLanding> Begin(const std::filesystem::path& database,
                                       const LoadOptions& options);
  ~DatabaseLanding();  // takes the partial file away, unless it has landed
  DatabaseLanding(DatabaseLanding&& other) noexcept;
  DatabaseLanding(const DatabaseLanding&) = delete;
  DatabaseLanding& operator=(const DatabaseLanding&) = delete;
  DatabaseLanding& operator=(DatabaseLanding&&) = delete;

  const LandingPlace& place() const { return place_; }
  // Where the rows are made.
  const std::filesystem::path& rows() const { return rows_.empty() ? partial_ : rows_; }
  // The rows are in this file already, which lies beside the database. It is used up.
  void Adopt(std::filesystem::path rows) { rows_ = std::move(rows); }

  // The trace that has the same content: by the file's own hash, or by the unpacked text's.
  Result<std::optional<int64_t>> FindSameFile(const std::string& file_hash, uint64_t file_bytes);
  Result<std::optional<int64_t>> FindSameText(const std::string& text_hash);
  // The ranks of the traces that were read from files of this folder.
  Result<std::set<int64_t>> RanksOf(const std::string& folder);
  // Whether some trace in the database was read from a file of this size: hashing is worth it.
  Result<bool> AnyOfSize(uint64_t file_bytes);

  // rows() is a database that holds this one trace, read from `path`: makes it part of the
  // database.
  Status Land(int64_t trace_id, const std::string& path, const std::string& text_hash);

 private:
  DatabaseLanding(std::filesystem::path database, const LoadOptions& options);
  Status Lock();
  Status WaitForLock();
  Result<SqliteDb> Connect(SqliteMode mode) const;
  Status ReadPlace();
  Status ReadRules(SqliteDb& db);
  Status ReadParallelismRules(SqliteDb& db);
  Status BecomeDatabase();
  Status SyncRows() const;
  Result<std::optional<int64_t>> FindTrace(const std::string& where);

  std::filesystem::path database_;
  std::filesystem::path partial_;
  std::filesystem::path rows_;  // where that is not partial_
  const LoadOptions* options_;
  LandingPlace place_;
  int lock_ = -1;
  bool landed_ = false;
};

// A new file for rows that are read ahead of their turn, locked and empty.
struct AheadFile {
  std::filesystem::path path;
  int lock = -1;  // to be closed by whoever has it
};
Result<AheadFile> MakeAheadFile(const std::filesystem::path& database);

// One database has one lock, whatever the links that lead to it.
std::filesystem::path RealName(std::filesystem::path database);

}  // namespace tracedb
