// Who asks for the parts of a page does not matter to the page, and there is one graph of the job.
#include "report/report_parts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "report/shown_scale.h"
#include "tracedb/extension/replay_tables.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/schema/schema_sql.h"

namespace tracedb {
namespace {

// A kernel of 10 ns, and its step.
constexpr const char* kOneActivity =
    "INSERT INTO _trace (trace_id, path, rank, folder, run_id, capture_id, rank_source, "
    "  file_bytes, text_bytes, events, slices, gpu_activities, skipped_events, complete, start_ns, "
    "  end_ns, first_row, last_row, first_text, last_text, text_hash, ingested_at) "
    "VALUES (1, 'a', 0, '/', 1, 1, 'chosen', 1, 1, 2, 2, 1, 0, 1, 100, 110, 1, 2, 1, 2, '', '');"
    "INSERT INTO _run VALUES (1, 'r', '/');"
    "INSERT INTO _capture VALUES (1, 1, 1);"
    "INSERT INTO _event_name VALUES (1, 'k', 'kernel', 0), (2, 'ProfilerStep#1', "
    "'user_annotation', "
    "  0);"
    "INSERT INTO _track VALUES (1, 1, '0', '7', 0, 7, 0, 0), (2, 1, '9', '9', NULL, NULL, 0, 0);"
    "INSERT INTO _gpu_slice (id, track, event_name, ts, dur, kind) VALUES (1, 1, 1, 100, 10, 0);"
    "INSERT INTO _cpu_slice (id, track, event_name, ts, dur) VALUES (2, 2, 2, 100, 9);"
    "INSERT INTO _step VALUES (2, 2, 1, 100, 9);";

const std::string kReplayed =
    "-- title: T\n-- column: step int(count) S.\n-- column: ms real(ms) M.\n"
    "SELECT s.step, s.dur_ns / 1e6 AS ms FROM captures c CROSS JOIN ";
// 400 rows of 2,000 bytes: one of them takes all that such parts share.
const std::string kLong =
    "-- title: T\n-- column: a text A.\n-- column: b text B.\n-- column: c text C.\n"
    "-- column: d text D.\nWITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
    "WHERE i < 400) SELECT printf('%0500d', i) AS a, printf('%0500d', i) AS b, "
    "printf('%0500d', i) AS c, printf('%0500d', i) AS d FROM n";

Result<QueryCatalog> Queries() {
  static const std::string steps = kReplayed + "replay_steps(c.capture_id, '[]') s";
  static const std::string line = kReplayed + "replay_line(c.capture_id, '[]') s";
  static const std::vector<QueryText> queries = {
      {"recommendations.sql", steps},  {"report/path_line.sql", line},
      {"step_times.sql", kLong},       {"nccl_bandwidth.sql", kLong},
      {"report/rank_grid.sql", kLong}, {"report/recorded.sql", kLong}};
  return QueryCatalog::Load(queries);
}

struct TwoConnections {
  TwoConnections()
      : path(std::filesystem::temp_directory_path() /
             ("tracedb-parts-" + std::to_string(getpid()))),
        db(SqliteDb::Open(path, SqliteMode::kCreate)),
        other(SqliteDb::Open(path, SqliteMode::kReadWrite)) {}
  ~TwoConnections() { std::filesystem::remove(path); }

  std::filesystem::path path;
  Result<SqliteDb> db, other;
};

// The other connections know no replay: a part that replays would fail there.
TEST(ReportParts, one_connection_replays_and_others_do_not_change_the_page) {
  TwoConnections connections;
  ASSERT_TRUE(connections.db.ok());
  SqliteDb& db = connections.db.value();
  ASSERT_TRUE(db.Execute("PRAGMA synchronous = OFF;" + TablesSql() + ViewsSql()).ok());
  const auto filled = db.Execute(kOneActivity);
  ASSERT_TRUE(filled.ok()) << filled.error().what;
  ASSERT_TRUE(RegisterReplayTables(db).ok());

  const auto catalog = Queries();
  ASSERT_TRUE(catalog.ok()) << catalog.error().what;
  const ReportOptions options;
  ReportScale scale;
  scale.run.name = "r";
  const auto alone = RunParts(db, {}, catalog.value(), options, scale);
  ASSERT_TRUE(alone.ok()) << alone.error().what;
  const auto both = RunParts(db, {&connections.other.value(), 1}, catalog.value(), options, scale);
  ASSERT_TRUE(both.ok()) << both.error().what;
  EXPECT_EQ(alone.value().failed, std::vector<std::string>());
  EXPECT_EQ(both.value().failed, std::vector<std::string>());
  EXPECT_EQ(alone.value().json, both.value().json);
  std::vector<SqliteDb> others;
  for (int i = 0; i < 3; ++i) {
    auto opened = SqliteDb::Open(connections.path, SqliteMode::kReadWrite);
    ASSERT_TRUE(opened.ok());
    others.push_back(std::move(opened.value()));
  }
  const auto four = RunParts(db, others, catalog.value(), options, scale);
  ASSERT_TRUE(four.ok()) << four.error().what;
  EXPECT_EQ(alone.value().json, four.value().json);
  const std::string& steps = both.value().json.at("recommendations");
  EXPECT_NE(steps.find("\"values\":[1]"), std::string::npos) << steps;
  const std::string& line = both.value().json.at("report/path_line");
  EXPECT_NE(line.find("\"values\":[1]"), std::string::npos) << line;
}

// Parts without a bound of their own are asked in any order, and cut in that of the page.
TEST(ReportParts, what_parts_share_goes_to_the_first_of_the_page) {
  TwoConnections connections;
  ASSERT_TRUE(connections.db.ok());
  SqliteDb& db = connections.db.value();
  ASSERT_TRUE(db.Execute("PRAGMA synchronous = OFF;" + TablesSql() + ViewsSql()).ok());
  ASSERT_TRUE(db.Execute(kOneActivity).ok());
  ASSERT_TRUE(RegisterReplayTables(db).ok());
  const auto catalog = Queries();
  const auto parts = RunParts(db, {&connections.other.value(), 1}, catalog.value(), ReportOptions{},
                              ReportScale{});
  ASSERT_TRUE(parts.ok()) << parts.error().what;
  const auto& json = parts.value().json;
  // Whichever was asked first; the rows of report/recorded and recommendations count as well.
  EXPECT_NE(json.at("step_times").find("\"rows\":345,\"rows_found\":400"), std::string::npos);
  EXPECT_NE(json.at("nccl_bandwidth").find("\"rows\":1,\"rows_found\":400"), std::string::npos);
  EXPECT_LT(json.at("report/rank_grid").size(), 260'000U);  // a bound of its own
}

}  // namespace
}  // namespace tracedb
