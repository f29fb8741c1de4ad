#include "ingest/load/database_merge.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ingest/load/open_to_change.h"
#include "ingest/load/table_copy.h"
#include "ingest/load/trace_tables.h"
#include "tracedb/base/descriptor.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/derive/collectives/derive_groups.h"
#include "tracedb/ingest/load/trace_removal.h"
#include "tracedb/pages/staged_changes.h"
#include "tracedb/pages/tree_graft.h"
#include "tracedb/ranks/runs/decide_runs.h"
#include "tracedb/schema/empty_database.h"
#include "tracedb/schema/schema_sql.h"

namespace tracedb {
namespace {

// The traces that have the new one's content or path.
Result<std::vector<int64_t>> Outdated(SqliteDb& db, const MergeJob& job) {
  std::vector<int64_t> ids;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT trace_id FROM main._trace "
                                  "WHERE text_hash = ?1 OR path = ?2"));
  TRACEDB_TRY(rows.Bind(1, std::string_view(job.text_hash)));
  TRACEDB_TRY(rows.Bind(2, std::string_view(job.path)));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return ids;
    ids.push_back(rows.Int(0));
  }
}

// Tables that may have very many rows.
std::vector<std::string> LargeTables() {
  std::vector<std::string> tables;
  for (int i = 0; i < kEventTables; ++i) {
    tables.emplace_back(EventTableName(static_cast<EventTable>(i)));
  }
  tables.emplace_back("_launch");
  for (const char* table : {"_call_path", "_busy_segment", "_host_use"}) tables.emplace_back(table);
  return tables;
}

// Copies the rows of the attached file, but for the tables in `done`.
Status CopyRows(SqliteDb& db, const std::set<std::string>& done, const MergeJob& job) {
  std::vector<std::string> tables;
  const auto add = [&](std::string table) {
    if (!done.contains(table)) tables.push_back(std::move(table));
  };
  for (int i = 0; i < kEventTables; ++i) {
    add(std::string(EventTableName(static_cast<EventTable>(i))));
  }
  for (const char* table : kRowTables) add(table);
  for (const char* table : kTextTables) add(table);
  for (const char* table : kTraceTables) add(table);
  return CopyTables(db, tables, job);
}

// The trace's rows are there.
Status JoinRun(SqliteDb& db, int64_t trace_id) {
  // Its own file has it as a run by itself: wherever it comes here, it has moved.
  TRACEDB_ASSIGN(own, db.Prepare("UPDATE main._trace SET run_id = NULL WHERE trace_id = ?1"));
  TRACEDB_TRY(own.Bind(1, trace_id));
  TRACEDB_TRY(own.Run());
  return DecideRunsAnew(db, trace_id);
}

Status MergeThroughSqlite(const MergeJob& job, SqliteDb& db) {
  TRACEDB_TRY(AttachFresh(db, job));
  TRACEDB_TRY(db.Execute("BEGIN IMMEDIATE"));
  if (job.options.replace) {
    TRACEDB_ASSIGN(outdated, Outdated(db, job));
    TRACEDB_TRY(TakeOutTraces(db, outdated));
  }
  TRACEDB_TRY(CopyRows(db, {}, job));
  TRACEDB_TRY(JoinRun(db, job.id));
  TRACEDB_TRY(db.Execute("COMMIT"));
  return db.Execute("DETACH fresh");
}

// A table and its indexes.
struct TableTrees {
  std::string table;
  std::vector<TreeGraft::Tree> trees;  // the table's own first
};

// The trees of a database by their table, as its schema has them.
struct SchemaTree {
  bool is_index;  // the rows of a table without rowids are in one as well
  uint32_t root;
  std::string name;
  std::string sql;
};
using SchemaTrees = std::map<std::string, std::vector<SchemaTree>>;

Result<SchemaTrees> ReadTrees(SqliteDb& db, const std::string& schema) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT tbl_name, type = 'index' OR coalesce(sql, '') LIKE "
                                  "'%WITHOUT ROWID', rootpage, name, coalesce(sql, '') FROM " +
                                  schema +
                                  ".sqlite_schema WHERE type IN ('table', 'index', 'trigger') "
                                  "ORDER BY tbl_name, type = 'table' DESC, type, name"));
  SchemaTrees trees;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return trees;
    trees[std::string(rows.Text(0))].push_back(
        {rows.Int(1) == 1, static_cast<uint32_t>(rows.Int(2)), std::string(rows.Text(3)),
         std::string(rows.Text(4))});
  }
}

