// RowStore against SQLite: the same rows into two databases, by pages and by INSERT, which must
// then be the same cell by cell, type and value.

#include "tracedb/pages/row_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "page_test_tools.h"
#include "tracedb/pages/record_encoder.h"

namespace tracedb {
namespace {

using test::Columns;
using test::Database;
using test::Row;
using test::Value;

constexpr uint32_t kPageSizes[] = {512, 1024, 4096, 16384, 65536};

// `table` is its place among the names that the store was given.
struct TableRow {
  size_t table = 0;
  Row row;
};

class RowStoreTest : public test::PagesTest {
 protected:
  // Two databases of the same schema: path_ for pages, and the other for SQLite.
  void MakeBoth(uint32_t page_bytes, const std::string& sql) {
    Make(page_bytes, sql);
    other_ = folder_ / "other.db";
    std::filesystem::copy_file(path_, other_, std::filesystem::copy_options::overwrite_existing);
  }

  std::vector<uint32_t> RootPages(const std::vector<std::string>& tables) {
    Database db(path_);
    std::vector<uint32_t> pages;
    for (const std::string& table : tables) {
      const std::string page =
          db.Ask("SELECT rootpage FROM sqlite_schema WHERE name = '" + table + "'");
      pages.push_back(static_cast<uint32_t>(std::stoul(page)));
    }
    return pages;
  }

  // path_, by pages.
  void Fill(const std::vector<std::string>& tables, const std::vector<TableRow>& rows) {
    auto store = RowStore::Open(path_, RootPages(tables));
    ASSERT_TRUE(store.ok()) << store.error().what;
    RecordEncoder encoder;
    for (const TableRow& one : rows) {
      const auto record = test::Encode(encoder, one.row.values);
      const Status done = store.value().Append(one.table, one.row.rowid, record);
      ASSERT_TRUE(done.ok()) << done.error().what;
    }
    const Status done = store.value().Finish();
    ASSERT_TRUE(done.ok()) << done.error().what;
  }

  // other_, by SQLite: an INSERT for each table, of the rowid and then the values.
  void FillBySqlite(const std::vector<std::string>& inserts, const std::vector<TableRow>& rows) {
    Database db(other_);
    db.Run("PRAGMA synchronous = OFF; BEGIN");
    std::vector<sqlite3_stmt*> statements;
    for (const std::string& sql : inserts) statements.push_back(db.Prepare(sql));
    for (const TableRow& one : rows) {
      sqlite3_stmt* const insert = statements[one.table];
      sqlite3_clear_bindings(insert);
      sqlite3_bind_int64(insert, 1, one.row.rowid);
      for (size_t i = 0; i < one.row.values.size(); ++i) {
        test::Bind(insert, static_cast<int>(i) + 2, one.row.values[i]);
      }
      ASSERT_EQ(sqlite3_step(insert), SQLITE_DONE) << sqlite3_errmsg(db.get());
      sqlite3_reset(insert);
    }
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
    db.Run("COMMIT");
  }

  void ExpectSame(const std::vector<std::string>& tables, const std::vector<TableRow>& rows) {
    std::vector<std::string> inserts;
    for (const std::string& table : tables) {
      inserts.push_back("INSERT INTO " + table + "(rowid," + Columns() +
                        ") VALUES(?,?,?,?,?,?,?,?,?)");
    }
    ASSERT_NO_FATAL_FAILURE(Fill(tables, rows));
    ASSERT_NO_FATAL_FAILURE(FillBySqlite(inserts, rows));
    Database db(path_);
    db.Run("ATTACH '" + other_ + "' AS other");
    EXPECT_EQ(db.Ask("PRAGMA main.integrity_check"), "ok");
    EXPECT_EQ(db.Ask("PRAGMA other.integrity_check"), "ok");
    int64_t count = 0;
    for (const std::string& table : tables) {
      ASSERT_NO_FATAL_FAILURE(test::ExpectSameRows(db, "main." + table, "other." + table));
      count += std::stoll(db.Ask("SELECT count(*) FROM other." + table));
    }
    EXPECT_EQ(count, static_cast<int64_t>(rows.size()));
  }

