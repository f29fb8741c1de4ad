// CopyTrees against SQLite: rows that are copied with sums must be those that an INSERT ... SELECT
// with the sums in it makes, cell by cell, in tables and indexes.

#include "tracedb/pages/tree_copy.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "page_test_tools.h"

namespace tracedb {
namespace {

using test::Columns;
using test::Database;
using test::Row;

constexpr uint32_t kPageSizes[] = {512, 1024, 4096, 16384, 65536};

const std::string kSchema = "CREATE TABLE t(" + Columns() +
                            "); CREATE INDEX t_c0 ON t(c0, c1);"
                            "CREATE TABLE w(a INTEGER, b INTEGER, c, PRIMARY KEY(a, b)) "
                            "WITHOUT ROWID";

class TreeCopyTest : public test::PagesTest {
 protected:
  // Two empty databases, path_ to be filled by pages and expected_ by SQLite, and rows in source_.
  void MakeAll(uint32_t page_bytes, const std::vector<Row>& rows) {
    Make(page_bytes, kSchema);
    source_ = folder_ / "source.db";
    expected_ = folder_ / "expected.db";
    for (const std::string& path : {source_, expected_}) {
      std::filesystem::copy_file(path_, path, std::filesystem::copy_options::overwrite_existing);
    }
    Database db(source_);
    db.Run("PRAGMA synchronous = OFF; BEGIN");
    ASSERT_NO_FATAL_FAILURE(test::InsertBySqlite(db, "t", rows));
    db.Run("INSERT INTO w SELECT c0, rowid, c1 FROM t WHERE c0 IS NOT NULL; COMMIT");
  }

  std::vector<CopiedTree> Trees(int64_t add_rowid, int64_t add) {
    Database db(path_);
    return {{db.RootPage("t"), false, add_rowid, {{0, add}, {2, add}}},
            {db.RootPage("t_c0"), true, 0, {{0, add}, {2, add_rowid}}},
            {db.RootPage("w"), true, 0, {{0, add}, {1, add_rowid}}}};
  }

  void ExpectSums(int64_t add_rowid, int64_t add) {
    {
      Database db(expected_);
      db.Run("ATTACH '" + source_ + "' AS source; PRAGMA synchronous = OFF; BEGIN");
      const std::string by = std::to_string(add);
      const std::string rowid = std::to_string(add_rowid);
      std::string columns = "c0 + " + by + ", c1, c2 + " + by;
      for (size_t i = 3; i < test::kColumns; ++i) columns += ", c" + std::to_string(i);
      db.Run("INSERT INTO t SELECT " + columns + " FROM source.t ORDER BY rowid");
      db.Run("DELETE FROM t");  // with rowids of its own
      std::string names = "rowid";
      for (size_t i = 0; i < test::kColumns; ++i) names += ", c" + std::to_string(i);
      db.Run("INSERT INTO t(" + names + ") SELECT rowid + " + rowid + ", " + columns +
             " FROM source.t ORDER BY rowid");
      db.Run("INSERT INTO w SELECT a + " + by + ", b + " + rowid + ", c FROM source.w; COMMIT");
    }
    Database db(path_);
    db.Run("ATTACH '" + expected_ + "' AS expected");
    EXPECT_EQ(db.Ask("PRAGMA main.integrity_check"), "ok");
    ASSERT_NO_FATAL_FAILURE(test::ExpectSameRows(db, "main.t", "expected.t"));
    ASSERT_NO_FATAL_FAILURE(test::ExpectSameAnswers(db, "SELECT * FROM main.w ORDER BY a, b",
                                                    "SELECT * FROM expected.w ORDER BY a, b"));
    const std::string by_index = " INDEXED BY t_c0 WHERE c0 IS NULL OR c0 > -1e9 ORDER BY c0, c1";
    ASSERT_NO_FATAL_FAILURE(
        test::ExpectSameAnswers(db, "SELECT rowid, c0, c1 FROM main.t" + by_index,
                                "SELECT rowid, c0, c1 FROM expected.t" + by_index));
  }

