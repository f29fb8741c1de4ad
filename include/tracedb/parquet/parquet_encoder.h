// Row groups -> the bytes of a Parquet file, wherever they go. A column's type need not be known
// before its first value: the file's end says what the columns are.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/parquet/parquet_columns.h"

namespace tracedb {

struct ParquetPacking {
  int zstd_level = 9;       // a summary is written once and read by thousands
  bool dictionary = false;  // texts that repeat are written once a row group
};

class ParquetEncoder {
 public:
  using Take = std::function<Status(std::string_view)>;

  static constexpr size_t kGroupRowsMax = 65536;

  ParquetEncoder(ParquetPacking packing, Take take);
  ~ParquetEncoder();
  ParquetEncoder(ParquetEncoder&& other) noexcept;
  ParquetEncoder(const ParquetEncoder&) = delete;
  ParquetEncoder& operator=(const ParquetEncoder&) = delete;
  ParquetEncoder& operator=(ParquetEncoder&&) = delete;

  // One column after the other, each with as many rows, which are no more than kGroupRowsMax. An
  // error is of kOutput; `name` is for errors.
  Status AddColumn(const ParquetValues& values, std::string_view name);
  // After the last column of a row group.
  Status EndGroup();
  // The footer. Each column has the type that its values had, those without one any type.
  Status Finish(const std::vector<ParquetColumn>& columns);

  int64_t rows() const { return rows_; }
  int64_t bytes() const { return bytes_; }  // so far

 private:
  struct Groups;
  Status Write(std::string_view bytes);

  ParquetPacking packing_;
  Take take_;
  std::unique_ptr<Groups> groups_;
  int64_t rows_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace tracedb
