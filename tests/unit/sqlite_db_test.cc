// SqliteDb and SqliteStatement: what they add to SQLite's own interface.

#include "tracedb/base/sqlite_db.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <limits>
#include <string>

#include "query_fixture.h"

namespace tracedb {
namespace {

SqliteStatement Prepared(SqliteDb& db, std::string_view sql) {
  auto statement = db.Prepare(sql);
  if (!statement.ok()) ADD_FAILURE() << sql << ": " << statement.error().what;
  return std::move(statement).value();
}

bool Stepped(SqliteStatement& statement) {
  const auto step = statement.Step();
  EXPECT_TRUE(step.ok());
  return step.ok() && step.value();
}

TEST(SqliteStatement, step_after_the_last_row_stays_at_the_end_until_reset) {
  SqliteDb db = TestDatabase();
  SqliteStatement statement = Prepared(db, "SELECT rank FROM t WHERE rank < 2 ORDER BY rank");
  EXPECT_TRUE(Stepped(statement));
  EXPECT_TRUE(Stepped(statement));
  EXPECT_FALSE(Stepped(statement));
  EXPECT_FALSE(Stepped(statement));
  EXPECT_FALSE(Stepped(statement));
  statement.Reset();
  EXPECT_TRUE(Stepped(statement));
  EXPECT_EQ(statement.Int(0), 0);
}

TEST(SqliteStatement, run_goes_to_the_end_and_back_to_the_start) {
  SqliteDb db = TestDatabase();
  SqliteStatement insert = Prepared(db, "INSERT INTO t(rank) VALUES (?1)");
  for (int64_t rank = 10; rank < 13; ++rank) {
    ASSERT_TRUE(insert.Bind(1, rank).ok());
    ASSERT_TRUE(insert.Run().ok());
  }
  EXPECT_EQ(db.Integer("SELECT count(*) FROM t WHERE rank >= 10").value(), 3);
  EXPECT_FALSE(Prepared(db, "SELECT abs(-9223372036854775808)").Run().ok());
}

TEST(SqliteStatement, values_of_every_type_read_back_as_bound) {
  SqliteDb db = TestDatabase();
  SqliteStatement statement = Prepared(db, "SELECT ?1, ?2, ?3, ?4, x'00ff', ?5");
  const std::string with_zero("a\0b", 3);
  ASSERT_TRUE(statement.Bind(1, std::numeric_limits<int64_t>::min()).ok());
  ASSERT_TRUE(statement.Bind(2, 0.1).ok());
  ASSERT_TRUE(statement.Bind(3, std::string_view(with_zero)).ok());
  ASSERT_TRUE(statement.BindNull(4).ok());
  ASSERT_TRUE(statement.Bind(5, std::string_view()).ok());
  ASSERT_TRUE(Stepped(statement));
  EXPECT_EQ(statement.Type(0), SqlType::kInteger);
  EXPECT_EQ(statement.Int(0), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(statement.Type(1), SqlType::kReal);
  EXPECT_EQ(statement.Real(1), 0.1);
  EXPECT_EQ(statement.Type(2), SqlType::kText);
  EXPECT_EQ(statement.Text(2), with_zero);
  EXPECT_EQ(statement.Type(3), SqlType::kNull);
  EXPECT_EQ(statement.Type(4), SqlType::kBlob);
  EXPECT_EQ(statement.Type(5), SqlType::kText);
  EXPECT_EQ(statement.Text(5), "");
}

TEST(SqliteStatement, a_bound_text_is_copied) {
  SqliteDb db = TestDatabase();
  SqliteStatement statement = Prepared(db, "SELECT ?1");
  {
    std::string text = "short lived";
    ASSERT_TRUE(statement.Bind(1, std::string_view(text)).ok());
    text.assign(text.size(), 'x');
  }
  ASSERT_TRUE(Stepped(statement));
  EXPECT_EQ(statement.Text(0), "short lived");
}

TEST(SqliteStatement, names_of_columns_and_parameters_are_told) {
  SqliteDb db = TestDatabase();
  SqliteStatement statement = Prepared(db, "SELECT rank AS r, name FROM t WHERE rank = :rank");
  EXPECT_EQ(statement.ColumnCount(), 2);
  EXPECT_EQ(statement.ColumnName(0), "r");
  EXPECT_EQ(statement.ParameterCount(), 1);
  EXPECT_EQ(statement.ParameterName(1), ":rank");
  EXPECT_TRUE(statement.IsReadOnly());
  EXPECT_FALSE(statement.IsExplain());
  EXPECT_FALSE(Prepared(db, "DELETE FROM t").IsReadOnly());
  EXPECT_TRUE(Prepared(db, "EXPLAIN SELECT 1").IsExplain());
}

TEST(SqliteStatement, binding_a_parameter_that_is_not_there_is_an_error) {
  SqliteDb db = TestDatabase();
  SqliteStatement statement = Prepared(db, "SELECT ?1");
  const Status bound = statement.Bind(2, int64_t{1});
  ASSERT_FALSE(bound.ok());
  EXPECT_EQ(bound.error().kind, ErrorKind::kQuery);
}

TEST(SqliteDb, execute_runs_every_statement_and_names_what_is_wrong) {
  SqliteDb db = TestDatabase();
  ASSERT_TRUE(db.Execute("CREATE TABLE u(x); -- a comment\n INSERT INTO u VALUES (1), (2);;").ok());
  EXPECT_EQ(db.Integer("SELECT count(*) FROM u").value(), 2);
  const Status failed = db.Execute("INSERT INTO u VALUES (3); INSERT INTO nowhere VALUES (1)");
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().what.find("nowhere"), std::string::npos);
  EXPECT_EQ(db.Integer("SELECT count(*) FROM u").value(), 3);
}

TEST(SqliteDb, prepare_takes_the_first_statement_and_gives_back_the_rest) {
  SqliteDb db = TestDatabase();
  std::string_view rest;
  ASSERT_TRUE(db.Prepare("SELECT 1; SELECT 2", &rest).ok());
  EXPECT_EQ(rest, " SELECT 2");
  EXPECT_FALSE(db.Prepare(" -- nothing\n").ok());
  EXPECT_FALSE(db.Prepare("").ok());
}

TEST(SqliteDb, integer_of_null_or_no_row_is_zero) {
  SqliteDb db = TestDatabase();
  EXPECT_EQ(db.Integer("SELECT max(rank) FROM t").value(), 2);
  EXPECT_EQ(db.Integer("SELECT NULL").value(), 0);
  EXPECT_EQ(db.Integer("SELECT 1 WHERE 0").value(), 0);
  EXPECT_FALSE(db.Integer("SELECT nonsense").ok());
}

TEST(SqliteDb, the_place_of_a_syntax_error_is_known) {
  SqliteDb db = TestDatabase();
  ASSERT_FALSE(db.Prepare("SELECT rank FROM t WHERE bogus = 1").ok());
  EXPECT_EQ(db.ErrorOffset(), 25);
}

TEST(SqliteDb, a_word_in_double_quotes_is_a_text_only_where_allowed) {
  SqliteDb db = TestDatabase();
  db.AllowDoubleQuotedText(false);
  EXPECT_FALSE(db.Prepare("SELECT \"nme\" FROM t").ok());
  db.AllowDoubleQuotedText(true);
  EXPECT_TRUE(db.Prepare("SELECT \"nme\" FROM t").ok());
}

TEST(SqliteDb, restricted_to_reading_it_reads) {
  SqliteDb db = TestDatabase();
  db.RestrictToReading();
  for (const char* sql :
       {"SELECT count(*) FROM t", "SELECT name FROM sqlite_master", "PRAGMA user_version",
        "PRAGMA table_info(t)", "SELECT * FROM pragma_table_info('t')",
        "SELECT value FROM json_each('[1,2]')",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
        "SELECT i + 1 FROM n WHERE i < 3) SELECT sum(i) FROM n",
        "EXPLAIN SELECT * FROM t", "SELECT rank, row_number() OVER (ORDER BY rank) FROM t",
        "SELECT name FROM t GROUP BY name "
        "ORDER BY lower(name)"}) {
    const Status ran = db.Execute(sql);
    EXPECT_TRUE(ran.ok()) << sql;
  }
}

TEST(SqliteDb, restricted_to_reading_it_changes_nothing_anywhere) {
  const TemporaryFolder folder;
  SqliteDb db = TestDatabase();
  ASSERT_TRUE(db.Execute("CREATE INDEX by_rank ON t(rank)").ok());
  db.RestrictToReading();
  const std::string other = (folder.path() / "other.db").string();
  for (const std::string& sql : {std::string("INSERT INTO t VALUES (9, '', 0)"),
                                 std::string("UPDATE t SET rank = 1"),
                                 std::string("SELECT fts3_tokenizer('simple')"),
                                 std::string("SELECT load_extension('x')"),
                                 std::string("DELETE FROM t"),
                                 std::string("DROP TABLE t"),
                                 std::string("CREATE TABLE u(x)"),
                                 std::string("CREATE TEMP TABLE u(x)"),
                                 std::string("CREATE VIEW v AS SELECT 1"),
                                 std::string("CREATE INDEX i ON t(rank)"),
                                 "ATTACH '" + other + "' AS other",
                                 "VACUUM INTO '" + other + "'",
                                 std::string("PRAGMA user_version = 7"),
                                 std::string("PRAGMA journal_mode = DELETE"),
                                 std::string("PRAGMA writable_schema = ON"),
                                 std::string("BEGIN"),
                                 std::string("SELECT load_extension('x')"),
                                 std::string("UPDATE sqlite_master SET sql = ''"),
                                 std::string("REINDEX"),
                                 std::string("ALTER TABLE t RENAME TO u"),
                                 std::string("ANALYZE")}) {
    const Status ran = db.Execute(sql);
    EXPECT_FALSE(ran.ok()) << sql;
  }
  EXPECT_FALSE(std::filesystem::exists(other));
  EXPECT_EQ(db.Integer("SELECT count(*) FROM t").value(), 3);
  EXPECT_EQ(db.Integer("PRAGMA user_version").value(), 0);
}

TEST(SqliteDb, opening_what_is_missing_or_no_database_is_an_error_that_names_it) {
  const TemporaryFolder folder;
  const auto missing = folder.path() / "missing.db";
  for (const SqliteMode mode : {SqliteMode::kReadOnly, SqliteMode::kReadWrite}) {
    const auto opened = SqliteDb::Open(missing, mode);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().what.find(missing.string()), 0u) << opened.error().what;
    EXPECT_FALSE(opened.error().advice.empty());
    EXPECT_FALSE(std::filesystem::exists(missing));
  }
  const auto text = folder.path() / "text.db";
  std::ofstream(text) << std::string(5000, 'x');
  auto opened = SqliteDb::Open(text, SqliteMode::kReadOnly);
  ASSERT_TRUE(opened.ok());  // SQLite looks at the file when it is first used
  const auto read = opened.value().Integer("SELECT count(*) FROM sqlite_master");
  ASSERT_FALSE(read.ok());
  EXPECT_FALSE(read.error().advice.empty());
}

TEST(SqliteDb, read_only_does_not_write) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "some.db";
  {
    auto made = SqliteDb::Open(path, SqliteMode::kCreate);
    ASSERT_TRUE(made.ok());
    FillTestDatabase(made.value());
  }
  auto opened = SqliteDb::Open(path, SqliteMode::kReadOnly);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened.value().Integer("SELECT count(*) FROM t").value(), 3);
  EXPECT_FALSE(opened.value().Execute("DELETE FROM t").ok());
}

