// RecordEncoder and FixedRecord: byte for byte what SQLite itself writes, and what the file format
// says.

#include "tracedb/pages/record_encoder.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "page_test_tools.h"
#include "tracedb/pages/fixed_record.h"
#include "tracedb/pages/page_bytes.h"

namespace tracedb {
namespace {

using Bytes = std::vector<uint8_t>;
using Row = std::vector<test::Value>;
using test::kInt64Max;
using test::kInt64Min;
using test::Value;

Bytes Encode(RecordEncoder& encoder, const Row& row) {
  const auto record = test::Encode(encoder, row);
  return {record.begin(), record.end()};
}

Bytes Encode(const Row& row) {
  RecordEncoder encoder;
  return Encode(encoder, row);
}

uint64_t ReadVarint(const uint8_t*& from) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) {
    const uint8_t byte = *from++;
    value = value << 7 | (byte & 0x7f);
    if (byte < 0x80) return value;
  }
  return value << 8 | *from++;
}

// The record that SQLite writes for `row`: read from the one cell of a table's root page.
Bytes SqliteRecord(const Row& row, const std::string& type = "") {
  const std::string path =
      testing::TempDir() + "record_encoder_test_" + std::to_string(getpid()) + ".db";
  std::filesystem::remove(path);
  {
    std::string columns = "c0 " + type;
    std::string marks = "?";
    for (size_t i = 1; i < row.size(); ++i) {
      columns += ",c" + std::to_string(i);
      marks += ",?";
    }
    test::Database db(path);
    db.Run("PRAGMA page_size=65536; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;");
    db.Run("CREATE TABLE t(" + columns + ")");
    sqlite3_stmt* insert = db.Prepare("INSERT INTO t VALUES(" + marks + ")");
    for (size_t i = 0; i < row.size(); ++i) test::Bind(insert, static_cast<int>(i) + 1, row[i]);
    EXPECT_EQ(sqlite3_step(insert), SQLITE_DONE);
    EXPECT_EQ(sqlite3_finalize(insert), SQLITE_OK);
  }
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> all{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  const auto* page = reinterpret_cast<const uint8_t*>(all.data()) + 65536;
  EXPECT_EQ(GetU16(page + 3), 1u);
  const uint8_t* cell = page + GetU16(page + 8);
  const size_t record_bytes = ReadVarint(cell);
  ReadVarint(cell);  // the rowid
  return {cell, cell + record_bytes};
}

// clang-format off
constexpr const char* kNumberLike[] = {
    "0", "7", "-1", "+7", "007", " 7 ", "\t7\n", "7 8", "-", "+", "", " ", ".", "-.", "1.", ".5",
    "1.5", "-1.5", "7.0", "1e3", "1e", "1e+", "1E-2", "e3", "1.e2", ".e2", "0x0",
    "0x55d1e4ad3310", "stream 9", "inf", "nan", "-inf", "1_0", "--1", "-+1", "+-1",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "99999999999999999999",
    "4294967295", "9007199254740993", "1e18", "1e19", "-1e18", "0.1", "123456789012345678",
    "1e400", "-1e400", "1e-400", "-0", "-0.0",
};
// clang-format on

TEST(RecordEncoder, a_number_or_text_is_what_sqlite_keeps_in_an_integer_column) {
  RecordEncoder encoder;
  const auto check = [&](const std::string& text) {
    encoder.Reset();
    encoder.NumberOrText(text);
    const auto record = encoder.Finish();
    EXPECT_EQ(Bytes(record.begin(), record.end()), SqliteRecord({Value(text)}, "INTEGER")) << text;
  };
  for (const char* text : kNumberLike) check(text);
  std::mt19937 random(7);
  constexpr std::string_view kChars = "0123456789+-.eE x";
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (size_t length = random() % 6; text.size() < length;)
      text += kChars[random() % kChars.size()];
    check(text);
  }
}

