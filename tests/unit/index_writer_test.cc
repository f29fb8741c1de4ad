// IndexAppender against SQLite: it must find the databases sound, which includes that the index
// agrees with its table, get the same answers from the index as from one that it made itself, and
// be able to go on writing to it.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "page_test_tools.h"
#include "pages/table_appender.h"
#include "tracedb/pages/index_appender.h"
#include "tracedb/pages/page_file.h"
#include "tracedb/pages/record_encoder.h"

namespace tracedb {
namespace {

using test::Database;
using test::Encode;
using test::ExpectNoPageWithoutCells;
using test::ExpectSameAnswers;
using test::Row;
using test::Value;

constexpr uint32_t kPageSizes[] = {512, 1024, 4096, 16384, 65536};

// The table of most of these tests: `a` has many duplicates, `c` texts and values of all types.
constexpr const char* kCreateTable = "CREATE TABLE t(a INTEGER, b INTEGER, c);";

struct Index {
  std::string order;     // as in CREATE INDEX and ORDER BY
  std::string backward;  // the same from the end
  std::vector<size_t> columns;
  bool is_first_descending = false;
};

const std::vector<Index>& Indexes() {
  static const std::vector<Index> indexes = {
      {"a", "a DESC", {0}},
      {"a,b", "a DESC,b DESC", {0, 1}},
      {"b DESC,a", "b,a DESC", {1, 0}, true},
      {"c", "c DESC", {2}},
      {"c,a", "c DESC,a DESC", {2, 0}},
  };
  return indexes;
}

// Both kinds of number fit into a long double without loss.
long double Number(const Value& value) {
  const auto* integer = std::get_if<int64_t>(&value);
  return integer != nullptr ? static_cast<long double>(*integer) : std::get<double>(value);
}

// SQLite's order: NULL, numbers, texts. Below 0: `left` comes first.
int Compare(const Value& left, const Value& right) {
  constexpr int kRanks[] = {0, 1, 1, 2};
  const int rank = kRanks[left.index()];
  if (rank != kRanks[right.index()]) return rank - kRanks[right.index()];
  if (rank == 0) return 0;
  if (rank == 2) return std::get<std::string>(left).compare(std::get<std::string>(right));
  return static_cast<int>(Number(left) > Number(right)) -
         static_cast<int>(Number(left) < Number(right));
}

// The index's entries in its order: the columns' values, then the rowid.
std::vector<std::vector<Value>> Entries(const std::vector<Row>& rows, const Index& index) {
  std::vector<const Row*> sorted;
  for (const Row& row : rows) sorted.push_back(&row);
  std::ranges::stable_sort(sorted, [&](const Row* left, const Row* right) {
    for (size_t i = 0; i < index.columns.size(); ++i) {
      const size_t column = index.columns[i];
      const int order = Compare(left->values[column], right->values[column]);
      if (order != 0) return (order < 0) != (i == 0 && index.is_first_descending);
    }
    return false;
  });
  std::vector<std::vector<Value>> entries;
  for (const Row* row : sorted) {
    auto& entry = entries.emplace_back();
    for (size_t column : index.columns) entry.push_back(row->values[column]);
    entry.push_back(row->rowid);
  }
  return entries;
}

Value RandomKey(std::mt19937_64& random, int64_t distinct) {
  switch (random() % 8) {
    case 0:
      return {};
    case 1:
      return static_cast<int64_t>(random()) >> (random() % 64);
    default:
      return static_cast<int64_t>(random() % static_cast<uint64_t>(distinct)) - distinct / 3;
  }
}

std::vector<Row> RandomRows(std::mt19937_64& random, size_t count) {
  std::vector<Row> rows(count);
  int64_t rowid = random() % 2 == 0 ? 0 : -5000;
  const auto distinct = static_cast<int64_t>(1 + count / (1 + random() % 200));
  size_t long_bytes_left = 1 << 20;
  for (Row& row : rows) {
    rowid += 1 + (random() % 8 == 0 ? static_cast<int64_t>(random() >> (24 + random() % 40)) : 0);
    row.rowid = rowid;
    row.values = {RandomKey(random, distinct), RandomKey(random, 100), test::RandomValue(random)};
    const size_t bytes = random() % (random() % 4 == 0 ? 300'000 : 3'000);
    if (random() % 10 == 0 && bytes <= long_bytes_left) {
      // Long texts that differ only at their ends, and pairs that do not.
      row.values[2] = std::string(bytes, 'L') + std::to_string(random() % 100);
      long_bytes_left -= bytes;
    } else if (random() % 3 == 0) {
      row.values[2] = "kernel_" + std::to_string(random() % 300);
    }
  }
  return rows;
}

class IndexWriter : public test::PagesTest {
 protected:
  void MakeTable(uint32_t page_bytes) {
    Make(page_bytes, kCreateTable + CreateIndexes("ours"));
    old_pages_ = std::filesystem::file_size(path_) / page_bytes;
  }

