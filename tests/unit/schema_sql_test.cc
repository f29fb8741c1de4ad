// Views as rows of sqlite_schema, against what SQLite makes of the same SQL.

#include "tracedb/schema/schema_sql.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/empty_database.h"

namespace tracedb {
namespace {

TEST(SchemaSql, views_as_rows_are_what_sqlite_stores) {
  auto made = SqliteDb::OpenInMemory();
  ASSERT_TRUE(made.ok() && made.value().Execute(TablesSql()).ok());
  ASSERT_TRUE(made.value().Execute(ViewsSql()).ok());
  auto rows = made.value().Prepare(
      "SELECT name, tbl_name, rootpage, sql FROM sqlite_schema WHERE type = 'view' ORDER BY rowid");
  ASSERT_TRUE(rows.ok());
  size_t count = 0;
  for (const EmptyDatabase::View& view : EmptyDatabase::views()) {
    auto row = rows.value().Step();
    ASSERT_TRUE(row.ok() && row.value()) << view.name;
    EXPECT_EQ(rows.value().Text(0), view.name);
    EXPECT_EQ(rows.value().Text(1), view.name);
    EXPECT_EQ(rows.value().Int(2), 0);
    EXPECT_EQ(rows.value().Text(3), view.sql);
    ++count;
  }
  auto more = rows.value().Step();
  EXPECT_TRUE(more.ok() && !more.value());
  EXPECT_GT(count, 50u);
}

std::string EmptyBytes() {
  std::string bytes(EmptyDatabase::bytes(), '\0');
  for (const auto& part : EmptyDatabase::parts()) {
    bytes.replace(part.offset, part.bytes.size(), part.bytes);
  }
  return bytes;
}

std::string With(std::string bytes, EmptyDatabase::Schema schema) {
  for (const auto& page : EmptyDatabase::SchemaPages(schema)) {
    bytes.replace(page.offset, page.bytes.size(), page.bytes);
  }
  return bytes;
}

// As a file.
std::filesystem::path FileOf(const std::string& bytes) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("tracedb_empty." + std::to_string(getpid()) + ".db");
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// What `ours` says of tables and indexes is what SQLite makes of the schema. How many there are.
int64_t ExpectTablesAsMade(SqliteDb& ours, const std::string& which) {
  auto made = SqliteDb::OpenInMemory();
  EXPECT_TRUE(made.ok() && made.value().Execute(TablesSql()).ok());
  const std::string of =
      "SELECT type, name, sql, rootpage FROM sqlite_schema WHERE type <> 'view' AND " + which +
      " ORDER BY rowid";
  auto found = ours.Prepare(of);
  auto wanted = made.value().Prepare(of);
  EXPECT_TRUE(found.ok() && wanted.ok());
  int64_t count = 0;
  for (;; ++count) {
    auto one = found.value().Step();
    auto other = wanted.value().Step();
    EXPECT_TRUE(one.ok() && other.ok());
    EXPECT_EQ(one.value(), other.value());
    if (!one.value() || !other.value()) return count;
    for (int column = 0; column < 3; ++column) {
      EXPECT_EQ(found.value().Text(column), wanted.value().Text(column));
    }
    const std::string name(found.value().Text(1));
    EXPECT_EQ(EmptyDatabase::RootPages({name}).front(), found.value().Int(3)) << name;
  }
}

TEST(SchemaSql, the_empty_database_is_the_one_that_the_schema_makes) {
  const auto path = FileOf(EmptyBytes());
  auto empty = SqliteDb::Open(path, SqliteMode::kReadOnly);
  auto made = SqliteDb::OpenInMemory();
  ASSERT_TRUE(empty.ok() && made.ok() && made.value().Execute(TablesSql()).ok());
  EXPECT_GT(ExpectTablesAsMade(empty.value(), "1"), 90);
  EXPECT_EQ(empty.value().Integer("SELECT count(*) FROM kind_rules").value(),
            made.value().Integer("SELECT count(*) FROM kind_rules").value());
  EXPECT_EQ(empty.value().Integer("SELECT count(*) FROM sqlite_schema WHERE type = 'view'").value(),
            static_cast<int64_t>(EmptyDatabase::views().size()));
  auto sound = empty.value().Prepare("PRAGMA integrity_check");
  ASSERT_TRUE(sound.ok() && sound.value().Step().ok());
  EXPECT_EQ(sound.value().Text(0), "ok");
  std::filesystem::remove(path);
}

TEST(SchemaSql, a_shorter_schema_is_a_part_of_it_in_its_pages) {
  const std::string whole = EmptyBytes();
  const auto tables_in = [&](EmptyDatabase::Schema schema) {
    const std::string shorter = With(whole, schema);
    EXPECT_NE(shorter, whole);
    EXPECT_EQ(With(shorter, EmptyDatabase::Schema::kWhole), whole);
    const auto path = FileOf(shorter);
    auto db = SqliteDb::Open(path, SqliteMode::kReadOnly);
    EXPECT_TRUE(db.ok());
    EXPECT_EQ(db.value().Integer("SELECT count(*) FROM sqlite_schema WHERE type = 'view'").value(),
              0);
    auto names = db.value().Prepare(
        "SELECT group_concat(quote(name)) FROM sqlite_schema WHERE "
        "type = 'table'");
    EXPECT_TRUE(names.ok() && names.value().Step().ok());
    const int64_t count =
        ExpectTablesAsMade(db.value(), "tbl_name IN (" + std::string(names.value().Text(0)) + ")");
    std::filesystem::remove(path);
    return count;
  };
  const int64_t all = tables_in(EmptyDatabase::Schema::kTables);
  EXPECT_EQ(all, static_cast<int64_t>(EmptyDatabase::trees().size()));
  const int64_t few = tables_in(EmptyDatabase::Schema::kTraceRows);
  EXPECT_LT(few, all / 2);
}

}  // namespace
}  // namespace tracedb
