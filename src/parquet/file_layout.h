// Where what is in a Parquet file: its footer, and what stands before each page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parquet/value_page.h"
#include "tracedb/parquet/parquet_columns.h"

namespace tracedb {

inline constexpr std::string_view kParquetMagic = "PAR1";

// One column of one row group: a single page, and before it that of its dictionary, where it has
// one.
struct ColumnChunk {
  PageEncoding encoding = PageEncoding::kPlain;
  int64_t offset = 0;  // of the page's header
  std::optional<int64_t> dictionary_offset;
  int64_t packed_bytes = 0;    // of its pages with their headers
  int64_t unpacked_bytes = 0;  // as well
  int64_t rows = 0;
  int64_t nulls = 0;
  std::optional<std::pair<int64_t, int64_t>> range;  // of integers
};

struct ParquetRowGroup {
  int64_t rows = 0;
  std::vector<ColumnChunk> chunks;  // one a column
};

struct FileLayout {
  std::vector<ParquetColumn> columns;
  std::vector<ParquetRowGroup> groups;
  int64_t rows = 0;
};

struct PageHeader {
  bool is_dictionary = false;  // `rows` are its texts
  PageEncoding encoding = PageEncoding::kPlain;
  int64_t rows = 0;
  int64_t packed_bytes = 0;
  int64_t unpacked_bytes = 0;
};

struct LayoutLimits {
  static constexpr size_t kColumnsMax = 2000;  // SQLite has no more
  static constexpr size_t kGroupsMax = 65536;
  static constexpr int64_t kGroupRowsMax = 65536;
  static constexpr int64_t kRowsMax = int64_t{1} << 26;
  static constexpr int64_t kPageBytesMax = int64_t{64} << 20;
};

std::string WriteFooter(const FileLayout& layout);
// Nothing where these are not the bytes of a footer that WriteFooter writes. Offsets are not
// checked: where a file ends is not known here.
std::optional<FileLayout> ReadFooter(std::string_view bytes);

std::string WritePageHeader(const PageHeader& header);
// The second is how many bytes it has.
std::optional<std::pair<PageHeader, size_t>> ReadPageHeader(std::string_view bytes);

}  // namespace tracedb