  static std::string CreateIndexes(const std::string& name) {
    std::string sql;
    for (size_t i = 0; i < Indexes().size(); ++i) {
      sql += "CREATE INDEX " + name + std::to_string(i) + " ON t(" + Indexes()[i].order + ");";
    }
    return sql;
  }

  // Writes the table and all its indexes, which take turns at random.
  void Write(const std::vector<Row>& rows, std::mt19937_64& random) {
    std::vector<uint32_t> roots;
    uint32_t table_root = 0;
    {
      Database db(path_);
      table_root = db.RootPage("t");
      for (size_t i = 0; i < Indexes().size(); ++i) {
        roots.push_back(db.RootPage("ours" + std::to_string(i)));
      }
    }
    auto file = PageFile::Open(path_);
    ASSERT_TRUE(file.ok()) << file.error().what;
    auto table = TableAppender::Create(*file.value(), table_root);
    ASSERT_TRUE(table.ok()) << table.error().what;
    std::vector<IndexAppender> appenders;
    std::vector<std::vector<std::vector<Value>>> entries;
    for (size_t i = 0; i < roots.size(); ++i) {
      auto appender = IndexAppender::Create(*file.value(), roots[i]);
      ASSERT_TRUE(appender.ok()) << appender.error().what;
      appenders.push_back(std::move(appender).value());
      entries.push_back(Entries(rows, Indexes()[i]));
    }
    RecordEncoder encoder;
    std::vector<size_t> next(roots.size(), 0);
    size_t next_row = 0;
    for (size_t left = rows.size() * (roots.size() + 1); left > 0;) {
      const size_t which = random() % (roots.size() + 1);
      size_t& at = which < roots.size() ? next[which] : next_row;
      for (size_t run = random() % 100; run > 0 && at < rows.size(); --run, --left, ++at) {
        const Status status =
            which < roots.size()
                ? appenders[which].Append(Encode(encoder, entries[which][at]))
                : table.value().Append(rows[at].rowid, Encode(encoder, rows[at].values));
        ASSERT_TRUE(status.ok()) << status.error().what;
      }
    }
    ASSERT_TRUE(table.value().Finish().ok());
    for (IndexAppender& appender : appenders) {
      ASSERT_EQ(appender.entry_count(), rows.size());
      ASSERT_TRUE(appender.Finish().ok());
    }
    ASSERT_TRUE(file.value()->Finish().ok());
  }

  // ours0... against theirs0..., which SQLite made: whole, and some `ranges` of each kind.
  static void ExpectSameIndexes(Database& db, std::mt19937_64& random, int ranges = 2) {
    ASSERT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
    const std::string row_count = db.Ask("SELECT count(*) FROM t NOT INDEXED");
    for (size_t i = 0; i < Indexes().size(); ++i) {
      const Index& index = Indexes()[i];
      const std::string first = index.order.substr(0, 1);
      // Of rows somewhere in the table, NULL now and then.
      const auto any = [&] {
        return "(SELECT " + first + " FROM t NOT INDEXED LIMIT 1 OFFSET " +
               std::to_string(random() % (std::stoull(row_count) + 1)) + ")";
      };
      std::vector<std::string> ends = {" ORDER BY " + index.order, " ORDER BY " + index.backward,
                                       " WHERE " + first + " IS NULL"};
      for (int run = 0; run < ranges; ++run) {
        const std::string from = " WHERE " + first + " >= " + any();
        ends.push_back(from);
        ends.push_back(from + " AND " + first + " < " + any() + " ORDER BY " + index.backward);
        ends.push_back(" WHERE " + first + " = " + any() + " ORDER BY " + index.order);
        ends.push_back(" WHERE " + first + " < " + any() + " AND a % 3 = 1");
        if (first != "a") continue;
        ends.push_back(" WHERE a = " + any() + " AND b > 3 ORDER BY b DESC");
      }
      const std::string number = std::to_string(i);
      for (const std::string& end : ends) {
        const std::string select = "SELECT rowid," + first + ",a FROM t INDEXED BY ";
        ASSERT_NO_FATAL_FAILURE(
            ExpectSameAnswers(db, select + "ours" + number + end, select + "theirs" + number + end))
            << end;
      }
    }
  }

