#include "tracedb/query/run/query_command.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "query_fixture.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/schema/database_id.h"

namespace tracedb {
namespace {

const std::vector<QueryText> kQueries = {
    {"busy.sql",
     "-- title: Busy time\n-- param: least int(id) = 0 Lowest rank.\n-- column: rank int(id) R.\n"
     "-- column: busy_ms real(ms) B.\n-- empty: No rank is that high.\n"
     "SELECT rank, busy_ms FROM t WHERE rank >= :least ORDER BY rank;\n"},
    {"names.sql", "-- title: Names\nSELECT name FROM t"}};

class QueryCommand : public testing::Test {
 protected:
  QueryCommand() : catalog_(QueryCatalog::Load(kQueries).value()) {
    options_.database = folder_.path() / "trace.db";
    options_.output = folder_.path() / "out.txt";
    auto db = SqliteDb::Open(options_.database, SqliteMode::kCreate);
    FillTestDatabase(db.value());
    EXPECT_TRUE(Mark(db.value(), kApplicationId, kSchemaVersion).ok());
  }

  static Status Mark(SqliteDb& db, int32_t id, int32_t version) {
    return db.Execute("PRAGMA application_id = " + std::to_string(id) +
                      "; PRAGMA user_version = " + std::to_string(version));
  }

  Result<QueryOutcome> Outcome() { return RunQueryCommand(options_, catalog_); }

