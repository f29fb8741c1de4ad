// A Parquet file: what pandas, polars, DuckDB and Spark read column by column, packed. Row groups
// of up to 65,536 rows; the first of them that has a value of a column tells the column's type.
#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "text/typed_column.h"
#include "tracedb/parquet/parquet_encoder.h"
#include "tracedb/text/result_sinks.h"

namespace tracedb {
namespace {

// Of all columns; a row group ends with the value that reaches it.
constexpr size_t kGroupTextBytesMax = size_t{8} << 20;
constexpr size_t kGroupValuesMax = size_t{1} << 21;  // 16 MiB of numbers, where columns are many
// Level 9 takes 40 % more of the whole program's time, for files that are 2 to 14 % shorter.
constexpr ParquetPacking kPacking = {.zstd_level = 3, .dictionary = true};

ParquetType ParquetTypeOf(SqlType type) {
  switch (type) {
    case SqlType::kInteger:
      return ParquetType::kInteger;
    case SqlType::kReal:
      return ParquetType::kReal;
    case SqlType::kBlob:
      return ParquetType::kBytes;
    case SqlType::kNull:
    case SqlType::kText:
      break;
  }
  return ParquetType::kText;
}

ParquetValues ValuesOf(const TypedColumn& column) {
  ParquetValues values;
  values.type = ParquetTypeOf(column.type());
  values.is_there.resize(column.rows());
  for (size_t row = 0; row < column.rows(); ++row) {
    values.is_there[row] = column.IsNull(row) ? 0 : 1;
  }
  if (values.type == ParquetType::kInteger) {
    values.integers = column.words();
  } else if (values.type == ParquetType::kReal) {
    values.reals.reserve(column.rows());
    for (const int64_t word : column.words()) values.reals.push_back(std::bit_cast<double>(word));
  } else if (column.type() == SqlType::kNull) {
    values.text_end.assign(column.rows(), 0);
  } else {
    values.bytes = column.text();
    values.text_end.assign(column.ends().begin(), column.ends().end());
  }
  return values;
}

class ParquetSink : public RowSink {
 public:
  ParquetSink(std::vector<SqlType> types, OutputStream& output)
      : types_(std::move(types)),
        encoder_(kPacking, [&output](std::string_view bytes) { return output.Write(bytes); }) {}

  Status Begin(std::span<const std::string> column_names) override {
    if (begun_) {
      return Error{ErrorKind::kUsage, "--format parquet takes one result, and here is a second",
                   "ask for each by itself"};
    }
    begun_ = true;
    const std::vector<std::string> distinct = DistinctNames(column_names);
    for (size_t i = 0; i < distinct.size(); ++i) {
      AppendUtf8(names_.emplace_back(), distinct[i]);
      const bool is_known = types_.size() == distinct.size();
      columns_.emplace_back(is_known ? types_[i] : SqlType::kNull);
    }
    group_rows_max_ = std::clamp<size_t>(kGroupValuesMax / std::max<size_t>(columns_.size(), 1), 1,
                                         ParquetEncoder::kGroupRowsMax);
    return Done{};
  }

  Status Row(std::span<const Cell> cells) override {
    size_t text_bytes = 0;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (!columns_[i].Add(cells[i])) {
        return DoesNotFit("Parquet", names_[i], encoder_.rows() + static_cast<int64_t>(rows_) + 1,
                          cells[i]);
      }
      text_bytes += columns_[i].text().size();
    }
    ++rows_;
    const bool is_full = rows_ == group_rows_max_ || text_bytes >= kGroupTextBytesMax;
    return is_full ? WriteGroup() : Status(Done{});
  }

  Status End() override {
    if (rows_ > 0) TRACEDB_TRY(WriteGroup());
    std::vector<ParquetColumn> columns;
    for (size_t i = 0; i < columns_.size(); ++i) {
      columns.push_back({names_[i], ParquetTypeOf(columns_[i].type())});
    }
    return encoder_.Finish(columns);
  }

 private:
  Status WriteGroup() {
    for (size_t i = 0; i < columns_.size(); ++i) {
      columns_[i].Freeze();
      TRACEDB_TRY(encoder_.AddColumn(ValuesOf(columns_[i]), names_[i]));
      columns_[i].Clear();
    }
    rows_ = 0;
    return encoder_.EndGroup();
  }

  const std::vector<SqlType> types_;
  ParquetEncoder encoder_;
  bool begun_ = false;
  std::vector<std::string> names_;
  std::vector<TypedColumn> columns_;
  size_t group_rows_max_ = 0;
  size_t rows_ = 0;  // in the row group
};

}  // namespace

std::unique_ptr<RowSink> MakeParquetSink(const SinkOptions& options, OutputStream& output) {
  return std::make_unique<ParquetSink>(options.types, output);
}

}  // namespace tracedb