TEST(Varint, every_length_reads_back_and_has_the_length_foretold) {
  std::vector<uint64_t> values = {0, ~uint64_t{0}};
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    values.insert(values.end(), {power - 1, power, power + 1});
  }
  for (uint64_t value : values) {
    uint8_t bytes[kVarintBytesMax];
    const uint8_t* end = PutVarint(bytes, value);
    ASSERT_EQ(static_cast<size_t>(end - bytes), VarintBytes(value)) << value;
    const uint8_t* from = bytes;
    ASSERT_EQ(ReadVarint(from), value);
    ASSERT_EQ(from, end);
  }
}

TEST(RecordEncoder, integers_take_the_smallest_width) {
  const struct {
    int64_t value;
    uint8_t type;
    size_t bytes;
  } kCases[] = {{0, 8, 0},
                {1, 9, 0},
                {2, 1, 1},
                {-1, 1, 1},
                {-2, 1, 1},
                {127, 1, 1},
                {-128, 1, 1},
                {128, 2, 2},
                {-129, 2, 2},
                {32767, 2, 2},
                {-32768, 2, 2},
                {32768, 3, 3},
                {-32769, 3, 3},
                {(1 << 23) - 1, 3, 3},
                {-(1 << 23), 3, 3},
                {1 << 23, 4, 4},
                {-(1 << 23) - 1, 4, 4},
                {(int64_t{1} << 31) - 1, 4, 4},
                {-(int64_t{1} << 31), 4, 4},
                {int64_t{1} << 31, 5, 6},
                {-(int64_t{1} << 31) - 1, 5, 6},
                {(int64_t{1} << 47) - 1, 5, 6},
                {-(int64_t{1} << 47), 5, 6},
                {int64_t{1} << 47, 6, 8},
                {-(int64_t{1} << 47) - 1, 6, 8},
                {kInt64Max, 6, 8},
                {kInt64Min, 6, 8}};
  for (const auto& [value, type, bytes] : kCases) {
    const Bytes record = Encode({value});
    ASSERT_EQ(record.size(), 2 + bytes) << value;
    EXPECT_EQ(record[1], type) << value;
    uint64_t read = value < 0 ? ~uint64_t{0} : type == 9 ? 1 : 0;
    for (size_t i = 2; i < record.size(); ++i) read = read << 8 | record[i];
    EXPECT_EQ(static_cast<int64_t>(read), value);
  }
}

TEST(FixedRecord, is_what_a_record_encoder_makes_of_the_row) {
  std::vector<Value> values = {Value(), std::string("X"), kInt64Max, kInt64Min};
  for (int bit = 0; bit < 63; ++bit) {
    const int64_t power = int64_t{1} << bit;
    values.insert(values.end(), {power, power - 1, -power, -power - 1});
  }
  std::mt19937 random(11);
  FixedRecord::Room room;
  for (int i = 0; i < 2000; ++i) {
    Row row(1 + random() % FixedRecord::kColumnsMax);
    for (Value& value : row) value = values[random() % values.size()];
    row.back() = int64_t{7};  // no NULL
    FixedRecord record(room, row.size());
    for (const Value& value : row) {
      if (const auto* number = std::get_if<int64_t>(&value)) {
        record.Int(*number);
      } else if (const auto* text = std::get_if<std::string>(&value)) {
        record.Char(text->front());
      } else {
        record.Null();
      }
    }
    const auto made = record.Finish();
    ASSERT_EQ(Bytes(made.begin(), made.end()), Encode(row));
  }
}

TEST(RecordEncoder, nulls_at_the_end_are_left_out_but_for_the_first_column) {
  const Value null;
  EXPECT_EQ(Encode(Row{}), (Bytes{2, 0}));
  EXPECT_EQ(Encode({null}), (Bytes{2, 0}));
  EXPECT_EQ(Encode({null, null, null}), (Bytes{2, 0}));
  EXPECT_EQ(Encode({null, int64_t{7}, null, null}), (Bytes{3, 0, 1, 7}));
  EXPECT_EQ(Encode({int64_t{0}, null}), (Bytes{2, 8}));
  EXPECT_EQ(Encode({std::string(), null}), (Bytes{2, 13}));
  // A text of 58 bytes has the type 129, in two bytes: 0x81 0x01.
  EXPECT_EQ(Encode({std::string(58, 'x'), null}).size(), 3u + 58);
  Row many(300, null);
  many[0] = int64_t{5};
  EXPECT_EQ(Encode(many), (Bytes{2, 1, 5}));
}