  std::string Written() const {
    std::ifstream file(options_.output, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // What the database's own trouble is called, without its path.
  std::string DatabaseError() {
    options_.command = "SELECT 1";
    auto outcome = Outcome();
    if (outcome.ok()) return "";
    EXPECT_EQ(outcome.error().kind, ErrorKind::kInput);
    const std::string path = options_.database.string() + ": ";
    EXPECT_TRUE(outcome.error().what.starts_with(path)) << outcome.error().what;
    return outcome.error().what.substr(path.size());
  }

  TemporaryFolder folder_;
  QueryCatalog catalog_;
  QueryOptions options_;
};

TEST_F(QueryCommand, RunsACannedQueryByEitherName) {
  for (std::string_view name : {"busy", "busy.sql"}) {
    options_.source = name;
    options_.params = {"least=1"};
    auto outcome = Outcome();
    ASSERT_TRUE(outcome.ok()) << outcome.error().what;
    EXPECT_EQ(Written(), "rank,busy_ms\n1,2.25\n2,\n");
    EXPECT_EQ(outcome.value().rows, 2);
    EXPECT_EQ(outcome.value().note, "");
  }
}

TEST_F(QueryCommand, RunsAFile) {
  options_.source = folder_.path() / "mine.sql";
  std::ofstream(options_.source) << "SELECT count(*) AS n FROM t;\n";
  options_.format = Format::kNdjson;
  ASSERT_TRUE(Outcome().ok());
  EXPECT_EQ(Written(), "{\"n\":3}\n");
}

TEST_F(QueryCommand, RunsACommand) {
  options_.command = "SELECT 1 AS a; SELECT 2 AS b";
  options_.header = false;
  ASSERT_TRUE(Outcome().ok());
  EXPECT_EQ(Written(), "1\n\n2\n");
}

TEST_F(QueryCommand, ListsTheQueries) {
  options_.database = "/nowhere";
  ASSERT_TRUE(Outcome().ok());
  EXPECT_EQ(Written(), "query,title\nbusy,Busy time\nnames,Names\n");
}

TEST_F(QueryCommand, ExplainNeedsNoDatabase) {
  options_.database = "/nowhere";
  options_.source = "busy";
  options_.explain = true;
  ASSERT_TRUE(Outcome().ok());
  EXPECT_TRUE(Written().starts_with("busy: Busy time\n")) << Written();
  EXPECT_TRUE(Written().ends_with("ORDER BY rank;\n"));
}

TEST_F(QueryCommand, NotesAnEmptyResultUnlessQuiet) {
  options_.source = "busy";
  options_.params = {"least=9"};
  EXPECT_EQ(Outcome().value().note, "No rank is that high.");
  options_.quiet = true;
  EXPECT_EQ(Outcome().value().note, "");
}

TEST_F(QueryCommand, AFailedQueryLeavesTheOldFile) {
  std::ofstream(options_.output) << "old";
  options_.command = "SELECT json_extract(name, '$') FROM t ORDER BY rank";  // fails while it runs
  EXPECT_FALSE(Outcome().ok());
  EXPECT_EQ(Written(), "old");
  options_.command = "SELECT absent";
  EXPECT_FALSE(Outcome().ok());
  EXPECT_EQ(Written(), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2);
}

TEST_F(QueryCommand, AnAssertionThatFailsStillWritesTheFile) {
  options_.source = "busy";
  options_.assert_expression = "rank < 2";
  EXPECT_EQ(Outcome().error().kind, ErrorKind::kAssert);
  EXPECT_EQ(Written(), "rank,busy_ms\n0,1.5\n1,2.25\n2,\n");
}

TEST_F(QueryCommand, CallsItsHooks) {
  std::string calls;
  options_.on_open = [&](SqliteDb& db) {
    calls += "open ";
    return db.Integer("SELECT 1").ok() ? Status(Done{}) : Status(Error{});
  };
  options_.on_close = [&] { calls += "close "; };
  options_.command = "SELECT 1";
  EXPECT_TRUE(Outcome().ok());
  options_.command = "SELECT absent";
  EXPECT_FALSE(Outcome().ok());
  EXPECT_EQ(calls, "open close open close ");
}

TEST_F(QueryCommand, WrongUsage) {
  const auto usage = [&](const QueryOptions& options) {
    auto outcome = RunQueryCommand(options, catalog_);
    EXPECT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().kind, ErrorKind::kUsage);
    return outcome.error();
  };
  QueryOptions options = options_;
  options.source = "bussy";
  EXPECT_EQ(usage(options).advice, "did you mean busy? all are listed by: tracedb query");
  options.source = "none.sql";
  EXPECT_EQ(usage(options).what, "none.sql: there is no such file, nor a query of that name");
  options.source = "no/such.sql";
  EXPECT_EQ(usage(options).what, "no/such.sql: there is no such file, nor a query of that name");
  options.source = "SELECT 1";
  EXPECT_EQ(usage(options).advice, "SQL text is given with -c: tracedb query -c \"SELECT ...\"");
  options.command = "SELECT 1";
  EXPECT_EQ(usage(options).what, "both a query ('SELECT 1') and --command are given");
  options.source.clear();
  options.explain = true;
  EXPECT_EQ(usage(options).what, "--explain needs a query");
  options = options_;
  options.assert_expression = "1";
  EXPECT_EQ(usage(options).what, "--param and --assert need a query");
}

TEST_F(QueryCommand, AFileThatIsNoDatabaseOfOurs) {
  EXPECT_EQ(DatabaseError(), "");
  options_.database = folder_.path() / "none.db";
  EXPECT_EQ(DatabaseError(), "there is no such database");
  EXPECT_EQ(Outcome().error().advice,
            "make it with: tracedb ingest FILE...; or name another with --db");
  std::ofstream(options_.database).flush();
  EXPECT_EQ(DatabaseError(), "this file is empty, not a database");
  std::ofstream(options_.database) << std::string(4096, 'x');
  EXPECT_EQ(DatabaseError(), "this file is not a SQLite database");
  options_.database = folder_.path();
  EXPECT_EQ(DatabaseError(), "this is a folder, not a database");
}

TEST_F(QueryCommand, ADatabaseWithOtherMarks) {
  auto db = SqliteDb::Open(options_.database, SqliteMode::kReadWrite);
  ASSERT_TRUE(Mark(db.value(), 7, 1).ok());
  EXPECT_EQ(DatabaseError(), "this SQLite database was not made by tracedb");
  const std::string ours = "tracedb 0.2.0 reads " + std::to_string(kSchemaVersion) + ")";
  ASSERT_TRUE(Mark(db.value(), kApplicationId, 999).ok());
  EXPECT_EQ(DatabaseError(), "made by a newer tracedb (schema 999; " + ours);
  ASSERT_TRUE(Mark(db.value(), kApplicationId, 0).ok());
  EXPECT_EQ(DatabaseError(), "made by an older tracedb (schema 0; " + ours);
}

TEST_F(QueryCommand, ALockedDatabaseIsAnErrorInTheEnd) {
  auto db = SqliteDb::Open(options_.database, SqliteMode::kReadWrite);
  ASSERT_TRUE(db.value().Execute("BEGIN EXCLUSIVE").ok());
  auto opened = OpenTraceDatabase(options_.database, 20);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().what, options_.database.string() + ": database is locked");
  EXPECT_EQ(opened.error().kind, ErrorKind::kInput);
}

}  // namespace
}  // namespace tracedb
