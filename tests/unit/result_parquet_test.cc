#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tracedb/parquet/parquet_reader.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

Cell Integer(int64_t value) { return {SqlType::kInteger, value, 0, {}}; }
Cell Real(double value) { return {SqlType::kReal, 0, value, {}}; }
Cell Text(std::string_view text) { return {SqlType::kText, 0, 0, text}; }
Cell Blob(std::string_view bytes) { return {SqlType::kBlob, 0, 0, bytes}; }

class ResultParquet : public ::testing::Test {
 protected:
  ResultParquet() : path_(fs::path(::testing::TempDir()) / ("r" + std::to_string(getpid()))) {}
  ~ResultParquet() override { fs::remove(path_); }

  // A column of these, or the error.
  template <typename CellOf>
  Status Write(size_t rows, CellOf cell_of, std::vector<SqlType> types = {}) {
    StringOutput output;
    SinkOptions options;
    options.types = std::move(types);
    const auto sink = MakeSink(Format::kParquet, options, output);
    TRACEDB_TRY(sink->Begin(std::vector<std::string>{"v"}));
    for (size_t row = 0; row < rows; ++row) {
      TRACEDB_TRY(sink->Row(std::vector<Cell>{cell_of(row)}));
    }
    TRACEDB_TRY(sink->End());
    TRACEDB_TRY(output.Flush());
    std::ofstream(path_, std::ios::binary) << output.text();
    return Done{};
  }

  // The file's one column, each row group's values; what they are of in `type`.
  std::vector<ParquetValues> Read() {
    auto reader = ParquetReader::Open(path_);
    EXPECT_TRUE(reader.ok()) << reader.error().what;
    type_ = reader.value().columns().at(0).type;
    std::vector<ParquetValues> groups;
    for (size_t group = 0; group < reader.value().groups(); ++group) {
      auto values = reader.value().Read(group, 0);
      EXPECT_TRUE(values.ok()) << values.error().what;
      groups.push_back(std::move(values).value());
    }
    return groups;
  }

  fs::path path_;
  ParquetType type_ = ParquetType::kInteger;
};

TEST_F(ResultParquet, types_widen_within_a_row_group) {
  const std::vector<Cell> cells = {Cell{}, Integer(1), Real(2.5)};
  ASSERT_TRUE(Write(3, [&](size_t row) { return cells[row]; }).ok());
  auto groups = Read();
  EXPECT_EQ(type_, ParquetType::kReal);
  EXPECT_EQ(groups[0].is_there, (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ(groups[0].reals, (std::vector<double>{0, 1, 2.5}));

  const std::vector<Cell> mixed = {Integer(7), Text("x"), Cell{}, Real(0.5)};
  ASSERT_TRUE(Write(4, [&](size_t row) { return mixed[row]; }).ok());
  groups = Read();
  EXPECT_EQ(type_, ParquetType::kText);
  EXPECT_EQ(groups[0].Text(0), "7");
  EXPECT_EQ(groups[0].Text(1), "x");
  EXPECT_EQ(groups[0].is_there[2], 0);
  EXPECT_EQ(groups[0].Text(3), "0.5");
}

TEST_F(ResultParquet, bytes_stay_bytes_and_texts_that_are_no_utf8_become_it) {
  ASSERT_TRUE(Write(1, [](size_t) { return Blob(std::string_view("\0\xff", 2)); }).ok());
  auto groups = Read();
  EXPECT_EQ(type_, ParquetType::kBytes);
  EXPECT_EQ(groups[0].Text(0), std::string_view("\0\xff", 2));
  ASSERT_TRUE(Write(1, [](size_t) { return Text("a\xff"); }).ok());
  groups = Read();
  EXPECT_EQ(groups[0].Text(0), "a\xEF\xBF\xBD");
}

// NULLs alone never decide: the value that comes 100,000 rows later does.
TEST_F(ResultParquet, a_column_that_begins_with_nulls_is_what_its_first_value_is) {
  constexpr size_t kRows = 200'000;
  ASSERT_TRUE(
      Write(kRows, [](size_t row) { return row < 100'000 ? Cell{} : Integer(int64_t(row)); }).ok());
  const auto groups = Read();
  EXPECT_EQ(type_, ParquetType::kInteger);
  ASSERT_EQ(groups.size(), 4u);
  size_t row = 0;
  for (const ParquetValues& group : groups) {
    for (size_t i = 0; i < group.rows(); ++i, ++row) {
      ASSERT_EQ(group.is_there[i], row < 100'000 ? 0 : 1);
      ASSERT_EQ(group.integers[i], row < 100'000 ? 0 : int64_t(row));
    }
  }
  EXPECT_EQ(row, kRows);
}

TEST_F(ResultParquet, another_type_once_a_row_group_is_written_is_an_error_that_names_it) {
  const Status status =
      Write(100'000, [](size_t row) { return row < 70'000 ? Integer(1) : Text("x"); });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().what,
            "column 'v' has another type in row 70001 ('x') than in those before");
  EXPECT_NE(status.error().advice.find("CAST"), std::string::npos);
}

// Few texts, many, and so many that there is no dictionary; NULLs between them.
TEST_F(ResultParquet, texts_come_back_whatever_their_number) {
  for (const size_t distinct : {1u, 2u, 3u, 16u, 17u, 256u, 257u, 30'000u, 65'536u}) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < distinct; ++i) texts.push_back("kernel_" + std::to_string(i * 7));
    const auto cell_of = [&](size_t row) {
      return row % 5 == 3 ? Cell{} : Text(texts[row * 2654435761u % distinct]);
    };
    ASSERT_TRUE(Write(70'000, cell_of).ok());
    size_t row = 0;
    for (const ParquetValues& group : Read()) {
      for (size_t i = 0; i < group.rows(); ++i, ++row) {
        ASSERT_EQ(group.is_there[i], row % 5 == 3 ? 0 : 1) << distinct;
        if (group.is_there[i] != 0) {
          ASSERT_EQ(group.Text(i), cell_of(row).text) << distinct;
        }
      }
    }
    ASSERT_EQ(row, 70'000u);
  }
}

TEST_F(ResultParquet, a_result_without_rows_has_the_headers_types) {
  ASSERT_TRUE(Write(0, [](size_t) { return Cell{}; }, {SqlType::kReal}).ok());
  EXPECT_TRUE(Read().empty());
  EXPECT_EQ(type_, ParquetType::kReal);
}

// A dictionary's page, and the numbers into it, may be anything.
TEST_F(ResultParquet, any_byte_that_is_another_is_an_error_or_harmless) {
  const std::vector<std::string> texts = {"gemm", "copy", "reduce"};
  ASSERT_TRUE(Write(100, [&](size_t row) { return Text(texts[row * row % 3]); }).ok());
  std::ifstream in(path_, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  size_t errors = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      std::ofstream(path_, std::ios::binary) << damaged;
      auto reader = ParquetReader::Open(path_);
      const bool opened = reader.ok() && reader.value().groups() == 1;
      const auto values = opened ? reader.value().Read(0, 0) : Result<ParquetValues>(Error{});
      errors += values.ok() ? 0 : 1;
      if (values.ok()) {
        ASSERT_EQ(values.value().rows(), 100u) << at;
      }
    }
  }
  EXPECT_GT(errors, whole.size() * 8 * 7 / 10);
}

}  // namespace
}  // namespace tracedb
