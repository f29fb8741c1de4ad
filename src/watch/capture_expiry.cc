#include "watch/capture_expiry.h"

#include <optional>
#include <system_error>
#include <vector>

#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_removal.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyWaitMs = 60'000;

// Times of a trace without a base are no dates; of these it counts when they were loaded.
constexpr const char* kOldestSql =
    "SELECT c.capture_id, c.run, c.capture, unixepoch() - iif(count(t.base_time_ns) = count(*), "
    "  max(t.end_ns) / 1000000000, max(unixepoch(t.ingested_at))) AS age_s, "
    "  (SELECT count(*) FROM captures) "
    "FROM captures c JOIN traces t ON t.capture_id = c.capture_id "
    "GROUP BY c.capture_id ORDER BY age_s DESC, c.capture_id LIMIT 1";

// Files that show how a run's graphs were captured are of no capture of the profiler, and are
// needed by all that replay them: they go with the last of these; of no run, with what came after
// them.
constexpr const char* kGraphFilesSql =
    "SELECT g.trace_id FROM _trace g WHERE g.is_graph_capture AND (g.run_id IS NULL AND "
    "g.trace_id < ?1 OR g.run_id IN (SELECT run_id FROM _trace WHERE capture_id = ?1 "
    "AND NOT is_graph_capture) AND NOT EXISTS (SELECT 1 FROM _trace o WHERE "
    "o.run_id = g.run_id AND NOT o.is_graph_capture AND o.capture_id <> ?1))";

struct Oldest {
  int64_t capture_id = 0;
  ExpiredCapture shown;
  std::chrono::seconds age{0};
  std::vector<int64_t> trace_ids;
};

bool IsThere(const fs::path& database) {
  std::error_code error;
  return fs::exists(database, error) && fs::file_size(database, error) > 0 && !error;
}

Result<SqliteDb> Open(const WatchOptions& options, const LoadOptions& load) {
  // To read: a file that was open for writing is an event when it is closed, and the database may
  // lie in the folder that is watched.
  TRACEDB_ASSIGN(db, SqliteDb::Open(options.database, SqliteMode::kReadOnly));
  db.SetBusyTimeout(kBusyWaitMs, load.stop);
  if (load.stop != nullptr) db.StopWhen(*load.stop);
  return db;
}

Status AddIds(SqliteStatement& rows, int64_t capture_id, std::vector<int64_t>& ids) {
  TRACEDB_TRY(rows.Bind(1, capture_id));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return Done{};
    ids.push_back(rows.Int(0));
  }
}

// None: there is but one.
Result<std::optional<Oldest>> FindOldest(SqliteDb& db) {
  TRACEDB_ASSIGN(rows, db.Prepare(kOldestSql));
  TRACEDB_ASSIGN(found, rows.Step());
  if (!found || rows.Int(4) < 2) return std::optional<Oldest>();
  Oldest oldest;
  oldest.capture_id = rows.Int(0);
  oldest.shown.run = rows.Text(1);
  oldest.shown.capture = rows.Int(2);
  oldest.age = std::chrono::seconds(rows.Int(3));
  TRACEDB_ASSIGN(traces, db.Prepare("SELECT trace_id FROM traces WHERE capture_id = ?1"));
  TRACEDB_TRY(AddIds(traces, oldest.capture_id, oldest.trace_ids));
  oldest.shown.traces = static_cast<int64_t>(oldest.trace_ids.size());
  TRACEDB_ASSIGN(graphs, db.Prepare(kGraphFilesSql));
  TRACEDB_TRY(AddIds(graphs, oldest.capture_id, oldest.trace_ids));
  return std::optional(std::move(oldest));
}

Result<int64_t> UsedBytes(SqliteDb& db) {
  return db.Integer(
      "SELECT (page_count - freelist_count) * page_size "
      "FROM pragma_page_count, pragma_freelist_count, pragma_page_size");
}

// The capture to take out next; none: nothing is old, or it is the last.
Result<std::optional<Oldest>> NextToExpire(const WatchOptions& options, const LoadOptions& load,
                                           Expiry& expiry) {
  TRACEDB_ASSIGN(db, Open(options, load));
  TRACEDB_ASSIGN(bytes, UsedBytes(db));
  const bool is_large = options.keep_bytes > 0 && bytes > options.keep_bytes;
  const bool has_age = options.keep_time > std::chrono::seconds(0);
  if (!is_large && !has_age) return std::optional<Oldest>();
  TRACEDB_ASSIGN(oldest, FindOldest(db));
  expiry.is_still_large = is_large && !oldest.has_value();
  if (!oldest.has_value()) return std::optional<Oldest>();
  const bool is_old = has_age && oldest->age > options.keep_time;
  return is_large || is_old ? std::move(oldest) : std::optional<Oldest>();
}

}  // namespace

Result<Expiry> ExpireCaptures(const WatchOptions& options, const LoadOptions& load) {
  Expiry expiry;
  if (options.keep_bytes == 0 && options.keep_time == std::chrono::seconds(0)) return expiry;
  if (!IsThere(options.database)) return expiry;
  for (;; expiry.any = true) {
    TRACEDB_ASSIGN(oldest, NextToExpire(options, load, expiry));
    if (!oldest.has_value()) return expiry;
    TRACEDB_TRY(RemoveTraces(options.database, oldest->trace_ids, RemovalReason::kExpired, load));
    TRACEDB_TRY(options.on_expired(oldest->shown));
  }
}

Result<bool> RemoveOutdated(const WatchOptions& options,
                            const std::function<uint64_t(const fs::path&)>& bytes_of,
                            const LoadOptions& load) {
  if (!IsThere(options.database)) return false;
  std::vector<int64_t> outdated;
  {
    TRACEDB_ASSIGN(db, Open(options, load));
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT trace_id, path, file_bytes FROM traces t "
                                    "WHERE NOT complete AND EXISTS (SELECT 1 FROM traces n "
                                    "WHERE n.path = t.path AND n.trace_id > t.trace_id)"));
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) break;
      const uint64_t bytes = bytes_of(fs::path(rows.Text(1)));
      if (bytes != 0 && bytes != static_cast<uint64_t>(rows.Int(2)))
        outdated.push_back(rows.Int(0));
    }
  }
  if (outdated.empty()) return false;
  TRACEDB_TRY(RemoveTraces(options.database, outdated, RemovalReason::kReplaced, load));
  return true;
}

}  // namespace tracedb