  std::string source_;
  std::string expected_;
};

// Rising c0, as the index is in the same order with any sum; c2 is an integer or NULL.
std::vector<Row> Rows(std::mt19937_64& random, size_t count, size_t text_bytes_max) {
  std::vector<Row> rows(count);
  int64_t next = 0;
  for (Row& row : rows) {
    next += static_cast<int64_t>(1 + random() % 3);
    row.rowid = next;
    row.values = {next / 2};
    for (size_t i = 1; i < test::kColumns; ++i) row.values.push_back(test::RandomValue(random));
    row.values[2] = {};
    if (random() % 4 != 0) {
      row.values[2] = static_cast<int64_t>(random() >> (4 + random() % 60)) - 40;
    }
    if (random() % 9 == 0) row.values[1] = std::string(random() % text_bytes_max, 'k');
    if (random() % 9 == 0) row.values[5] = std::string(random() % text_bytes_max, 'v');
  }
  return rows;
}

Row OneRow(const test::Value& c2) {
  Row row{1, std::vector<test::Value>(test::kColumns)};
  row.values[0] = int64_t{1};
  row.values[2] = c2;
  return row;
}

TEST_F(TreeCopyTest, rows_are_those_of_sqlite) {
  std::mt19937_64 random(11);
  for (const uint32_t page_bytes : kPageSizes) {
    for (const size_t count : {size_t{0}, size_t{1}, size_t{50}, size_t{1500}}) {
      for (const int64_t add : {int64_t{0}, int64_t{1}, int64_t{130}, int64_t{40000},
                                int64_t{5000000000}, int64_t{-20}}) {
        const auto add_rowid = static_cast<int64_t>(random() % 3000000);
        SCOPED_TRACE(std::to_string(page_bytes) + ", " + std::to_string(count) + " rows, " +
                     std::to_string(add));
        ASSERT_NO_FATAL_FAILURE(MakeAll(page_bytes, Rows(random, count, 3 * page_bytes)));
        const Status copied = CopyTrees(source_, path_, Trees(add_rowid, add));
        ASSERT_TRUE(copied.ok()) << copied.error().what;
        ASSERT_NO_FATAL_FAILURE(ExpectSums(add_rowid, add));
      }
    }
  }
}

TEST_F(TreeCopyTest, a_text_has_no_sum) {
  ASSERT_NO_FATAL_FAILURE(MakeAll(1024, {OneRow(std::string("text"))}));
  EXPECT_FALSE(CopyTrees(source_, path_, Trees(1, 1)).ok());
}

TEST_F(TreeCopyTest, a_sum_beyond_64_bits_is_none) {
  ASSERT_NO_FATAL_FAILURE(MakeAll(1024, {OneRow(test::kInt64Max)}));
  EXPECT_FALSE(CopyTrees(source_, path_, Trees(1, 1)).ok());
}

TEST_F(TreeCopyTest, what_is_damaged_is_an_error_or_copied) {
  std::mt19937_64 random(12);
  const auto rows = Rows(random, 600, 3000);
  for (int i = 0; i < 300; ++i) {
    ASSERT_NO_FATAL_FAILURE(MakeAll(1024, rows));
    const auto trees = Trees(1000, 77);
    const auto bytes = std::filesystem::file_size(source_);
    if (i % 10 == 0) {
      std::filesystem::resize_file(source_, random() % bytes);
    } else {
      std::fstream file(source_, std::ios::in | std::ios::out | std::ios::binary);
      for (int j = 0; j < 20; ++j) {
        file.seekp(static_cast<std::streamoff>(1024 + random() % (bytes - 1024)));
        file.put(static_cast<char>(random()));
      }
    }
    static_cast<void>(CopyTrees(source_, path_, trees).ok());
  }
}

}  // namespace
}  // namespace tracedb
