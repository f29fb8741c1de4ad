// Traces in files of their own that are added to a database with others as whole pages, one or
// several at a time: all of these or none (tree_graft.h, staged_changes.h).
//
//   rows of 1 ─▶ rows of 2 ─▶ rows of 3 ─────▶ all in place    tables of few rows through SQLite,
//      pages of 1 ─▶ pages of 2 ─▶ pages of 3 ─┘               small ones of events cell by cell;
//                                                              large ones, by a thread beside it
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingest/load/database_check.h"
#include "ingest/load/table_copy.h"
#include "tracedb/base/descriptor.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/pages/staged_changes.h"
#include "tracedb/pages/tree_graft.h"

namespace tracedb {

class PageMerge {
 public:
  // Null where nothing can be added to the database this way. `options` must outlive it, and so
  // must `connection`, which is to be dropped unless all was committed.
  static Result<std::unique_ptr<PageMerge>> Begin(const std::filesystem::path& database,
                                                  const LoadOptions& options,
                                                  StagedConnection& connection);

  // Adds a trace after those added before. False, or an error (of kUnfit where another way might
  // do): nothing can be committed any more, and the database is as it was.
  Result<bool> Add(const MergeJob& job);
  Status Commit();

 private:
  // A table and its indexes.
  struct TableTrees {
    std::string table;
    std::vector<TreeGraft::Tree> trees;  // the table's own first
  };

  // What is still to be added of a trace, cell by cell: a connection sees none of it.
  struct SmallTrees {
    TreeGraft::Source from;
    std::vector<TreeGraft::Tree> trees;
  };

  static std::vector<TableTrees> MatchTrees(const DatabaseTables& database);
  Status LookAtDatabase(SqliteDb& db);
  Status AddSmallTrees();
  explicit PageMerge(StagedConnection& connection) : connection_(connection) {}

  // The files that are added; closed when no connection is open to them any more, as that drops its
  // locks.
  std::vector<std::unique_ptr<Descriptor>> sources_;
  std::unique_ptr<StagedChanges> staged_;
  StagedConnection& connection_;
  std::optional<DatabaseTables> tables_;  // once they have been looked at
  std::vector<TableTrees> large_tables_;
  std::vector<SmallTrees> small_trees_;
};

// Tables with a row for each event, or nearly: those that go past SQLite.
std::vector<std::string> EventRowTables();

}  // namespace tracedb
