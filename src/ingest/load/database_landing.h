// How a trace gets into the database whole or not at all: its rows are made in a file of their own
// beside the database (rows_file.h), and land in one step. The first trace's file becomes the
// database by being renamed; later ones are merged into it (database_merge.h).
//
// Only one ingest at a time is here (ingest_lock.h). A trace that is read ahead of its turn
// (trace_loads.h) has its rows in a file that is made before, and comes here when it is its turn.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ingest/build/record_builder.h"
#include "ingest/build/trace_header.h"
#include "ingest/load/ingest_lock.h"
#include "ingest/load/table_copy.h"
#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/rows_file.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/pages/staged_changes.h"
#include "tracedb/schema/kind_rules.h"
#include "tracedb/schema/parallelism.h"

namespace tracedb {

// What the database holds before a trace is added.
struct LandingPlace {
  bool exists = false;
  bool is_gathered = false;  // from summaries: it takes no trace
  FirstIds first;
  int64_t source_id = 1;  // of the next source
  std::vector<KindRule> rules;
  ParallelismRules parallelism_rules;
};

// To the database, for all files of a command: opening one reads the whole schema, which takes
// longer than to add a small trace.
struct KeptConnection {
  StagedConnection connection;
  dev_t device = 0;  // of the file it is to, which may be another one meanwhile
  ino_t inode = 0;

  SqliteDb& db() { return *connection.db; }
  // Whether there is one, to the file of this device and inode.
  bool IsTo(const struct stat& status) const {
    return connection.db.has_value() && device == status.st_dev && inode == status.st_ino;
  }
};

// A trace in a file of its own, with the ids that come next.
struct TraceRows {
  std::filesystem::path rows;
  int64_t trace_id;
  std::string path;
  std::string text_hash;
};

class DatabaseLanding {
 public:
  // Waits for another ingest into the same database; `options.on_note` says so. `options` must
  // outlive the landing, and so must `kept`.
  static Result<DatabaseLanding> Begin(const std::filesystem::path& database,
                                       const LoadOptions& options, KeptConnection& kept);
  DatabaseLanding(DatabaseLanding&& other) noexcept = default;
  DatabaseLanding(const DatabaseLanding&) = delete;
  DatabaseLanding& operator=(const DatabaseLanding&) = delete;
  DatabaseLanding& operator=(DatabaseLanding&&) = delete;

  const LandingPlace& place() const { return place_; }
  // Why ranks waited was worked out from slices that a gathered database has not: an error there.
  Status CheckTakesTraces() const;
  // A new file for the rows, which goes away with this object unless they land.
  Result<std::filesystem::path> MakeRows();
  // The rows are in this file already.
  void Adopt(RowsFile rows) { rows_.emplace(std::move(rows)); }
  RowsFile TakeRows() { return std::move(*rows_); }
  // Where they are made, once one of the two was called.
  const std::filesystem::path& rows() const { return rows_->path(); }

  // The traces that were read from files of this size, by their file_hash.
  Result<std::map<std::string, int64_t>> TracesOfSize(uint64_t file_bytes);
  // The trace that has the same unpacked content.
  Result<std::optional<int64_t>> FindSameText(const std::string& text_hash);
  // The ranks of the traces that were read from files of this folder, and that were recorded at
  // this time; none: at any. Without the trace of `path` where that is to be replaced.
  Result<std::set<int64_t>> RanksOf(const std::string& folder, const std::optional<Interval>& at,
                                    const std::string& path);

  // The same of sources (files that are no traces).
  Result<std::optional<int64_t>> FindSameSourceFile(const std::string& file_hash,
                                                    uint64_t file_bytes);
  // Dumps of two ranks may have the same content, and the ranks in their names. `folder`: only in
  // this one.
  Result<std::optional<int64_t>> FindSameSource(const std::string& text_hash,
                                                std::optional<int64_t> rank,
                                                const std::optional<std::string>& folder);
  Result<bool> IsSourceFile(int64_t source_id, const std::string& file_hash, uint64_t file_bytes);
  // Whether some source in the database was read from a file of this size: hashing is worth it.
  Result<bool> AnySourceOfSize(uint64_t file_bytes);
  // The one that was read from the file of this name in this folder; 0: none was.
  Result<int64_t> FindSourceOf(const std::string& folder, const std::string& file_name);

  // rows() is a database that holds this one trace, read from `path`: makes it part of the
  // database.
  Status Land(int64_t trace_id, const std::string& path, const std::string& text_hash);
  // Whether it gains by landing together with others.
  bool GoesAsPages(const TraceRows& trace) const;
  // Makes all of these part of a database that has others; false: none is, and each alone may be.
  Result<bool> LandTogether(const std::vector<TraceRows>& traces);
  // rows() holds this one source; it takes the place of `outdated`.
  Status LandSource(int64_t source_id, const std::set<int64_t>& outdated);

 private:
  DatabaseLanding(std::filesystem::path database, const LoadOptions& options, IngestLock lock,
                  KeptConnection& kept);
  Status Connect(const struct stat& status);
  Status ConnectAnew();
  Status ReadPlace();
  void AddKindRule(std::string_view pattern, std::string_view word);
  Status ReadRules(SqliteDb& db);
  Status ReadParallelismRules(SqliteDb& db);
  Status BecomeDatabase();
  MergeJob JobOf(const TraceRows& trace) const;
  // The id in a table of inputs (_trace, _source) of the one for which `where` holds.
  Result<std::optional<int64_t>> FindInput(const char* table, const std::string& where);

  std::filesystem::path database_;  // its real name
  const LoadOptions* options_;
  LandingPlace place_;
  KeptConnection* kept_;
  IngestLock lock_;
  std::optional<RowsFile> rows_;  // goes before the lock
};

}  // namespace tracedb
