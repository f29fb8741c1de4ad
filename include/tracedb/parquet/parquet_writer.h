// Rows -> a Parquet file of its own, as summaries are: a column a value of one type or NULL, row
// groups of few rows, so that one of many can be looked up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/parquet/parquet_columns.h"
#include "tracedb/parquet/parquet_encoder.h"

namespace tracedb {

class ParquetWriter {
 public:
  // A new file; one that is there is written over.
  static Result<ParquetWriter> Create(const std::filesystem::path& path,
                                      std::vector<ParquetColumn> columns);
  ~ParquetWriter();
  ParquetWriter(ParquetWriter&& other) noexcept;
  ParquetWriter(const ParquetWriter&) = delete;
  ParquetWriter& operator=(const ParquetWriter&) = delete;
  ParquetWriter& operator=(ParquetWriter&&) = delete;

  // The next row's value of this column. A row has one value of each.
  void Add(size_t column, int64_t value) { values_[column].Add(value); }
  void Add(size_t column, double value) { values_[column].Add(value); }
  void Add(size_t column, std::string_view text) { values_[column].Add(text); }
  void AddNull(size_t column) { values_[column].AddNull(); }
  Status EndRow();

  // Writes what is left and the footer, and brings all of it to the disk.
  Status Finish();

  int64_t rows() const { return rows_; }
  int64_t bytes() const { return encoder_->bytes(); }

 private:
  ParquetWriter(std::filesystem::path path, int file, std::vector<ParquetColumn> columns);
  Status EndGroup();

  std::filesystem::path path_;
  int file_;
  std::vector<ParquetColumn> columns_;
  std::vector<ParquetValues> values_;  // of the row group that is being filled
  std::unique_ptr<ParquetEncoder> encoder_;
  int64_t rows_ = 0;
};

}  // namespace tracedb
