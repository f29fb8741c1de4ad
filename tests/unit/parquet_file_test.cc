#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "parquet/file_layout.h"
#include "parquet/thrift_compact.h"
#include "parquet/value_page.h"
#include "tracedb/parquet/parquet_reader.h"
#include "tracedb/parquet/parquet_writer.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

class ParquetFile : public ::testing::Test {
 protected:
  ParquetFile() : path_(fs::path(::testing::TempDir()) / ("p" + std::to_string(getpid()))) {}
  ~ParquetFile() override { fs::remove(path_); }

  static constexpr size_t kInteger = 0, kText = 1, kReal = 2;

  // Rows of all sorts: constant, rising, anything; texts of any bytes; many and no NULLs.
  void Make(size_t rows, unsigned seed) {
    std::mt19937_64 chance(seed);
    integers_.assign(rows, 0);
    texts_.assign(rows, "");
    reals_.assign(rows, 0);
    nulls_.assign(rows, {});
    const unsigned kind = seed % 4;
    for (size_t i = 0; i < rows; ++i) {
      integers_[i] = kind == 0    ? 7
                     : kind == 1  ? static_cast<int64_t>(i * 1000 + chance() % 900)
                     : kind == 2  ? static_cast<int64_t>(chance())
                     : i % 2 == 0 ? std::numeric_limits<int64_t>::max()
                                  : std::numeric_limits<int64_t>::min();
      for (size_t n = chance() % 9; n > 0; --n) texts_[i] += static_cast<char>(chance() % 128);
      reals_[i] = static_cast<double>(chance() % 1000) / 7;
      for (bool& is_null : nulls_[i]) is_null = seed % 3 != 0 && chance() % (1 + seed % 5) == 0;
    }
  }

  Status Write() {
    TRACEDB_ASSIGN(writer, ParquetWriter::Create(path_, {{"number", ParquetType::kInteger},
                                                         {"text", ParquetType::kText},
                                                         {"real", ParquetType::kReal}}));
    for (size_t i = 0; i < integers_.size(); ++i) {
      nulls_[i][0] ? writer.AddNull(kInteger) : writer.Add(kInteger, integers_[i]);
      nulls_[i][1] ? writer.AddNull(kText) : writer.Add(kText, std::string_view(texts_[i]));
      nulls_[i][2] ? writer.AddNull(kReal) : writer.Add(kReal, reals_[i]);
      TRACEDB_TRY(writer.EndRow());
    }
    return writer.Finish();
  }

  // Reads all there is; how many rows, or the error.
  Result<size_t> ReadAll(bool compare) {
    TRACEDB_ASSIGN(reader, ParquetReader::Open(path_));
    size_t row = 0;
    for (size_t group = 0; group < reader.groups(); ++group) {
      std::vector<ParquetValues> values;
      for (size_t column = 0; column < reader.columns().size(); ++column) {
        TRACEDB_ASSIGN(read, reader.Read(group, column));
        values.push_back(std::move(read));
      }
      if (compare) Compare(values, row, reader.Range(group, kInteger));
      row += values.front().rows();
    }
    return row;
  }

  void Compare(const std::vector<ParquetValues>& values, size_t first,
               std::optional<std::pair<int64_t, int64_t>> range) {
    for (size_t i = 0; i < values[0].rows(); ++i) {
      const size_t row = first + i;
      ASSERT_EQ(values[kInteger].is_there[i], !nulls_[row][0]) << row;
      ASSERT_EQ(values[kText].is_there[i], !nulls_[row][1]) << row;
      ASSERT_EQ(values[kReal].is_there[i], !nulls_[row][2]) << row;
      if (!nulls_[row][0]) {
        ASSERT_EQ(values[kInteger].integers[i], integers_[row]) << row;
        ASSERT_TRUE(range.has_value());
        ASSERT_LE(range->first, integers_[row]);
        ASSERT_GE(range->second, integers_[row]);
      }
      if (!nulls_[row][1]) {
        ASSERT_EQ(values[kText].Text(i), texts_[row]) << row;
      }
      if (!nulls_[row][2]) {
        ASSERT_EQ(values[kReal].reals[i], reals_[row]) << row;
      }
    }
  }