TEST(RecordEncoder, nan_becomes_null) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Encode({nan, int64_t{1}, -nan}), (Bytes{3, 0, 9}));
}

TEST(RecordEncoder, an_encoder_used_again_forgets_the_record_before) {
  RecordEncoder encoder;
  const Row long_row(200, std::string(1000, 'a'));
  const Row short_row = {int64_t{300}, std::string("b"), {}};
  EXPECT_EQ(Encode(encoder, long_row), Encode(long_row));
  EXPECT_EQ(Encode(encoder, short_row), (Bytes{3, 2, 15, 1, 44, 'b'}));
  encoder.Reset();
  encoder.Int(5);
  encoder.Reset();
  EXPECT_EQ(encoder.Finish().size(), 2u);
}

TEST(RecordEncoder, same_bytes_as_sqlite_around_the_header_sizes) {
  RecordEncoder encoder;
  // 126 type bytes are the most whose header size takes one byte; SQLite has 2,000 columns at
  // most, as built by default.
  for (size_t columns : {1u, 15u, 16u, 17u, 125u, 126u, 127u, 128u, 142u, 143u, 144u, 1999u}) {
    Row row(columns, int64_t{-3});
    ASSERT_EQ(Encode(encoder, row), SqliteRecord(row)) << columns;
    row.assign(columns, {});
    row.back() = std::string("end");
    ASSERT_EQ(Encode(encoder, row), SqliteRecord(row)) << columns;
  }
}

TEST(RecordEncoder, same_bytes_as_sqlite_around_the_text_sizes) {
  RecordEncoder encoder;
  for (size_t bytes :
       {0u, 1u, 56u, 57u, 58u, 59u, 1000u, 1024u, 1025u, 8184u, 8185u, 8186u, 8187u, 60000u}) {
    const Row row = {int64_t{1}, std::string(bytes, 'x'), int64_t{-70000}};
    ASSERT_EQ(Encode(encoder, row), SqliteRecord(row)) << bytes;
  }
}

TEST(RecordEncoder, a_header_of_more_than_16_kib) {
  // Type bytes on both sides of where the header's own size grows to three bytes.
  for (size_t columns : {16380u, 16381u, 16382u, 16383u, 40000u}) {
    const Bytes record = Encode(Row(columns, int64_t{1}));
    const size_t size_bytes = columns + 2 <= 0x3fff ? 2 : 3;
    ASSERT_EQ(record.size(), columns + size_bytes);
    const uint8_t* from = record.data();
    ASSERT_EQ(ReadVarint(from), record.size());
    ASSERT_EQ(from, record.data() + size_bytes);
    ASSERT_EQ(std::count(record.begin() + static_cast<ptrdiff_t>(size_bytes), record.end(), 9),
              static_cast<ptrdiff_t>(columns));
  }
}

TEST(RecordEncoder, a_text_of_megabytes_among_other_columns) {
  const std::string text(5 << 20, 'm');
  const Bytes record = Encode({int64_t{2}, text, int64_t{3}});
  const size_t header_bytes = 1 + 1 + 4 + 1;
  ASSERT_EQ(record.size(), header_bytes + 1 + text.size() + 1);
  EXPECT_EQ(record[header_bytes], 2);
  EXPECT_EQ(record.back(), 3);
  EXPECT_EQ(std::count(record.begin(), record.end(), 'm'), static_cast<ptrdiff_t>(text.size()));
}

TEST(RecordEncoder, same_bytes_as_sqlite_for_random_rows) {
  std::mt19937_64 random(20240501);
  RecordEncoder encoder;
  for (int i = 0; i < 300; ++i) {
    Row row(1 + random() % 20);
    for (Value& value : row) value = test::RandomValue(random);
    row.emplace_back(int64_t{i});  // SQLite, as Debian builds it, keeps the NULLs at the end
    ASSERT_EQ(Encode(encoder, row), SqliteRecord(row)) << i;
  }
}

}  // namespace
}  // namespace tracedb