// The roots of the large tables' trees in both files; none where the files are not alike: users may
// have indexes, columns or triggers of their own on ours, and SQLite honours these.
Result<std::vector<TableTrees>> MatchTrees(SqliteDb& db) {
  TRACEDB_ASSIGN(ours, ReadTrees(db, "fresh"));
  TRACEDB_ASSIGN(theirs, ReadTrees(db, "main"));
  std::vector<TableTrees> all;
  for (const std::string& table : LargeTables()) {
    TableTrees found{table, {}};
    const std::vector<SchemaTree>& from = ours[table];
    const std::vector<SchemaTree>& to = theirs[table];
    if (from.size() != to.size()) return std::vector<TableTrees>();
    for (size_t i = 0; i < from.size(); ++i) {
      if (from[i].name != to[i].name || from[i].sql != to[i].sql) return std::vector<TableTrees>();
      found.trees.push_back({from[i].is_index, from[i].root, to[i].root});
    }
    all.push_back(std::move(found));
  }
  return all;
}

// The new rows of a table without ids of its own were numbered from the trace's first row on; those
// that were added to the database's later have other numbers.
Result<bool> ComesLast(SqliteDb& db, const std::string& table) {
  if (table != "_host_use") return true;
  TRACEDB_ASSIGN(comes_last, db.Integer("SELECT coalesce((SELECT max(rowid) FROM main._host_use) < "
                                        "(SELECT min(rowid) FROM fresh._host_use), 1)"));
  return comes_last != 0;
}

// False, or an error of kUnfit: it cannot be done this way, and nothing has changed.
Result<bool> MergeAsPages(const MergeJob& job, StagedConnection& connection) {
  TRACEDB_ASSIGN(staged, StagedChanges::Begin(job.database, {kBusyWaitMs, job.options.stop}));
  if (staged == nullptr) return false;
  // Closed after every connection to the file: closing it drops their locks.
  const Descriptor source(open(job.partial.c_str(), O_RDONLY | O_CLOEXEC));
  if (source.number < 0) return false;
  std::optional<TreeGraft> graft;
  std::vector<TreeGraft::Tree> trees;
  {
    TRACEDB_TRY(staged->Connect(connection));
    SqliteDb& db = *connection.db;
    if (job.options.stop != nullptr) db.StopWhen(*job.options.stop);
    TRACEDB_TRY(AttachFresh(db, job));
    TRACEDB_ASSIGN(page_bytes, db.Integer("PRAGMA fresh.page_size"));
    TRACEDB_ASSIGN(pages, db.Integer("PRAGMA fresh.page_count"));
    TRACEDB_ASSIGN(tables, MatchTrees(db));
    const PageSizes sizes = staged->sizes();
    if (page_bytes != sizes.usable_bytes) return false;
    const TreeGraft::Source from{source.number, static_cast<uint32_t>(pages), job.partial};
    graft.emplace(*staged, from);
    std::set<std::string> grafted;
    for (const TableTrees& table : tables) {
      TRACEDB_ASSIGN(large,
                     TreeGraft::IsLarge(from, sizes.page_bytes, table.trees.front().from_root));
      if (!large) continue;
      TRACEDB_ASSIGN(comes_last, ComesLast(db, table.table));
      if (!comes_last) continue;
      grafted.insert(table.table);
      trees.insert(trees.end(), table.trees.begin(), table.trees.end());
    }
    if (grafted.empty()) return false;
    TRACEDB_TRY(db.Execute("BEGIN"));
    TRACEDB_TRY(CopyRows(db, grafted, job));
    TRACEDB_TRY(JoinRun(db, job.id));
    TRACEDB_TRY(db.Execute("COMMIT; DETACH fresh"));
  }
  TRACEDB_TRY(graft->Add(trees));
  TRACEDB_TRY(staged->Commit());
  return true;
}

}  // namespace

Status DecideRunsAnew(SqliteDb& db, std::optional<int64_t> added) {
  TRACEDB_ASSIGN(moves, DecideRuns(db));
  for (const TraceMove& move : moves) {
    const auto go = move.trace_id == added ? MergeCollectives : MoveCollectives;
    TRACEDB_TRY(go(db, move.trace_id, move.run_id, move.capture_id));
  }
  return ForgetUnusedGroups(db);
}

