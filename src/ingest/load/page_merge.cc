#include "ingest/load/page_merge.h"

#include <fcntl.h>

#include <set>
#include <utility>

#include "ingest/load/merged_rows.h"
#include "ingest/load/open_to_change.h"
#include "tracedb/schema/empty_database.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

std::vector<std::string> EventRowTables() {
  std::vector<std::string> tables;
  for (int i = 0; i < kEventTables; ++i) {
    tables.emplace_back(EventTableName(static_cast<EventTable>(i)));
  }
  tables.emplace_back("_launch");
  for (const char* table : {"_call_path", "_busy_segment", "_host_use"}) tables.emplace_back(table);
  return tables;
}

namespace {

std::vector<EmptyDatabase::Tree> TreesOfOurs(std::string_view table) {
  std::vector<EmptyDatabase::Tree> trees;
  for (const EmptyDatabase::Tree& tree : EmptyDatabase::trees()) {
    if (tree.table == table) trees.push_back(tree);
  }
  return trees;
}

// The new rows of a table without ids of its own were numbered from the trace's first row on; those
// that were added to the database's later have other numbers.
Result<bool> ComesLast(SqliteDb& db, const std::string& table) {
  if (table != "_host_use") return true;
  TRACEDB_ASSIGN(comes_last, db.Integer("SELECT coalesce((SELECT max(rowid) FROM main._host_use) < "
                                        "(SELECT min(rowid) FROM fresh._host_use), 1)"));
  return comes_last != 0;
}

}  // namespace

Result<std::unique_ptr<PageMerge>> PageMerge::Begin(const std::filesystem::path& database,
                                                    const LoadOptions& options,
                                                    StagedConnection& connection) {
  TRACEDB_ASSIGN(staged, StagedChanges::Begin(database, {kBusyWaitMs, options.stop}));
  if (staged == nullptr) return std::unique_ptr<PageMerge>();
  TRACEDB_TRY(staged->Connect(connection));
  if (options.stop != nullptr) connection.db->StopWhen(*options.stop);
  std::unique_ptr<PageMerge> merge(new PageMerge(connection));
  merge->staged_ = std::move(staged);
  return merge;
}

// The roots of the large tables' trees in a file of ours and in the database; none where it is not
// alike: users may have indexes, columns or triggers of their own on ours, and SQLite honours
// these.
std::vector<PageMerge::TableTrees> PageMerge::MatchTrees(const DatabaseTables& database) {
  std::vector<TableTrees> all;
  for (const std::string& table : EventRowTables()) {
    TableTrees found{table, {}};
    const std::vector<EmptyDatabase::Tree> from = TreesOfOurs(table);
    const std::vector<DatabaseTables::Tree>& to = database.trees.at(table);
    if (from.size() != to.size()) return {};
    for (size_t i = 0; i < from.size(); ++i) {
      if (from[i].name != to[i].name || from[i].sql != to[i].sql) return {};
      found.trees.push_back({from[i].is_index, from[i].root, to[i].root});
    }
    all.push_back(std::move(found));
  }
  return all;
}

// What its users have made of it stays as it is while we have its lock.
Status PageMerge::LookAtDatabase(SqliteDb& db) {
  if (tables_.has_value()) return Done{};
  TRACEDB_TRY(HonourForeignKeys(db));
  TRACEDB_ASSIGN(tables, ReadTables(db));
  large_tables_ = MatchTrees(tables);
  tables_ = std::move(tables);
  return Done{};
}

Result<bool> PageMerge::Add(const MergeJob& job) {
  const Descriptor& source = *sources_.emplace_back(
      std::make_unique<Descriptor>(open(job.partial.c_str(), O_RDONLY | O_CLOEXEC)));
  if (source.number < 0) return false;
  SqliteDb& db = *connection_.db;
  TRACEDB_TRY(LookAtDatabase(db));
  TRACEDB_TRY(AttachFresh(db, job));
  TRACEDB_ASSIGN(page_bytes, db.Integer("PRAGMA fresh.page_size"));
  TRACEDB_ASSIGN(pages, db.Integer("PRAGMA fresh.page_count"));
  const PageSizes sizes = staged_->sizes();
  if (page_bytes != sizes.usable_bytes) return false;
  const TreeGraft::Source from{source.number, static_cast<uint32_t>(pages), job.partial};
  std::vector<TreeGraft::Tree> large_trees;
  std::vector<TreeGraft::Tree> small_trees;
  std::set<std::string> added;
  for (const TableTrees& table : large_tables_) {
    TRACEDB_ASSIGN(comes_last, ComesLast(db, table.table));
    if (!comes_last) continue;
    added.insert(table.table);
    for (const TreeGraft::Tree& tree : table.trees) {
      TRACEDB_ASSIGN(large, TreeGraft::HasLeaves(from, sizes.page_bytes, tree.from_root,
                                                 TreeGraft::kGraftedLeavesMin));
      (large ? large_trees : small_trees).push_back(tree);
    }
  }
  if (added.empty()) return false;
  TRACEDB_TRY(db.Execute("BEGIN"));
  TRACEDB_TRY(MergeRows(db, added, *tables_, job));
  TRACEDB_TRY(db.Execute("COMMIT; DETACH fresh"));
  small_trees_.push_back({from, std::move(small_trees)});
  if (large_trees.empty()) return true;
  TRACEDB_TRY(AddSmallTrees());
  TreeGraft graft(*staged_, from);
  TRACEDB_TRY(graft.Add(large_trees));
  TRACEDB_TRY(staged_->CountPages());
  return true;
}

// Those of several traces at once: after each time the connection forgets all pages it has seen.
Status PageMerge::AddSmallTrees() {
  for (const SmallTrees& small : small_trees_) {
    TreeGraft graft(*staged_, small.from);
    for (const TreeGraft::Tree& tree : small.trees) TRACEDB_TRY(graft.Append(tree));
  }
  small_trees_.clear();
  return Done{};
}

Status PageMerge::Commit() {
  TRACEDB_TRY(AddSmallTrees());
  return staged_->Commit();
}

}  // namespace tracedb