  std::string other_;
};

// Rows of `tables` tables, which take turns at random; all kinds of values, and some long texts.
std::vector<TableRow> RandomRows(std::mt19937_64& random, size_t tables, size_t count,
                                 size_t text_bytes_max) {
  constexpr int64_t kFirst[] = {1, -70'000, test::kInt64Min, test::kInt64Max - 10'000'000};
  std::vector<int64_t> next(tables);
  for (int64_t& rowid : next) rowid = kFirst[random() % std::size(kFirst)];
  std::vector<TableRow> rows(count);
  for (TableRow& one : rows) {
    one.table = random() % tables;
    one.row.rowid = next[one.table];
    next[one.table] += static_cast<int64_t>(1 + (random() % 9 == 0 ? random() % 300 : 0));
    // Fewer than the table has as well: the others are NULL.
    const size_t columns = random() % 3 == 0 ? random() % (test::kColumns + 1) : test::kColumns;
    for (size_t i = 0; i < columns; ++i) one.row.values.push_back(test::RandomValue(random));
    if (random() % 20 == 0 && columns > 0) {
      const size_t bytes = random() % text_bytes_max;
      one.row.values[random() % columns] = std::string(bytes, 'L');
    }
  }
  return rows;
}

TEST_F(RowStoreTest, random_rows_are_the_same_at_every_page_size) {
  std::mt19937_64 random(31);
  const std::vector<std::string> tables = {"t0", "t1", "t2"};
  std::string sql;
  for (const std::string& table : tables) sql += "CREATE TABLE " + table + "(" + Columns() + ");";
  for (const uint32_t page_bytes : kPageSizes) {
    for (const size_t count : {0u, 1u, 3u, 100u, 20'000u}) {
      SCOPED_TRACE(std::to_string(count) + " rows, page size " + std::to_string(page_bytes));
      MakeBoth(page_bytes, sql);
      ExpectSame(tables, RandomRows(random, tables.size(), count, 3 * page_bytes));
    }
  }
}

TEST_F(RowStoreTest, texts_around_the_page_size_and_beyond) {
  for (const uint32_t page_bytes : {512u, 16384u, 65536u}) {
    SCOPED_TRACE(page_bytes);
    MakeBoth(page_bytes, "CREATE TABLE t(" + Columns() + ");");
    std::vector<TableRow> rows;
    for (const size_t bytes : {size_t{page_bytes}, size_t{1} << 20, size_t{3} << 20}) {
      for (size_t less = 0; less < 40; ++less) {
        const auto number = static_cast<int64_t>(rows.size());
        rows.push_back({0, {number, {number, std::string(bytes - less, 'x'), 0.5}}});
        if (bytes > size_t{1} << 20 && less == 2) break;
      }
    }
    ExpectSame({"t"}, rows);
  }
}

TEST_F(RowStoreTest, every_width_of_integers_and_every_real) {
  MakeBoth(4096, "CREATE TABLE t(" + Columns() + ");");
  std::vector<TableRow> rows;
  const auto add = [&rows](const Value& value) {
    rows.push_back({0, {static_cast<int64_t>(rows.size()), {value, value}}});
  };
  for (int bits = 0; bits < 64; ++bits) {
    const auto power = static_cast<int64_t>(uint64_t{1} << bits);
    for (const uint64_t near : {uint64_t(power) - 1, uint64_t(power), uint64_t(power) + 1}) {
      add(static_cast<int64_t>(near));
      add(static_cast<int64_t>(~near));
    }
  }
  for (const double real : {0.0, -0.0, 1.0, -2.5, 1e308, 5e-324, HUGE_VAL, -HUGE_VAL}) add(real);
  add(Value{});
  add(std::string());
  add(std::string("nul\0inside", 10));
  add(std::string("\xff\xfe no UTF-8"));
  ExpectSame({"t"}, rows);
}

TEST_F(RowStoreTest, a_column_that_is_the_rowid_and_columns_with_types) {
  std::mt19937_64 random(32);
  MakeBoth(1024,
           "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, size INTEGER, share REAL);"
           "CREATE TABLE \"odd \"\" name\"(\"a \"\" b\" TEXT, \"select\" INTEGER);");
  std::vector<TableRow> rows;
  for (int64_t i = 1; i <= 9'000; ++i) {
    rows.push_back({0,
                    {i * 3,
                     {Value{}, std::to_string(random() % 1000), static_cast<int64_t>(random()),
                      static_cast<double>(random() % 100) / 4}}});
    rows.push_back({1, {i, {std::string("12"), static_cast<int64_t>(i)}}});
  }
  ASSERT_NO_FATAL_FAILURE(Fill({"t", "odd \" name"}, rows));
  ASSERT_NO_FATAL_FAILURE(FillBySqlite(
      {"INSERT INTO t(rowid, name, size, share) SELECT ?1, ?3, ?4, ?5 WHERE ?2 IS NULL",
       "INSERT INTO \"odd \"\" name\"(rowid, \"a \"\" b\", \"select\") VALUES(?,?,?)"},
      rows));
  Database db(path_);
  db.Run("ATTACH '" + other_ + "' AS other");
  for (const std::string table : {"t", "\"odd \"\" name\""}) {
    ASSERT_NO_FATAL_FAILURE(test::ExpectSameRows(db, "main." + table, "other." + table));
  }
  EXPECT_EQ(db.Ask("SELECT count(*) FROM other.t WHERE id = rowid"), "9000");
}

TEST_F(RowStoreTest, indexes_are_left_to_the_caller) {
  std::mt19937_64 random(33);
  MakeBoth(4096, "CREATE TABLE t(" + Columns() + "); CREATE INDEX t_c1 ON t(c1, c0);");
  const auto rows = RandomRows(random, 1, 20'000, 2'000);
  ASSERT_NO_FATAL_FAILURE(Fill({"t"}, rows));
  Database pages(path_);
  EXPECT_NE(pages.Ask("PRAGMA integrity_check"), "ok");
  pages.Run("REINDEX t");
  EXPECT_EQ(pages.Ask("PRAGMA integrity_check"), "ok");
}

TEST_F(RowStoreTest, a_page_that_is_not_there_is_an_error) {
  MakeBoth(4096, "CREATE TABLE t(c);");
  const auto store = RowStore::Open(path_, {2, 3});
  ASSERT_FALSE(store.ok());
  EXPECT_NE(store.error().what.find("page 3 is no table"), std::string::npos) << store.error().what;
}

}  // namespace
}  // namespace tracedb