Status NameRun(const std::filesystem::path& database, int64_t trace_id, const std::string& run,
               const LoadOptions& options) {
  TRACEDB_ASSIGN(db, OpenToChange(database, options));
  TRACEDB_TRY(db.Execute("BEGIN IMMEDIATE"));
  TRACEDB_ASSIGN(name, db.Prepare("UPDATE _trace SET named_run = ?2 "
                                  "WHERE trace_id = ?1 AND named_run IS NOT ?2"));
  TRACEDB_TRY(name.Bind(1, trace_id));
  TRACEDB_TRY(name.Bind(2, std::string_view(run)));
  TRACEDB_TRY(name.Run());
  TRACEDB_TRY(DecideRunsAnew(db));
  return db.Execute("COMMIT");
}

namespace {

// In a database's header, the highest byte first.
constexpr size_t kPageBytesAt = 16;  // two bytes; 1: 65,536
constexpr size_t kFreePagesAt = 36;  // four
using FileHeader = std::array<unsigned char, 40>;

int64_t NumberAt(const FileHeader& header, size_t at, size_t bytes) {
  int64_t number = 0;
  for (size_t i = at; i < at + bytes; ++i) number = number * 256 + header[i];
  return number;
}

int64_t PageBytes(const FileHeader& header) {
  const int64_t bytes = NumberAt(header, kPageBytesAt, 2);
  return bytes == 1 ? 65536 : bytes;
}

// Whether anything is worth grafting. The file's tables are where those of the empty database are,
// which it began as: a connection would have to read its schema to say so.
Result<bool> HasLargeTable(const MergeJob& job) {
  const Descriptor source(open(job.partial.c_str(), O_RDONLY | O_CLOEXEC));
  FileHeader header{};
  struct stat status {};
  if (source.number < 0) return false;
  const ssize_t got = pread(source.number, header.data(), header.size(), 0);
  if (got < 0 || fstat(source.number, &status) != 0) {
    return Error{ErrorKind::kOutput,
                 job.partial.string() + ": cannot be read: " + std::strerror(errno), ""};
  }
  if (got != ssize_t{header.size()}) return false;
  const int64_t page_bytes = PageBytes(header);
  if (page_bytes == 0) return false;
  const TreeGraft::Source from{source.number, static_cast<uint32_t>(status.st_size / page_bytes),
                               job.partial};
  for (const uint32_t root : EmptyDatabase::RootPages(LargeTables())) {
    const auto large = TreeGraft::IsLarge(from, static_cast<uint32_t>(page_bytes), root);
    if (!large.ok() && large.error().kind != ErrorKind::kUnfit) return large.error();
    if (large.ok() && large.value()) return true;
  }
  return false;
}

// Pages that traces were taken out of are used again by SQLite alone; grafted ones go to the end,
// and a database that traces come to and leave would grow for ever.
Result<bool> FitsInFreePages(const MergeJob& job) {
  const Descriptor database(open(job.database.c_str(), O_RDONLY | O_CLOEXEC));
  FileHeader header{};
  struct stat fresh {};
  if (database.number < 0 || stat(job.partial.c_str(), &fresh) != 0) return false;
  const ssize_t got = pread(database.number, header.data(), header.size(), 0);
  if (got < 0) {
    return Error{ErrorKind::kOutput,
                 job.database.string() + ": cannot be read: " + std::strerror(errno), ""};
  }
  if (got != ssize_t{header.size()}) return false;
  return NumberAt(header, kFreePagesAt, 4) * PageBytes(header) >= fresh.st_size;
}

}  // namespace

Status MergeTrace(const MergeJob& job, const MergeConnections& connections) {
  TRACEDB_ASSIGN(large, HasLargeTable(job));
  const bool grafts = large && !job.options.replace;
  TRACEDB_ASSIGN(fits, grafts ? FitsInFreePages(job) : Result<bool>(false));
  if (grafts && !fits) {
    const Result<bool> merged = MergeAsPages(job, connections.staged);
    if (merged.ok() && merged.value()) return Done{};
    connections.staged.Drop();  // with what it has seen of changes that were not made
    if (!merged.ok() && merged.error().kind != ErrorKind::kUnfit) return merged.error();
  }
  std::optional<SqliteDb>& db = connections.db;
  if (!db.has_value()) {
    TRACEDB_ASSIGN(opened, OpenToChange(job.database, job.options));
    db.emplace(std::move(opened));
  }
  Status merged = MergeThroughSqlite(job, *db);
  if (!merged.ok()) db.reset();  // with what it had begun
  return merged;
}

}  // namespace tracedb
