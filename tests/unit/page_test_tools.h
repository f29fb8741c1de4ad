// What the tests of the layer `pages` share: rows, a SQLite connection, a folder of their own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tracedb/pages/page_bytes.h"
#include "tracedb/pages/record_encoder.h"

namespace tracedb::test {

inline constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();

using Value = std::variant<std::monostate, int64_t, double, std::string>;

struct Row {
  int64_t rowid = 0;
  std::vector<Value> values;
};

inline constexpr size_t kColumns = 8;

inline std::span<const uint8_t> Encode(RecordEncoder& encoder, const std::vector<Value>& values) {
  encoder.Reset();
  for (const Value& value : values) {
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      encoder.Int(*integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      encoder.Real(*real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      encoder.Text(*text);
    } else {
      encoder.Null();
    }
  }
  return encoder.Finish();
}

inline void Bind(sqlite3_stmt* statement, int at, const Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    sqlite3_bind_int64(statement, at, *integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    sqlite3_bind_double(statement, at, *real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    const int bytes = static_cast<int>(text->size());
    sqlite3_bind_text(statement, at, text->data(), bytes, SQLITE_STATIC);
  } else {
    sqlite3_bind_null(statement, at);
  }
}

inline Value RandomValue(std::mt19937_64& random) {
  constexpr double kReals[] = {0.0, -0.0, 0.1, -1e308, 1e308, 5e-324, HUGE_VAL, -HUGE_VAL, 3.0};
  switch (random() % 7) {
    case 0:
    case 1:
      return {};
    case 2:
      return static_cast<int64_t>(random() % 4) - 1;
    case 3: {
      // The limits of every integer width: -2^k - 1 to 2^k + 1.
      const auto power = static_cast<int64_t>(uint64_t{1} << (7 + random() % 56));
      return (random() % 2 == 0 ? power : -power) + static_cast<int64_t>(random() % 3) - 1;
    }
    case 4:
      return random() % 2 == 0 ? kInt64Min : kInt64Max;
    case 5:
      return kReals[random() % std::size(kReals)];
    default:
      return std::string(random() % 80, static_cast<char>('a' + random() % 26));
  }
}

// A connection that fails the test at the first error.
class Database {
 public:
  explicit Database(const std::string& path) { Check(sqlite3_open(path.c_str(), &db_), path); }
  ~Database() { EXPECT_EQ(sqlite3_close(db_), SQLITE_OK); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  sqlite3* get() const { return db_; }

  void Run(const std::string& sql) {
    Check(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr), sql);
  }

  sqlite3_stmt* Prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    Check(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr), sql);
    return statement;
  }

  // The first column of the first row.
  std::string Ask(const std::string& sql) {
    sqlite3_stmt* statement = Prepare(sql);
    std::string answer;
    if (sqlite3_step(statement) == SQLITE_ROW) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
      answer = text == nullptr ? "NULL" : text;
    }
    Check(sqlite3_finalize(statement), sql);
    return answer;
  }

  uint32_t RootPage(const std::string& name) {
    return static_cast<uint32_t>(
        std::stoul(Ask("SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'")));
  }

 private:
  void Check(int code, const std::string& doing) {
    ASSERT_EQ(code, SQLITE_OK) << doing << ": " << sqlite3_errmsg(db_);
  }

  sqlite3* db_ = nullptr;
};

// Of every table in these tests.
inline std::string Columns() {
  std::string columns = "c0";
  for (size_t i = 1; i < kColumns; ++i) columns += ",c" + std::to_string(i);
  return columns;
}

