// Values for the rows of one UPDATE.
#include "tracedb/base/row_values.h"

#include <gtest/gtest.h>

#include <string>

namespace tracedb {
namespace {

constexpr char kUpdate[] =
    "UPDATE t SET a = row_value(id, 0), b = row_value(id, 1) WHERE id BETWEEN 2 AND 90 AND "
    "has_row_value(id)";

SqliteDb Rows() {
  auto db = SqliteDb::OpenInMemory();
  EXPECT_TRUE(db.ok());
  EXPECT_TRUE(db.value()
                  .Execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER);"
                           "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                           "WHERE i < 100) INSERT INTO t SELECT i, 7, 8 FROM n")
                  .ok());
  return std::move(db.value());
}

std::string Changed(SqliteDb& db) {
  auto rows = db.Prepare(
      "SELECT group_concat(id || ':' || ifnull(a, '-') || ',' || ifnull(b, '-'), ' ') "
      "FROM (SELECT * FROM t WHERE a IS NOT 7 OR b IS NOT 8 ORDER BY id)");
  EXPECT_TRUE(rows.ok());
  EXPECT_TRUE(rows.value().Step().ok());
  return std::string(rows.value().Text(0));
}

TEST(RowValues, rows_that_have_some_are_updated) {
  SqliteDb db = Rows();
  auto values = RowValues::Register(db);
  ASSERT_TRUE(values.ok());
  values.value().Set({{1, {1, 1}}, {3, {30, 0}}, {4, {0, 40}}, {50, {-5, 5}}, {95, {1, 1}}});
  ASSERT_TRUE(db.Execute(kUpdate).ok());
  EXPECT_EQ(Changed(db), "3:30,- 4:-,40 50:-5,5");
}

TEST(RowValues, in_any_order) {
  SqliteDb db = Rows();
  auto values = RowValues::Register(db);
  ASSERT_TRUE(values.ok());
  values.value().Set({{3, {30, 1}}, {4, {40, 1}}, {90, {9, 1}}});
  auto asked = db.Prepare(
      "SELECT group_concat(ifnull(row_value(column1, 0), '-') || has_row_value(column1), ' ') "
      "FROM (VALUES (90), (3), (91), (4), (4), (5), (2), (90), (-9223372036854775807 - 1))");
  ASSERT_TRUE(asked.ok());
  ASSERT_TRUE(asked.value().Step().ok());
  EXPECT_EQ(asked.value().Text(0), "91 301 -0 401 401 -0 -0 91 -0");
}

TEST(RowValues, nothing_has_values_without_them) {
  SqliteDb db = Rows();
  {
    auto values = RowValues::Register(db);
    ASSERT_TRUE(values.ok());
    values.value().Set({{3, {30, 1}}});
  }
  ASSERT_TRUE(db.Execute(kUpdate).ok());
  auto again = RowValues::Register(db);
  ASSERT_TRUE(again.ok());
  ASSERT_TRUE(db.Execute(kUpdate).ok());
  EXPECT_EQ(Changed(db), "");
}

}  // namespace
}  // namespace tracedb
