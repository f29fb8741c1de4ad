#include "ingest/load/database_merge.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "ingest/load/merged_rows.h"
#include "ingest/load/open_to_change.h"
#include "ingest/load/page_merge.h"
#include "ingest/load/table_copy.h"
#include "tracedb/base/descriptor.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_removal.h"
#include "tracedb/pages/tree_graft.h"
#include "tracedb/schema/empty_database.h"

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

Status MergeThroughSqlite(const MergeJob& job, SqliteDb& db) {
  TRACEDB_ASSIGN(tables, ReadTables(db));
  TRACEDB_TRY(HonourForeignKeys(db));
  TRACEDB_TRY(AttachFresh(db, job));
  TRACEDB_TRY(db.Execute("BEGIN IMMEDIATE"));
  if (job.options.replace) {
    TRACEDB_ASSIGN(outdated, Outdated(db, job));
    TRACEDB_TRY(TakeOutTraces(db, outdated));
  }
  TRACEDB_TRY(MergeRows(db, {}, tables, job));
  return db.Execute("COMMIT");
}

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

// Whether any table is worth more than SQLite's inserting. The file's tables are where those of the
// empty database are, which it began as: a connection would have to read its schema to say so.
Result<bool> IsWorthPages(const MergeJob& job) {
  constexpr uint32_t kLeavesMin = 2;
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
  for (const uint32_t root : EmptyDatabase::RootPages(EventRowTables())) {
    const auto worth =
        TreeGraft::HasLeaves(from, static_cast<uint32_t>(page_bytes), root, kLeavesMin);
    if (!worth.ok() && worth.error().kind != ErrorKind::kUnfit) return worth.error();
    if (worth.ok() && worth.value()) return true;
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

namespace {

// An error of kUnfit, or false: it cannot be done this way, and nothing has changed.
Result<bool> MergeAsPages(const std::vector<MergeJob>& jobs, StagedConnection& connection) {
  const MergeJob& first = jobs.front();
  TRACEDB_ASSIGN(merge, PageMerge::Begin(first.database, first.options, connection));
  if (merge == nullptr) return false;
  for (const MergeJob& job : jobs) {
    TRACEDB_ASSIGN(added, merge->Add(job));
    if (!added) return false;
  }
  TRACEDB_TRY(merge->Commit());
  return true;
}

}  // namespace

Result<bool> GoesAsPages(const MergeJob& job) {
  if (job.options.replace) return false;
  TRACEDB_ASSIGN(worth, IsWorthPages(job));
  if (!worth) return false;
  TRACEDB_ASSIGN(fits, FitsInFreePages(job));
  return !fits;
}

Result<bool> MergeTraces(const std::vector<MergeJob>& jobs, StagedConnection& connection) {
  Result<bool> merged = RunCaught([&] { return MergeAsPages(jobs, connection); });
  if (merged.ok() && merged.value()) {
    if (!connection.LeaveChanges().ok()) connection.Drop();
    return merged;
  }
  connection.Drop();  // with what it has seen of changes that were not made
  if (!merged.ok() && merged.error().kind == ErrorKind::kUnfit) return false;
  return merged;
}

Status MergeTrace(const MergeJob& job, StagedConnection& connection) {
  TRACEDB_ASSIGN(as_pages, GoesAsPages(job));
  if (as_pages) {
    TRACEDB_ASSIGN(added, MergeTraces({job}, connection));
    if (added) return Done{};
  }
  if (!connection.db.has_value()) {
    TRACEDB_TRY(OpenToChange(job.database, job.options, connection));
  }
  Status merged = RunCaught([&] { return MergeThroughSqlite(job, *connection.db); });
  const bool is_free = merged.ok() && connection.db->Execute("DETACH fresh").ok();
  if (!is_free) connection.Drop();  // with what it had begun, or still has
  return merged;
}

}  // namespace tracedb
