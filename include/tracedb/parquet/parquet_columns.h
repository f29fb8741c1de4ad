// What a column of a Parquet file holds, and its values of one row group in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

enum class ParquetType : uint8_t { kInteger, kReal, kText, kBytes };  // INT64, DOUBLE, UTF-8, any

struct ParquetColumn {
  std::string name;
  ParquetType type = ParquetType::kInteger;
  bool operator==(const ParquetColumn&) const = default;
};

// A value a row; where there is none (NULL), is_there has 0 and the value is 0, or an empty text.
struct ParquetValues {
  ParquetType type = ParquetType::kInteger;
  std::vector<uint8_t> is_there;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::string bytes;             // of texts or bytes, one after the other
  std::vector<size_t> text_end;  // of each row

  size_t rows() const { return is_there.size(); }
  std::string_view Text(size_t row) const {
    const size_t start = row == 0 ? 0 : text_end[row - 1];
    return std::string_view(bytes).substr(start, text_end[row] - start);
  }
  // Of a column of this type.
  void Add(int64_t value) {
    is_there.push_back(1);
    integers.push_back(value);
  }
  void Add(double value) {
    is_there.push_back(1);
    reals.push_back(value);
  }
  void Add(std::string_view text) {
    is_there.push_back(1);
    bytes.append(text);
    text_end.push_back(bytes.size());
  }
  void AddNull() {
    is_there.push_back(0);
    if (type == ParquetType::kInteger) integers.push_back(0);
    if (type == ParquetType::kReal) reals.push_back(0);
    if (is_bytes()) text_end.push_back(bytes.size());
  }
  bool is_bytes() const { return type == ParquetType::kText || type == ParquetType::kBytes; }
  void Clear() { *this = ParquetValues{type, {}, {}, {}, {}, {}}; }
};

}  // namespace tracedb
