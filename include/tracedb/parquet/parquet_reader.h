// A Parquet file as ParquetWriter writes it -> values. Anything else is an error that names the
// file: other encodings, other codecs, nested columns. Nothing in the file is trusted; what is
// kept in memory is bounded by ParquetReader's limits, whatever it says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/parquet/parquet_columns.h"

namespace tracedb {

class ParquetReader {
 public:
  static Result<ParquetReader> Open(const std::filesystem::path& path);
  ~ParquetReader();
  ParquetReader(ParquetReader&& other) noexcept;
  ParquetReader(const ParquetReader&) = delete;
  ParquetReader& operator=(const ParquetReader&) = delete;
  ParquetReader& operator=(ParquetReader&&) = delete;

  const std::vector<ParquetColumn>& columns() const;
  size_t groups() const;
  int64_t GroupRows(size_t group) const;
  // Least and greatest value of an integer column in a row group; none: it has no value there.
  std::optional<std::pair<int64_t, int64_t>> Range(size_t group, size_t column) const;
  Result<ParquetValues> Read(size_t group, size_t column) const;

 private:
  struct Contents;
  explicit ParquetReader(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace tracedb