  std::string Bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void SetBytes(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  fs::path path_;
  std::vector<int64_t> integers_;
  std::vector<std::string> texts_;
  std::vector<double> reals_;
  std::vector<std::array<bool, 3>> nulls_;
};

TEST_F(ParquetFile, what_is_written_is_read_again) {
  for (const size_t rows :
       {1u, 2u, 31u, 32u, 33u, 127u, 128u, 129u, 130u, 1000u, 16384u, 16385u, 40000u}) {
    for (unsigned seed = 0; seed < 12; ++seed) {
      Make(rows, seed);
      ASSERT_TRUE(Write().ok());
      const auto read = ReadAll(true);
      ASSERT_TRUE(read.ok()) << rows << " " << seed << ": " << read.error().what;
      ASSERT_EQ(read.value(), rows);
      if (rows > 1000 && seed == 3) break;
    }
  }
}

TEST_F(ParquetFile, a_file_that_ends_early_is_an_error) {
  Make(200, 1);
  ASSERT_TRUE(Write().ok());
  const std::string whole = Bytes();
  for (size_t length = 0; length < whole.size(); ++length) {
    SetBytes(whole.substr(0, length));
    ASSERT_FALSE(ReadAll(false).ok()) << length;
  }
}

// In pages a checksum tells; in the footer a number that is another may be one that can be, but
// then rows still are as many as there are values.
TEST_F(ParquetFile, any_byte_that_is_another_is_an_error_or_harmless) {
  Make(300, 5);
  ASSERT_TRUE(Write().ok());
  const std::string whole = Bytes();
  size_t errors = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      SetBytes(damaged);
      const auto read = ReadAll(false);
      errors += read.ok() ? 0 : 1;
      if (read.ok()) {
        ASSERT_EQ(read.value(), 300u) << at;
      }
    }
  }
  EXPECT_GT(errors, whole.size() * 3 * 8 / 10);
}

TEST_F(ParquetFile, what_a_footer_says_takes_no_memory) {
  Make(10, 1);
  ASSERT_TRUE(Write().ok());
  std::string bytes = Bytes();
  // A footer as long as 4 GiB.
  for (size_t i = bytes.size() - 8; i < bytes.size() - 4; ++i) bytes[i] = '\xff';
  SetBytes(bytes);
  EXPECT_FALSE(ReadAll(false).ok());
}

TEST(FileLayout, a_column_with_other_rows_than_its_group_is_no_footer) {
  FileLayout layout;
  layout.columns = {{"number", ParquetType::kInteger}, {"text", ParquetType::kText}};
  layout.rows = 10;
  ParquetRowGroup& group = layout.groups.emplace_back();
  group.rows = 10;
  group.chunks.resize(2);
  for (ColumnChunk& chunk : group.chunks) chunk.rows = 10;
  EXPECT_TRUE(ReadFooter(WriteFooter(layout)).has_value());
  for (const int64_t rows : {0, 9, 11}) {
    group.chunks[1].rows = rows;
    EXPECT_FALSE(ReadFooter(WriteFooter(layout)).has_value()) << rows;
  }
}

TEST(ValuePage, bytes_at_random_are_no_page_or_have_so_many_rows) {
  std::mt19937 chance(3);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(chance() % 120, '\0');
    for (char& c : bytes) c = static_cast<char>(chance() % 4 == 0 ? chance() : chance() % 8);
    for (const ParquetType type : {ParquetType::kInteger, ParquetType::kReal, ParquetType::kText}) {
      for (const PageEncoding encoding : {PageEncoding::kPlain, PageEncoding::kDeltaBinaryPacked}) {
        const auto page = DecodePage(bytes, type, encoding, 5);
        if (page.has_value()) {
          EXPECT_EQ(page->rows(), 5u);
        }
      }
    }
  }
}

TEST(ThriftReader, nothing_is_read_after_what_cannot_be) {
  ThriftReader deep(std::string_view("\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c\x1c", 11));
  for (int i = 0; i < 20; ++i) {
    deep.Next();
    deep.BeginStruct();
  }
  EXPECT_FALSE(deep.ok());
  ThriftReader longer(std::string_view("\x18\xff\xff\xff\x7f", 5));
  longer.Next();
  EXPECT_TRUE(longer.Binary().empty());
  EXPECT_FALSE(longer.ok());
}

}  // namespace
}  // namespace tracedb