TEST(SqliteDb, a_frozen_file_is_read_whatever_its_name_has_in_it) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "odd ?mode=rwc&x=%41 \xc3\xa9#.db";
  {
    auto made = SqliteDb::Open(path, SqliteMode::kCreate);
    ASSERT_TRUE(made.ok());
    FillTestDatabase(made.value());
  }
  auto opened = SqliteDb::Open(path, SqliteMode::kFrozen);
  ASSERT_TRUE(opened.ok()) << opened.error().what;
  EXPECT_EQ(opened.value().Integer("SELECT count(*) FROM t").value(), 3);
  EXPECT_FALSE(opened.value().Execute("DELETE FROM t").ok());
}

TEST(SqliteDb, a_frozen_file_may_begin_with_two_slashes) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.db";
  {
    auto made = SqliteDb::Open(path, SqliteMode::kCreate);
    ASSERT_TRUE(made.ok());
    FillTestDatabase(made.value());
  }
  const auto opened = SqliteDb::Open("/" + path.string(), SqliteMode::kFrozen);
  ASSERT_TRUE(opened.ok()) << opened.error().what;
}

TEST(SqliteDb, a_long_query_stops_when_asked_to) {
  SqliteDb db = TestDatabase();
  std::atomic<bool> stop = false;
  db.StopWhen(stop);
  EXPECT_EQ(db.Integer("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
                       "SELECT count(*) FROM n")
                .value(),
            100000);
  stop = true;
  const auto counted =
      db.Integer("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
  ASSERT_FALSE(counted.ok());
  EXPECT_EQ(counted.error().kind, ErrorKind::kQuery);
}

}  // namespace
}  // namespace tracedb
