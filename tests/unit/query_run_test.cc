#include "tracedb/query/run/query_run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "query_fixture.h"

namespace tracedb {
namespace {

struct Ran {
  std::string text;  // the CSV that was written, also before an error
  bool ok = false;
  Error error;
  QueryOutcome outcome;
};

Ran RunSql(std::string_view sql, const QueryInputs& inputs = {},
           std::optional<int64_t> rows_max = std::nullopt) {
  SqliteDb db = TestDatabase();
  Ran ran;
  auto doc = ParseQueryDoc("q.sql", sql);
  EXPECT_TRUE(doc.ok());
  auto query = PreparedQuery::Prepare(db, doc.value(), inputs);
  if (!query.ok()) {
    ran.error = query.error();
    return ran;
  }
  StringOutput output;
  const auto sink = MakeSink(Format::kCsv, {}, output);
  auto outcome = query.value().Run(*sink, rows_max);
  EXPECT_TRUE(output.Flush().ok());
  ran.text = output.text();
  ran.ok = outcome.ok();
  if (outcome.ok()) {
    ran.outcome = outcome.value();
  } else {
    ran.error = outcome.error();
  }
  return ran;
}

TEST(QueryRun, HandsOverRowsInOrder) {
  const Ran ran = RunSql("SELECT * FROM t ORDER BY rank");
  EXPECT_TRUE(ran.ok);
  EXPECT_EQ(ran.text, "rank,name,busy_ms\n0,gemm,1.5\n1,\"all, reduce\",2.25\n2,,\n");
  EXPECT_EQ(ran.outcome.rows, 3);
}

TEST(QueryRun, SeveralStatementsGiveSeveralResults) {
  const Ran ran = RunSql(
      "; SELECT 1 AS a; -- remark\n/* ; */ ;SELECT ';' AS b WHERE 0;\n SELECT 3 AS c -- end");
  EXPECT_EQ(ran.text, "a\n1\n\nb\n\nc\n3\n");
  EXPECT_EQ(ran.outcome.rows, 2);
}

TEST(QueryRun, NothingRunsWhenALaterStatementIsWrong) {
  const Ran ran = RunSql("SELECT 1;\nSELECT\n  absent FROM t;");
  EXPECT_EQ(ran.text, "");
  EXPECT_EQ(ran.error.what, "q.sql:3: no such column: absent");
  EXPECT_EQ(ran.error.kind, ErrorKind::kQuery);
}

TEST(QueryRun, ErrorLinesCountTheHeader) {
  EXPECT_EQ(RunSql("-- title: Q\n-- column: n text N.\n\nSELECT absent").error.what,
            "q.sql:4: no such column: absent");
}

TEST(QueryRun, TextWithoutSqlIsAnError) {
  EXPECT_EQ(RunSql(" -- nothing\n;").error.what, "q.sql: there is no SQL in it");
  EXPECT_EQ(RunSql(std::string("SELECT 1;\n\0SELECT 2", 19)).error.what,
            "q.sql:2: a zero byte: this is no SQL text");
  EXPECT_EQ(RunSql(".mode csv").error.advice, "commands with a dot belong to the sqlite3 shell");
}

TEST(QueryRun, RowsMaxCuts) {
  const Ran ran = RunSql("SELECT rank FROM t ORDER BY 1; SELECT 9", {}, 2);
  EXPECT_EQ(ran.text, "rank\n0\n1\n");
  EXPECT_TRUE(ran.outcome.cut);
  EXPECT_FALSE(RunSql("SELECT rank FROM t", {}, 3).outcome.cut);
}

struct Refusal {
  std::string_view sql;
  std::string_view what;  // between the line and ": tracedb query only reads"
};

class QueryRunRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(QueryRunRefusals, SayWhatItIs) {
  // Behind a good one: that must not run either.
  const Ran ran = RunSql("SELECT 1;" + std::string(GetParam().sql));
  EXPECT_EQ(ran.text, "");
  EXPECT_EQ(ran.error.what,
            "q.sql:1: " + std::string(GetParam().what) + ": tracedb query only reads");
  EXPECT_EQ(ran.error.advice, "to change the database, open it with the sqlite3 shell");
}

INSTANTIATE_TEST_SUITE_P(
    All, QueryRunRefusals,
    testing::Values(
        Refusal{"INSERT INTO t VALUES (1, 'x', 2)", "INSERT is not reading"},
        Refusal{"/* a */ insert INTO t VALUES (1, 'x', 2)", "INSERT is not reading"},
        Refusal{"REPLACE INTO t VALUES (1, 'x', 2)", "REPLACE is not reading"},
        Refusal{"UPDATE t SET rank = 1", "UPDATE is not reading"},
        Refusal{"WITH a AS (SELECT 1) DELETE FROM t", "DELETE is not reading"},
        Refusal{"WITH a(\"select\") AS (SELECT 1), b AS MATERIALIZED (SELECT ')') DELETE FROM t",
                "DELETE is not reading"},
        Refusal{"EXPLAIN QUERY PLAN DELETE FROM t", "DELETE is not reading"},
        Refusal{"CREATE TEMP TABLE x(a)", "CREATE is not reading"},
        Refusal{"DROP TABLE t", "DROP is not reading"},
        Refusal{"ATTACH 'other.db' AS other", "ATTACH is not reading"},
        Refusal{"VACUUM INTO 'copy.db'", "VACUUM is not reading"},
        Refusal{"BEGIN IMMEDIATE", "BEGIN is not reading"},
        Refusal{"PRAGMA journal_mode=WAL", "PRAGMA journal_mode may change something"},
        Refusal{"PRAGMA main.user_version = 7", "PRAGMA user_version may change something"},
        Refusal{"PRAGMA writable_schema(1)", "PRAGMA writable_schema may change something"}));

TEST(QueryRun, ReadingPragmasAndPlansAreAllowed) {
  EXPECT_EQ(RunSql("PRAGMA user_version").text, "user_version\n0\n");
  EXPECT_EQ(RunSql("SELECT name FROM pragma_table_info('t') LIMIT 1").text, "name\nrank\n");
  EXPECT_TRUE(RunSql("EXPLAIN QUERY PLAN SELECT * FROM t").ok);
  EXPECT_EQ(RunSql("SELECT value FROM json_each('[7]')").text, "value\n7\n");
  EXPECT_FALSE(RunSql("SELECT 1; UPDATE sqlite_master SET sql = ''").ok);
  EXPECT_EQ(RunSql("WITH a AS (SELECT 1 AS n) SELECT replace('ab', 'a', 'b') AS x FROM a").text,
            "x\nbb\n");
  EXPECT_FALSE(RunSql("SELECT load_extension('x')").ok);
}

TEST(QueryRun, UndocumentedParametersAreBoundByTheirLooks) {
  const std::string sql =
      "SELECT typeof(:a) AS a, typeof(@b) AS b, typeof($c) AS c, typeof(:d) AS d, typeof(?) AS e";
  EXPECT_EQ(RunSql(sql, {{"a=-7", "b=1e3", ":c=0x10", "d=null", "5=nan"}, ""}).text,
            "a,b,c,d,e\ninteger,real,text,null,text\n");
  EXPECT_EQ(RunSql("SELECT :a AS a", {{"a=9223372036854775808"}, ""}).text,
            "a\n9223372036854775808\n");
  EXPECT_EQ(RunSql("SELECT :a AS a; SELECT :a AS b", {{"a=x=y"}, ""}).text, "a\nx=y\n\nb\nx=y\n");
}

constexpr std::string_view kWithParams =
    "-- title: Q\n-- param: label text = null L.\n-- param: limit int(rows) = 2 N.\n"
    "-- param: least real(count) M.\n-- param: all bool = no A.\n"
    "SELECT typeof(:label) AS l, :limit AS n, typeof(:least) AS m, :all AS a";

TEST(QueryRun, DocumentedParametersHaveTheirTypesAndDefaults) {
  EXPECT_EQ(RunSql(kWithParams, {{"least=1"}, ""}).text, "l,n,m,a\nnull,2,real,0\n");
  EXPECT_EQ(RunSql(kWithParams, {{"least=null", "label=7", "limit=+5", "all=true"}, ""}).text,
            "l,n,m,a\ntext,5,null,1\n");
}

TEST(QueryRun, WrongParametersListTheRightOnes) {
  const std::string list =
      "its parameters are: label text, default null; limit int (rows), default 2; least real "
      "(count), must be given; all bool, default no";
  const Ran missing = RunSql(kWithParams);
  EXPECT_EQ(missing.error.kind, ErrorKind::kUsage);
  EXPECT_EQ(missing.error.what, "q: the parameter 'least' is missing");
  EXPECT_EQ(missing.error.advice, "give it with: -p least=VALUE; " + list);
  const Ran unknown = RunSql(kWithParams, {{"least=1", "limt=3"}, ""});
  EXPECT_EQ(unknown.error.what, "q: there is no parameter 'limt'");
  EXPECT_EQ(unknown.error.advice, "did you mean limit? " + list);
  EXPECT_EQ(RunSql(kWithParams, {{"least=1", "limit=two"}, ""}).error.what,
            "q: -p limit: 'two' is no integer");
  EXPECT_EQ(RunSql(kWithParams, {{"least=inf"}, ""}).error.what, "q: -p least: 'inf' is no number");
  EXPECT_EQ(RunSql(kWithParams, {{"least"}, ""}).error.what,
            "q: 'least' is no parameter with a value");
  EXPECT_EQ(RunSql(kWithParams, {{"least=1", "least=2"}, ""}).error.what,
            "q: the parameter 'least' is given twice");
  EXPECT_EQ(RunSql("SELECT 1", {{"a=1"}, ""}).error.advice, "it has no parameters");
}

TEST(QueryRun, AnAssertionThatHoldsIsSilent) {
  const Ran ran = RunSql("SELECT * FROM t WHERE rank < 2", {{}, "busy_ms > 1 AND name <> 'x'"});
  EXPECT_TRUE(ran.ok) << ran.error.what;
  EXPECT_EQ(ran.outcome.rows, 2);
}

TEST(QueryRun, AnAssertionThatFailsTellsAfterTheResult) {
  const Ran ran = RunSql("SELECT * FROM t ORDER BY rank", {{}, "busy_ms < 2 -- at most"});
  EXPECT_EQ(ran.error.kind, ErrorKind::kAssert);
  EXPECT_EQ(ran.text, "rank,name,busy_ms\n0,gemm,1.5\n1,\"all, reduce\",2.25\n2,,\n");
  EXPECT_EQ(ran.error.what, "q: --assert 'busy_ms < 2 -- at most' does not hold for 2 of 3 rows");
  EXPECT_EQ(ran.error.advice, "the first of them: rank=1, name=all, reduce, busy_ms=2.25");
}

TEST(QueryRun, NullDoesNotHold) {
  const Ran ran = RunSql("SELECT name FROM t WHERE rank = 2", {{}, "name <> 'x'"});
  EXPECT_EQ(ran.error.kind, ErrorKind::kAssert);
  EXPECT_EQ(ran.error.advice, "the row: name=NULL");
  EXPECT_TRUE(RunSql("SELECT name FROM t WHERE rank = 2", {{}, "name IS NULL"}).ok);
}

TEST(QueryRun, AFailingRowReachesNoTerminalRaw) {
  const Ran ran = RunSql("SELECT char(27) || '[2J' AS name", {{}, "0"});
  EXPECT_EQ(ran.error.advice, "the row: name=\\x1b[2J");
}

TEST(QueryRun, AssertionsSeeColumnsOfAnyNameAndType) {
  EXPECT_TRUE(RunSql("SELECT 1 AS \"a\"\"b\", x'00ff' AS blob, 9e999 AS far, 3 AS \"x y\"",
                     {{}, "\"a\"\"b\" = 1 AND blob = x'00ff' AND far > 1e300 AND \"x y\" = 3"})
                  .ok);
}

TEST(QueryRun, ABadAssertionIsToldBeforeAnyRow) {
  for (std::string_view expression :
       {"bussy_ms > 1", "\"bussy_ms\" > 1", "busy_ms >", "1; SELECT 1", "1, 1", "count(*) > 0",
        "busy_ms > :least", "busy_ms > ?9", "1) UNION SELECT 2 -- "}) {
    const Ran ran = RunSql("SELECT * FROM t", {{}, std::string(expression)});
    EXPECT_FALSE(ran.ok) << expression;
    EXPECT_EQ(ran.error.kind, ErrorKind::kUsage) << expression;
    EXPECT_EQ(ran.text, "") << expression;
    EXPECT_NE(ran.error.advice.find("rank, name, busy_ms"), std::string::npos);
  }
}

TEST(QueryRun, DoubleQuotedTextStillWorksInQueries) {
  EXPECT_EQ(RunSql("SELECT \"none such\" AS a", {{}, "a = 'none such'"}).text, "a\nnone such\n");
}

TEST(QueryRun, AnAssertionNeedsOneStatement) {
  EXPECT_EQ(RunSql("SELECT 1; SELECT 2", {{}, "1"}).error.what,
            "q.sql: --assert needs one statement, this has 2");
}

TEST(QueryRun, NoRowsGiveANote) {
  EXPECT_EQ(RunSql("-- title: Q\n-- empty: Nothing there.\nSELECT 1 WHERE 0").outcome.note,
            "Nothing there.");
  EXPECT_EQ(RunSql("-- title: Q\n-- empty: Nothing there.\nSELECT 1").outcome.note, "");
  EXPECT_EQ(RunSql("SELECT 1 AS a WHERE 0", {{}, "a > 0"}).outcome.note,
            "q: there is no row, so --assert had nothing to check");
}

TEST(QueryRun, AnInterruptedStatementIsAnError) {
  SqliteDb db = TestDatabase();
  auto doc = ParseQueryDoc("long.sql",
                           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                           "SELECT count(*) FROM n");
  auto query = PreparedQuery::Prepare(db, doc.value(), {});
  ASSERT_TRUE(query.ok());
  std::atomic<bool> done = false;
  std::thread interrupter([&] {
    while (!done) {
      db.Interrupt();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  StringOutput output;
  const auto sink = MakeSink(Format::kCsv, {}, output);
  auto outcome = query.value().Run(*sink);
  done = true;
  interrupter.join();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().what, "long.sql: interrupted");
}

}  // namespace
}  // namespace tracedb
