#include "ingest/load/database_merge.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ingest/load/open_to_change.h"
#include "ingest/load/table_copy.h"
#include "ingest/load/trace_tables.h"
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
  for (const char* table :
       {"_launch", "_call_path", "_event_name", "_args_text", "_busy_segment"}) {
    tables.emplace_back(table);
  }
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

std::string LargeTablesSql(const char* file) {
  std::string names;
  for (const std::string& table : LargeTables()) names += ", '" + table + "'";
  return "SELECT type = 'index' OR sql LIKE '%WITHOUT ROWID%', rootpage, name, coalesce(sql, '') "
         "FROM " +
         std::string(file) + ".sqlite_schema WHERE type IN ('table', 'index') AND tbl_name IN (" +
         names.substr(2) + ") ORDER BY tbl_name, type DESC, name";
}

// The trees of the large tables in both files. None where these are not alike, or are to be seen as
// rows come: users may have indexes, columns and triggers of their own, and SQLite honours these.
Result<std::vector<TreeGraft::Tree>> MatchTrees(SqliteDb& db) {
  std::vector<TreeGraft::Tree> trees;
  TRACEDB_ASSIGN(triggers, db.Integer("SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE "
                                      "type = 'trigger')"));
  if (triggers != 0) return trees;
  TRACEDB_ASSIGN(ours, db.Prepare(LargeTablesSql("fresh")));
  TRACEDB_ASSIGN(theirs, db.Prepare(LargeTablesSql("main")));
  for (;;) {
    TRACEDB_ASSIGN(one, ours.Step());
    TRACEDB_ASSIGN(other, theirs.Step());
    if (!one && !other) return trees;
    if (one != other || ours.Text(2) != theirs.Text(2) || ours.Text(3) != theirs.Text(3)) {
      return std::vector<TreeGraft::Tree>();
    }
    trees.push_back({ours.Int(0) == 1, static_cast<uint32_t>(ours.Int(1)),
                     static_cast<uint32_t>(theirs.Int(1))});
  }
}

struct OpenFile {
  int file;
  ~OpenFile() {
    if (file >= 0) close(file);
  }
};

// False: it cannot be done this way, and nothing has changed. After an error, of kUnfit in the same
// case, `to` must be closed.
Result<bool> MergeAsPages(const MergeJob& job, StageableDb& to) {
  const OpenFile source{open(job.partial.c_str(), O_RDONLY | O_CLOEXEC)};
  if (source.file < 0) return false;
  SqliteDb& db = to.db();
  TRACEDB_TRY(AttachFresh(db, job));
  TRACEDB_ASSIGN(page_bytes, db.Integer("PRAGMA fresh.page_size"));
  TRACEDB_ASSIGN(pages, db.Integer("PRAGMA fresh.page_count"));
  // SQLite has emptied its cache when most of the pages come.
  const size_t cache_bytes = static_cast<size_t>(job.options.limits.sqlite_cache_kib) * 1024;
  TRACEDB_ASSIGN(staged,
                 StagedChanges::Begin(to, {kBusyWaitMs, job.options.stop, cache_bytes / 2}));
  std::vector<TreeGraft::Tree> trees;
  if (staged != nullptr && page_bytes == staged->sizes().usable_bytes) {
    TRACEDB_ASSIGN(found, MatchTrees(db));
    trees = std::move(found);
  }
  if (trees.empty()) {
    if (staged != nullptr) TRACEDB_TRY(db.Execute("ROLLBACK"));
    staged.reset();
    TRACEDB_TRY(db.Execute("DETACH fresh"));
    return false;
  }
  const std::vector<std::string> large = LargeTables();
  TRACEDB_TRY(CopyRows(db, {large.begin(), large.end()}, job));
  TRACEDB_TRY(JoinRun(db, job.id));
  TRACEDB_TRY(db.Execute("COMMIT; DETACH fresh; PRAGMA shrink_memory"));
  TreeGraft graft(*staged, {source.file, static_cast<uint32_t>(pages), job.partial});
  TRACEDB_TRY(graft.Add(trees));
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
using FileHeader = std::array<unsigned char, 18>;

int64_t PageBytes(const FileHeader& header) {
  const int64_t bytes = header[kPageBytesAt] * 256 + header[kPageBytesAt + 1];
  return bytes == 1 ? 65536 : bytes;
}

// Whether anything is worth grafting. The file's tables are where those of the empty database are,
// which it began as: a connection would have to read its schema to say so.
Result<bool> HasLargeTable(const MergeJob& job) {
  const OpenFile source{open(job.partial.c_str(), O_RDONLY | O_CLOEXEC)};
  FileHeader header{};
  struct stat status {};
  if (source.file < 0) return false;
  const ssize_t got = pread(source.file, header.data(), header.size(), 0);
  if (got < 0 || fstat(source.file, &status) != 0) {
    return Error{ErrorKind::kOutput,
                 job.partial.string() + ": cannot be read: " + std::strerror(errno), ""};
  }
  if (got != ssize_t{header.size()}) return false;
  const int64_t page_bytes = PageBytes(header);
  if (page_bytes == 0) return false;
  const TreeGraft::Source from{source.file, static_cast<uint32_t>(status.st_size / page_bytes),
                               job.partial};
  for (const uint32_t root : EmptyDatabase::RootPages(LargeTables())) {
    const auto large = TreeGraft::HasLeaves(from, static_cast<uint32_t>(page_bytes), root);
    if (!large.ok() && large.error().kind != ErrorKind::kUnfit) return large.error();
    if (large.ok() && large.value()) return true;
  }
  return false;
}

// Pages that traces were taken out of are used again by SQLite alone; grafted ones go to the end,
// and a database that traces come to and leave would grow for ever.
Result<bool> FitsInFreePages(SqliteDb& db, const MergeJob& job) {
  struct stat fresh {};
  if (stat(job.partial.c_str(), &fresh) != 0) return false;
  TRACEDB_ASSIGN(pages, db.Integer("PRAGMA main.freelist_count"));
  TRACEDB_ASSIGN(page_bytes, db.Integer("PRAGMA main.page_size"));
  return pages * page_bytes >= fresh.st_size;
}

}  // namespace

Status MergeTrace(const MergeJob& job, std::optional<StageableDb>& to) {
  const auto connect = [&]() -> Status {
    TRACEDB_ASSIGN(opened, OpenToStage(job.database, job.options));
    to.emplace(std::move(opened));
    return Done{};
  };
  if (!to.has_value()) TRACEDB_TRY(connect());
  TRACEDB_ASSIGN(large, HasLargeTable(job));
  const bool grafts = large && !job.options.replace;
  TRACEDB_ASSIGN(fits, grafts ? FitsInFreePages(to->db(), job) : Result<bool>(false));
  if (grafts && !fits) {
    const Result<bool> merged = MergeAsPages(job, *to);
    if (merged.ok() && merged.value()) return Done{};
    if (!merged.ok()) {
      to.reset();
      if (merged.error().kind != ErrorKind::kUnfit) return merged.error();
      TRACEDB_TRY(connect());
    }
  }
  Status merged = MergeThroughSqlite(job, to->db());
  if (!merged.ok()) to.reset();  // with what it had begun
  return merged;
}

}  // namespace tracedb
