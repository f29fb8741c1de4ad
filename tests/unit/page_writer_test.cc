// TableAppender against SQLite: it must find the databases sound, read back what it reads from a
// table that it filled itself, and be able to go on writing to them.

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "page_test_tools.h"
#include "pages/table_appender.h"
#include "tracedb/pages/page_file.h"
#include "tracedb/pages/record_encoder.h"

namespace tracedb {
namespace {

using test::Columns;
using test::Database;
using test::Encode;
using test::ExpectNoPageWithoutCells;
using test::ExpectSameRows;
using test::InsertBySqlite;
using test::kColumns;
using test::kInt64Max;
using test::kInt64Min;
using test::Row;
using test::Value;

using PageWriter = test::PagesTest;

constexpr uint32_t kPageSizes[] = {512, 1024, 4096, 16384, 65536};

// What SQLite does to tables later, with both the same way, must leave the database sound.
void ExpectSqliteCanGoOn(Database& db, const std::string& left, const std::string& right) {
  for (const std::string& table : {left, right}) {
    db.Run("DELETE FROM " + table + " WHERE rowid % 3 = 0");
    db.Run("INSERT OR IGNORE INTO " + table +
           "(rowid,c0,c1) VALUES(4,5,'x'),(6,7,'y'),(1<<40,8,8)");
    db.Run("UPDATE " + table + " SET c2 = c3, c3 = 'changed' WHERE rowid % 5 = 0");
    db.Run("CREATE INDEX " + table + "_c0 ON " + table + "(c0,c1)");
  }
  ASSERT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
  ExpectSameRows(db, left, right);
  db.Run("VACUUM");
  ASSERT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
  ExpectSameRows(db, left, right);
}

// Rowids rise by steps of every size; there is always room for the `rows_left` to come.
int64_t NextRowid(std::mt19937_64& random, int64_t before, size_t rows_left) {
  const uint64_t room = static_cast<uint64_t>(kInt64Max) - static_cast<uint64_t>(before);
  const uint64_t step = 1 + (random() % 16 == 0 ? random() >> (8 + random() % 56) : 0);
  const uint64_t step_max = room - (rows_left - 1);
  return static_cast<int64_t>(static_cast<uint64_t>(before) + std::min(step, step_max));
}

std::vector<Row> RandomRows(std::mt19937_64& random, size_t count) {
  std::vector<Row> rows(count);
  constexpr int64_t kFirst[] = {1, -5, kInt64Min, -(int64_t{1} << 40), kInt64Max - 30000};
  int64_t rowid = kFirst[random() % std::size(kFirst)];
  size_t long_bytes_left = 1 << 20;  // of long texts, a table
  for (Row& row : rows) {
    row.rowid = rowid;
    if (--count > 0) rowid = NextRowid(random, rowid, count);
    for (size_t i = 0; i < kColumns; ++i) row.values.push_back(test::RandomValue(random));
    const size_t bytes = random() % (random() % 4 == 0 ? 300'000 : 3'000);
    if (random() % 20 == 0 && bytes <= long_bytes_left) {
      row.values[random() % kColumns] = std::string(bytes, 'L');
      long_bytes_left -= bytes;
    }
  }
  return rows;
}

// Appends each table's rows to its root page; the tables take turns at random.
void AppendTables(const std::string& path, const std::vector<uint32_t>& roots,
                  const std::vector<std::vector<Row>>& tables, std::mt19937_64& random) {
  auto file = PageFile::Open(path, {.start_writeback_early = true, .sync_at_finish = false});
  ASSERT_TRUE(file.ok()) << file.error().what;
  std::vector<TableAppender> appenders;
  for (uint32_t root : roots) {
    auto appender = TableAppender::Create(*file.value(), root);
    ASSERT_TRUE(appender.ok()) << appender.error().what;
    appenders.push_back(std::move(appender).value());
  }
  RecordEncoder encoder;
  std::vector<size_t> next(tables.size(), 0);
  for (size_t open_tables = tables.size(); open_tables > 0;) {
    const size_t table = random() % tables.size();
    for (size_t run = random() % 100; run > 0 && next[table] < tables[table].size(); --run) {
      const Row& row = tables[table][next[table]++];
      ASSERT_TRUE(appenders[table].Append(row.rowid, Encode(encoder, row.values)).ok());
    }
    open_tables = 0;
    for (size_t i = 0; i < tables.size(); ++i) open_tables += next[i] < tables[i].size();
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    ASSERT_EQ(appenders[i].row_count(), tables[i].size());
    ASSERT_TRUE(appenders[i].Finish().ok());
  }
  ASSERT_TRUE(file.value()->Finish().ok());
}

std::string CreateTables(size_t count) {
  std::string sql;
  for (size_t i = 0; i < count; ++i) {
    for (const char* kind : {"ours", "theirs"}) {
      sql += "CREATE TABLE " + (kind + std::to_string(i)) + "(" + Columns() + ");";
    }
  }
  return sql;
}

// Fills theirs0... by SQLite and ours0... by pages, and compares. Leaves ours and theirs alike.
void CheckTables(const std::string& path, const std::vector<std::vector<Row>>& tables,
                 std::mt19937_64& random) {
  std::vector<uint32_t> roots;
  {
    Database db(path);
    db.Run("PRAGMA synchronous = OFF; BEGIN");
    for (size_t i = 0; i < tables.size(); ++i) {
      InsertBySqlite(db, "theirs" + std::to_string(i), tables[i]);
      roots.push_back(db.RootPage("ours" + std::to_string(i)));
    }
    db.Run("COMMIT");
  }
  ASSERT_NO_FATAL_FAILURE(AppendTables(path, roots, tables, random));
  Database db(path);
  ASSERT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
  for (size_t i = 0; i < tables.size(); ++i) {
    const std::string number = std::to_string(i);
    ASSERT_NO_FATAL_FAILURE(ExpectSameRows(db, "ours" + number, "theirs" + number));
  }
}

TEST_F(PageWriter, random_tables_are_what_sqlite_makes_of_the_same_rows) {
  std::mt19937_64 random(7);
  constexpr size_t kRowCounts[] = {0, 1, 2, 10, 100, 1000, 5000, 20000};
  for (uint32_t page_bytes : kPageSizes) {
    for (size_t run = 0; run < 4; ++run) {
      std::vector<std::vector<Row>> tables(1 + random() % 4);
      for (auto& rows : tables) {
        const size_t most = kRowCounts[random() % std::size(kRowCounts)];
        rows =
            RandomRows(random, most == 20000 && run > 0 ? 3000 : most - random() % (most / 8 + 1));
      }
      SCOPED_TRACE("page size " + std::to_string(page_bytes) + ", run " + std::to_string(run));
      Make(page_bytes, CreateTables(tables.size()));
      ASSERT_NO_FATAL_FAILURE(CheckTables(path_, tables, random));
      Database db(path_);
      db.Run("PRAGMA synchronous = OFF");
      for (size_t i = 0; i < tables.size(); ++i) {
        const std::string number = std::to_string(i);
        ASSERT_NO_FATAL_FAILURE(ExpectSqliteCanGoOn(db, "ours" + number, "theirs" + number));
      }
    }
  }
}

TEST_F(PageWriter, twenty_thousand_rows_at_every_page_size) {
  std::mt19937_64 random(8);
  for (uint32_t page_bytes : kPageSizes) {
    SCOPED_TRACE(page_bytes);
    Make(page_bytes, CreateTables(1));
    ASSERT_NO_FATAL_FAILURE(CheckTables(path_, {RandomRows(random, 20'000)}, random));
  }
}

// Around each record length at which the split between leaf and overflow pages changes.
std::vector<Row> RowsAroundOverflowLimits(int64_t usable_bytes) {
  const int64_t max_local = usable_bytes - 35;
  const int64_t min_local = (usable_bytes - 12) * 32 / 255 - 23;
  const int64_t page_room = usable_bytes - 4;
  std::vector<int64_t> record_bytes = {10, max_local, 300'000};
  for (int64_t pages : {0, 1, 2, 3, 17}) {
    if (pages * page_room > 300'000) continue;
    record_bytes.push_back(min_local + pages * page_room);
    record_bytes.push_back(max_local + pages * page_room);
  }
  std::vector<Row> rows;
  for (int64_t bytes : record_bytes) {
    for (int64_t delta = -12; delta <= 12; ++delta) {
      // The header takes some bytes of the record: 12 on each side cover that.
      const auto text_bytes = static_cast<size_t>(std::max<int64_t>(0, bytes - 6 + delta));
      Row row{static_cast<int64_t>(rows.size()) * 3 - 100, std::vector<Value>(kColumns)};
      row.values[0] = std::string(text_bytes, static_cast<char>('a' + rows.size() % 26));
      row.values[1] = static_cast<int64_t>(rows.size());
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

TEST_F(PageWriter, texts_around_the_overflow_limits) {
  std::mt19937_64 random(9);
  for (uint32_t page_bytes : kPageSizes) {
    SCOPED_TRACE(page_bytes);
    Make(page_bytes, CreateTables(1));
    ASSERT_NO_FATAL_FAILURE(CheckTables(path_, {RowsAroundOverflowLimits(page_bytes)}, random));
  }
}

TEST_F(PageWriter, bytes_reserved_at_the_end_of_each_page_stay_unused) {
  std::mt19937_64 random(10);
  for (uint32_t page_bytes : {512u, 4096u, 65536u}) {
    SCOPED_TRACE(page_bytes);
    std::filesystem::remove(path_);
    {
      Database db(path_);
      int reserved_bytes = 32;
      ASSERT_EQ(sqlite3_file_control(db.get(), "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved_bytes),
                SQLITE_OK);
      db.Run("PRAGMA page_size = " + std::to_string(page_bytes) + ";" + CreateTables(2));
    }
    const std::vector<std::vector<Row>> tables = {RandomRows(random, 2000),
                                                  RowsAroundOverflowLimits(page_bytes - 32)};
    ASSERT_NO_FATAL_FAILURE(CheckTables(path_, tables, random));
  }
}

// Of all tables, in the order of their creation.
std::vector<uint32_t> RootPages(const std::string& path) {
  Database db(path);
  sqlite3_stmt* statement = db.Prepare("SELECT rootpage FROM sqlite_schema ORDER BY rowid");
  std::vector<uint32_t> roots;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    roots.push_back(static_cast<uint32_t>(sqlite3_column_int64(statement, 0)));
  }
  EXPECT_EQ(sqlite3_finalize(statement), SQLITE_OK);
  return roots;
}

// With 512-byte pages, one row a leaf, and nine-byte rowids, an interior page holds 33 cells. The
// counts go through every way in which the last pages of one, two and three levels can end.
TEST_F(PageWriter, no_interior_page_is_left_with_a_single_child) {
  std::vector<int64_t> leaf_counts;
  for (int64_t count = 0; count <= 110; ++count) leaf_counts.push_back(count);
  for (int64_t count = 34 * 34 - 40; count <= 34 * 34 + 40; ++count) leaf_counts.push_back(count);
  for (int64_t extra : {-1, 0, 1, 2, 34, 35}) leaf_counts.push_back(34 * 34 * 34 + extra);
  std::string sql;
  for (int64_t count : leaf_counts) sql += "CREATE TABLE t" + std::to_string(count) + "(c);";
  Make(512, "BEGIN;" + sql + "COMMIT");
  const std::vector<uint32_t> roots = RootPages(path_);
  RecordEncoder encoder;
  const auto record = Encode(encoder, {std::string(400, 'x')});
  auto file = PageFile::Open(path_);
  ASSERT_TRUE(file.ok());
  const uint32_t old_pages = file.value()->page_count();
  for (size_t i = 0; i < leaf_counts.size(); ++i) {
    auto appender = TableAppender::Create(*file.value(), roots[i]);
    ASSERT_TRUE(appender.ok()) << appender.error().what;
    for (int64_t rowid = -leaf_counts[i]; rowid < 0; ++rowid) {
      ASSERT_TRUE(appender.value().Append(rowid, record).ok());
    }
    ASSERT_TRUE(appender.value().Finish().ok());
  }
  ASSERT_TRUE(file.value()->Finish().ok());
  ExpectNoPageWithoutCells(path_, 512, old_pages);
  Database db(path_);
  ASSERT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
  for (int64_t count : leaf_counts) {
    const std::string rows = std::to_string(count);
    ASSERT_EQ(db.Ask("SELECT count(*) FROM t" + rows), rows);
    const std::string found = count > 0 ? "1" : "0";
    ASSERT_EQ(db.Ask("SELECT count(*) FROM t" + rows + " WHERE rowid = -" + rows), found);
  }
}

// Four bytes a cell is the least that SQLite allows, and the most cells that a page can have.
TEST_F(PageWriter, the_shortest_records_fill_their_pages) {
  RecordEncoder encoder;
  for (int64_t row_count : {1, 83, 84, 85, 5000}) {
    Make(512, "CREATE TABLE ours0(c)");
    auto file = PageFile::Open(path_);
    ASSERT_TRUE(file.ok());
    auto appender = TableAppender::Create(*file.value(), 2);
    ASSERT_TRUE(appender.ok());
    for (int64_t rowid = 0; rowid < row_count; ++rowid) {
      ASSERT_TRUE(appender.value().Append(rowid, Encode(encoder, {Value{}})).ok());
    }
    ASSERT_TRUE(appender.value().Finish().ok());
    ASSERT_TRUE(file.value()->Finish().ok());
    Database db(path_);
    EXPECT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(db.Ask("SELECT count(*) FROM ours0 WHERE c IS NULL"), std::to_string(row_count));
    db.Run("DELETE FROM ours0 WHERE rowid % 3 = 0; INSERT INTO ours0 VALUES('x');");
    EXPECT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
  }
}

TEST_F(PageWriter, the_same_rows_give_the_same_bytes) {
  std::mt19937_64 random(11);
  const std::vector<Row> rows = RandomRows(random, 3000);
  std::string contents[2];
  for (std::string& content : contents) {
    Make(1024, CreateTables(1));
    ASSERT_NO_FATAL_FAILURE(AppendTables(path_, {2}, {rows}, random));
    std::ifstream file(path_, std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(file), {});
  }
  EXPECT_EQ(contents[0], contents[1]);
}

}  // namespace
}  // namespace tracedb