// Fills `table` the ordinary way.
inline void InsertBySqlite(Database& db, const std::string& table, const std::vector<Row>& rows) {
  std::string marks = "?";
  for (size_t i = 0; i < kColumns; ++i) marks += ",?";
  sqlite3_stmt* insert =
      db.Prepare("INSERT INTO " + table + "(rowid," + Columns() + ") VALUES(" + marks + ")");
  for (const Row& row : rows) {
    sqlite3_bind_int64(insert, 1, row.rowid);
    for (size_t i = 0; i < kColumns; ++i) Bind(insert, static_cast<int>(i) + 2, row.values[i]);
    ASSERT_EQ(sqlite3_step(insert), SQLITE_DONE) << sqlite3_errmsg(db.get());
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
}

inline bool SameCell(sqlite3_stmt* a, sqlite3_stmt* b, int column) {
  const int type = sqlite3_column_type(a, column);
  if (type != sqlite3_column_type(b, column)) return false;
  if (type == SQLITE_FLOAT) {
    const double left = sqlite3_column_double(a, column);
    const double right = sqlite3_column_double(b, column);
    return std::memcmp(&left, &right, sizeof left) == 0;  // -0.0 is not 0.0 here
  }
  if (type == SQLITE_INTEGER) {
    return sqlite3_column_int64(a, column) == sqlite3_column_int64(b, column);
  }
  if (type == SQLITE_NULL) return true;
  const int bytes = sqlite3_column_bytes(a, column);
  return bytes == sqlite3_column_bytes(b, column) &&
         std::memcmp(sqlite3_column_text(a, column), sqlite3_column_text(b, column),
                     static_cast<size_t>(bytes)) == 0;
}

// Cell by cell, type and value, in the order in which the rows come. Both queries give the rowid
// first.
inline void ExpectSameAnswers(Database& db, const std::string& left, const std::string& right) {
  sqlite3_stmt* a = db.Prepare(left);
  sqlite3_stmt* b = db.Prepare(right);
  ASSERT_EQ(sqlite3_column_count(a), sqlite3_column_count(b));
  while (true) {
    const int code = sqlite3_step(a);
    ASSERT_EQ(code, sqlite3_step(b)) << left << ": " << sqlite3_errmsg(db.get());
    if (code != SQLITE_ROW) break;
    for (int column = 0; column < sqlite3_column_count(a); ++column) {
      ASSERT_TRUE(SameCell(a, b, column))
          << left << " rowid " << sqlite3_column_text(a, 0) << " column " << column;
    }
  }
  EXPECT_EQ(sqlite3_finalize(a), SQLITE_OK);
  EXPECT_EQ(sqlite3_finalize(b), SQLITE_OK);
}

inline void ExpectSameRows(Database& db, const std::string& left, const std::string& right) {
  ExpectSameAnswers(db, "SELECT rowid,* FROM " + left + " ORDER BY rowid",
                    "SELECT rowid,* FROM " + right + " ORDER BY rowid");
}

// Among the pages after the first `old_pages`: SQLite's own empty roots may have none.
inline void ExpectNoPageWithoutCells(const std::string& path, uint32_t page_bytes,
                                     uint64_t old_pages) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> page(page_bytes);
  for (uint64_t number = 1; file.read(page.data(), static_cast<std::streamsize>(page_bytes));
       ++number) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(page.data());
    const uint8_t kind = bytes[0];
    if (number > old_pages && (kind == 0x02 || kind == 0x05 || kind == 0x0a || kind == 0x0d)) {
      ASSERT_GT(GetU16(bytes + 3), 0u) << "page " << number;
    }
  }
}

// Lets the database end `pages_before` pages before the lock page, without writing a GiB: SQLite
// finds the pages between in its list of free pages, whose contents nobody reads, and the file
// has a hole there. With them accounted for, integrity_check covers all of the file.
inline void GrowToLockPage(const std::string& path, uint32_t page_bytes, uint32_t pages_before) {
  const uint32_t last_page = (1u << 30) / page_bytes - pages_before;
  const int file = open(path.c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  uint8_t header[100];
  ASSERT_EQ(pread(file, header, sizeof header, 0), 100);
  const uint32_t first_free = GetU32(header + 28) + 1;
  const uint32_t leaves_max = page_bytes / 4 - 8;
  std::vector<uint8_t> trunk(page_bytes);
  for (uint32_t page = first_free; page <= last_page;) {
    const uint32_t leaves = std::min(leaves_max, last_page - page);
    const uint32_t next_trunk = page + leaves + 1;
    PutU32(&trunk[0], next_trunk <= last_page ? next_trunk : 0);
    PutU32(&trunk[4], leaves);
    for (uint32_t i = 0; i < leaves; ++i) PutU32(&trunk[8 + 4 * i], page + 1 + i);
    ASSERT_EQ(pwrite(file, trunk.data(), page_bytes, off_t{page - 1} * page_bytes), page_bytes);
    page = next_trunk;
  }
  PutU32(header + 28, last_page);
  PutU32(header + 32, first_free);
  PutU32(header + 36, last_page - first_free + 1);
  ASSERT_EQ(pwrite(file, header, sizeof header, 0), 100);
  ASSERT_EQ(ftruncate(file, off_t{last_page} * page_bytes), 0);
  close(file);
}

// Four bytes of a text, as SQLite's files have numbers.
inline uint32_t BigEndian(const std::string& bytes, size_t at) {
  return GetU32(reinterpret_cast<const uint8_t*>(bytes.data()) + at);
}

// Each test has a folder of its own, with its database at path_.
class PagesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "pages_test_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = name + "/test.db";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A new database with what `sql` makes, closed again.
  void Make(uint32_t page_bytes, const std::string& sql) {
    std::filesystem::remove(path_);
    Database db(path_);
    db.Run("PRAGMA page_size = " + std::to_string(page_bytes) + "; PRAGMA synchronous = OFF;" +
           sql);
  }

  // Changes bytes of the closed database.
  void Patch(off_t offset, const std::vector<uint8_t>& bytes) const {
    const int file = open(path_.c_str(), O_WRONLY);
    ASSERT_EQ(pwrite(file, bytes.data(), bytes.size(), offset), static_cast<ssize_t>(bytes.size()));
    close(file);
  }

  std::filesystem::path folder_;
  std::string path_;
};

}  // namespace tracedb::test
