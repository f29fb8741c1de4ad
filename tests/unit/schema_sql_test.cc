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

// As a file.
std::filesystem::path EmptyFile() {
  const auto path = std::filesystem::temp_directory_path() /
                    ("tracedb_empty." + std::to_string(getpid()) + ".db");
  std::string bytes(EmptyDatabase::bytes(), '\0');
  for (const auto& part : EmptyDatabase::parts()) {
    bytes.replace(part.offset, part.bytes.size(), part.bytes);
  }
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(SchemaSql, the_empty_database_is_the_one_that_the_tables_make) {
  const auto path = EmptyFile();
  auto empty = SqliteDb::Open(path, SqliteMode::kReadOnly);
  auto made = SqliteDb::OpenInMemory();
  ASSERT_TRUE(empty.ok() && made.ok() && made.value().Execute(TablesSql()).ok());
  constexpr const char* kAll = "SELECT type, name, sql, rootpage FROM sqlite_schema ORDER BY rowid";
  auto ours = empty.value().Prepare(kAll);
  auto wanted = made.value().Prepare(kAll);
  ASSERT_TRUE(ours.ok() && wanted.ok());
  for (;;) {
    auto one = ours.value().Step();
    auto other = wanted.value().Step();
    ASSERT_TRUE(one.ok() && other.ok());
    ASSERT_EQ(one.value(), other.value());
    if (!one.value()) break;
    for (int column = 0; column < 3; ++column) {
      EXPECT_EQ(ours.value().Text(column), wanted.value().Text(column));
    }
    const std::string name(ours.value().Text(1));
    EXPECT_EQ(EmptyDatabase::RootPages({name}).front(), ours.value().Int(3)) << name;
  }
  EXPECT_EQ(empty.value().Integer("SELECT count(*) FROM kind_rules").value(),
            made.value().Integer("SELECT count(*) FROM kind_rules").value());
  auto sound = empty.value().Prepare("PRAGMA integrity_check");
  ASSERT_TRUE(sound.ok() && sound.value().Step().ok());
  EXPECT_EQ(sound.value().Text(0), "ok");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tracedb