  // Writes, compares, lets SQLite change the table in every way, and compares again.
  void Check(const std::vector<Row>& rows, std::mt19937_64& random) {
    ASSERT_NO_FATAL_FAILURE(Write(rows, random));
    Database db(path_);
    db.Run("PRAGMA synchronous = OFF");
    ASSERT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
    ASSERT_EQ(db.Ask("SELECT count(*) FROM t INDEXED BY ours0"), std::to_string(rows.size()));
    db.Run(CreateIndexes("theirs"));
    ASSERT_NO_FATAL_FAILURE(ExpectSameIndexes(db, random));
    db.Run(
        "BEGIN; DELETE FROM t WHERE rowid % 3 = 0;"
        "INSERT INTO t SELECT b, a, c FROM t WHERE rowid % 4 = 0;"
        "INSERT INTO t SELECT b, a, c || 'x' FROM t NOT INDEXED LIMIT 100;"
        "UPDATE t SET a = -b, c = 'changed' WHERE rowid % 5 = 0; COMMIT");
    ASSERT_NO_FATAL_FAILURE(ExpectSameIndexes(db, random));
    db.Run("VACUUM");
    ASSERT_NO_FATAL_FAILURE(ExpectSameIndexes(db, random));
  }

  uint64_t old_pages_ = 0;
};

TEST_F(IndexWriter, random_indexes_answer_as_sqlites_own) {
  std::mt19937_64 random(21);
  constexpr size_t kRowCounts[] = {0, 1, 2, 10, 100, 1000, 4000};
  for (uint32_t page_bytes : kPageSizes) {
    for (size_t most : kRowCounts) {
      SCOPED_TRACE(std::to_string(page_bytes) + ", " + std::to_string(most));
      MakeTable(page_bytes);
      ASSERT_NO_FATAL_FAILURE(Check(RandomRows(random, most - random() % (most / 8 + 1)), random));
    }
  }
}

TEST_F(IndexWriter, twenty_thousand_entries_at_every_page_size) {
  std::mt19937_64 random(22);
  for (uint32_t page_bytes : kPageSizes) {
    SCOPED_TRACE(page_bytes);
    MakeTable(page_bytes);
    ASSERT_NO_FATAL_FAILURE(Write(RandomRows(random, 20'000), random));
    ASSERT_NO_FATAL_FAILURE(ExpectNoPageWithoutCells(path_, page_bytes, old_pages_));
    Database db(path_);
    db.Run("PRAGMA synchronous = OFF;" + CreateIndexes("theirs"));
    ASSERT_NO_FATAL_FAILURE(ExpectSameIndexes(db, random, 1));
  }
}

// Around each record length at which the split between cell and overflow pages changes.
std::vector<Row> RowsAroundOverflowLimits(int64_t usable_bytes) {
  const int64_t max_local = (usable_bytes - 12) * 64 / 255 - 23;
  const int64_t min_local = (usable_bytes - 12) * 32 / 255 - 23;
  const int64_t page_room = usable_bytes - 4;
  std::vector<Row> rows;
  for (int64_t pages : {0, 1, 2, 3, 17}) {
    if (pages * page_room > 150'000) continue;
    for (int64_t bytes : {min_local + pages * page_room, max_local + pages * page_room}) {
      // The record's header and its other columns take some bytes: 12 on each side cover that.
      for (int64_t delta = -12; delta <= 12; ++delta) {
        const auto text_bytes = static_cast<size_t>(std::max<int64_t>(0, bytes - 6 + delta));
        Row& row = rows.emplace_back();
        row.rowid = static_cast<int64_t>(rows.size()) * 3 - 100;
        row.values = {row.rowid % 7, row.rowid, std::string(text_bytes, 'x')};
      }
    }
  }
  return rows;
}

TEST_F(IndexWriter, texts_around_the_overflow_limits) {
  std::mt19937_64 random(23);
  for (uint32_t page_bytes : kPageSizes) {
    SCOPED_TRACE(page_bytes);
    MakeTable(page_bytes);
    ASSERT_NO_FATAL_FAILURE(Check(RowsAroundOverflowLimits(page_bytes), random));
  }
}

TEST_F(IndexWriter, bytes_reserved_at_the_end_of_each_page_stay_unused) {
  std::mt19937_64 random(24);
  for (uint32_t page_bytes : {512u, 4096u, 65536u}) {
    SCOPED_TRACE(page_bytes);
    for (const auto& rows : {RandomRows(random, 1000), RowsAroundOverflowLimits(page_bytes - 32)}) {
      std::filesystem::remove(path_);
      {
        Database db(path_);
        int reserved_bytes = 32;
        ASSERT_EQ(
            sqlite3_file_control(db.get(), "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved_bytes),
            SQLITE_OK);
        db.Run("PRAGMA page_size = " + std::to_string(page_bytes) + ";" + kCreateTable +
               CreateIndexes("ours"));
      }
      ASSERT_NO_FATAL_FAILURE(Check(rows, random));
    }
  }
}

// With no room for more than four cells in a page, the tree grows a level every few entries: the
// counts go through every way in which the last pages of one to six levels can end.
TEST_F(IndexWriter, trees_of_every_shape_have_no_page_without_cells) {
  std::mt19937_64 random(25);
  std::vector<Row> rows;
  for (int64_t rowid = 1; rowid <= 800; ++rowid) {
    Row row{rowid, {rowid, rowid, std::string(random() % 100 < 90 ? 150 : 85, 'x')}};
    // In front, where the order is decided.
    std::get<std::string>(row.values[2]).replace(0, 4, std::to_string(1000 + rowid));
    rows.push_back(std::move(row));
    // Every shape of few levels, and one in nine of the others.
    if (rowid > 150 && rowid % 9 != 0) continue;
    SCOPED_TRACE(rowid);
    MakeTable(512);
    ASSERT_NO_FATAL_FAILURE(Write(rows, random));
    ASSERT_NO_FATAL_FAILURE(ExpectNoPageWithoutCells(path_, 512, old_pages_));
    Database db(path_);
    ASSERT_EQ(db.Ask("PRAGMA integrity_check"), "ok");
    for (const char* index : {"ours0", "ours2", "ours3"}) {
      const std::string from = " FROM t INDEXED BY " + std::string(index);
      const std::string column = index[4] == '0' ? "a" : index[4] == '2' ? "b" : "c";
      ASSERT_EQ(db.Ask("SELECT count(*)" + from + " WHERE " + column + " >= 0"),
                std::to_string(rows.size()));
    }
  }
}

// Four bytes a cell is the least that SQLite allows; NULL with rowid 0 or 1 has that.
TEST_F(IndexWriter, the_shortest_entries_fill_their_pages) {
  std::mt19937_64 random(26);
  for (int64_t row_count : {1, 2, 78, 79, 80, 5000}) {
    SCOPED_TRACE(row_count);
    MakeTable(512);
    std::vector<Row> rows;
    for (int64_t rowid = 0; rowid < row_count; ++rowid) rows.push_back({rowid, {{}, {}, {}}});
    ASSERT_NO_FATAL_FAILURE(Check(rows, random));
  }
}

TEST_F(IndexWriter, the_same_entries_give_the_same_bytes) {
  std::string contents[2];
  for (std::string& content : contents) {
    std::mt19937_64 random(27);
    MakeTable(1024);
    ASSERT_NO_FATAL_FAILURE(Write(RandomRows(random, 3000), random));
    std::ifstream file(path_, std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(file), {});
  }
  EXPECT_EQ(contents[0], contents[1]);
}

TEST_F(IndexWriter, only_the_root_of_an_empty_index_can_be_filled) {
  Make(1024,
       "CREATE TABLE t(c); CREATE TABLE empty(c); CREATE INDEX full ON t(c);"
       "INSERT INTO t VALUES(1); CREATE TABLE u(c); CREATE INDEX big ON u(c);"
       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
       "INSERT INTO u SELECT i FROM n");
  std::vector<std::pair<uint32_t, std::string>> cases;
  for (uint32_t root : {0u, 1u, 1000u, 0xffffffffu}) cases.push_back({root, "no index's root"});
  {
    Database db(path_);
    for (const char* name : {"t", "empty", "full", "big"}) {
      cases.push_back({db.RootPage(name), "not the root of an empty index"});
    }
  }
  auto file = PageFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.error().what;
  for (const auto& [root, part] : cases) {
    const auto appender = IndexAppender::Create(*file.value(), root);
    ASSERT_FALSE(appender.ok());
    EXPECT_EQ(appender.error().what.find(path_), 0u) << appender.error().what;
    EXPECT_NE(appender.error().what.find(part), std::string::npos) << appender.error().what;
  }
}

}  // namespace
}  // namespace tracedb
