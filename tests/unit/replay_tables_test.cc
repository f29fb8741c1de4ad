// A connection keeps the graph that it replayed last: it must not answer for a database that has
// changed since, by whoever.
#include "tracedb/extension/replay_tables.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tracedb/schema/schema_sql.h"

namespace tracedb {
namespace {

// One activity on one stream, of 10 ns.
const char* const kOneActivity =
    "INSERT INTO _trace (trace_id, path, rank, folder, run_id, capture_id, rank_source, "
    "  file_bytes, text_bytes, events, slices, gpu_activities, skipped_events, complete, start_ns, "
    "  end_ns, first_row, last_row, first_text, last_text, text_hash, ingested_at) "
    "VALUES (1, 'a', 0, '/', 1, 1, 'chosen', 1, 1, 1, 1, 1, 0, 1, 100, 110, 1, 1, 1, 1, '', '');"
    "INSERT INTO _run VALUES (1, 'r', '/');"
    "INSERT INTO _capture VALUES (1, 1, 1);"
    "INSERT INTO _event_name VALUES (1, 'k', 'kernel', 0);"
    "INSERT INTO _track VALUES (1, 1, '0', '7', 0, 7, 0, 0);"
    "INSERT INTO _gpu_slice (id, track, event_name, ts, dur, kind) VALUES (1, 1, 1, 100, 10, 0)";

int64_t ComputeNs(SqliteDb& db) {
  const auto found =
      db.Integer("SELECT sum(dur_ns) FROM replay_path(1, '[]') WHERE kind = 'compute'");
  EXPECT_TRUE(found.ok()) << found.error().what;
  return found.ok() ? found.value() : -1;
}

TEST(ReplayTables, a_database_that_has_changed_is_replayed_anew) {
  const auto path =
      std::filesystem::temp_directory_path() / ("tracedb-replay-" + std::to_string(getpid()));
  auto opened = SqliteDb::Open(path, SqliteMode::kCreate);
  ASSERT_TRUE(opened.ok());
  SqliteDb& db = opened.value();
  ASSERT_TRUE(db.Execute(TablesSql() + ViewsSql()).ok());
  const auto filled = db.Execute(kOneActivity);
  ASSERT_TRUE(filled.ok()) << filled.error().what;
  ASSERT_TRUE(RegisterReplayTables(db).ok());
  EXPECT_EQ(ComputeNs(db), 10);
  EXPECT_EQ(ComputeNs(db), 10);

  ASSERT_TRUE(db.Execute("UPDATE _gpu_slice SET dur = 11").ok());
  EXPECT_EQ(ComputeNs(db), 11);

  auto other = SqliteDb::Open(path, SqliteMode::kReadWrite);
  ASSERT_TRUE(other.value().Execute("UPDATE _gpu_slice SET dur = 12").ok());
  EXPECT_EQ(ComputeNs(db), 12);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tracedb
