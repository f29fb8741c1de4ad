// The cells of comma separated text, one at a time and in bounded memory: a row may be of any
// length, and a quoted cell may hold line ends. Between rows the text can be read as lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/sources/read/source_text.h"

namespace tracedb {

struct CsvCell {
  std::string text;  // without its quotes
  uint64_t offset = 0;
  bool is_last = false;    // of its row
  bool was_cut = false;    // longer than kCellBytesMax, which is kept
  bool is_broken = false;  // its quote is never closed
};

class CsvCells {
 public:
  static constexpr size_t kCellBytesMax = size_t{256} << 10;

  // `text` outlives it, and is read by nobody else meanwhile.
  explicit CsvCells(SourceText& text) : text_(text), buffer_(kBufferBytes) {}

  // All three only at the start of a row. Whether there is none any more:
  Result<bool> AtEnd();
  Result<bool> StartsWith(std::string_view beginning);  // of at most kPeekMax bytes
  void Skip(size_t bytes) { begin_ += bytes; }          // of those
  // Skips to the next line; gives the beginning of this one.
  Status SkipLine(std::string& beginning);

  // The next cell of the row.
  Status Next(CsvCell& cell);
  // What is left of the row.
  Status SkipRow(CsvCell& cell);

  uint64_t offset() const { return offset_ + begin_; }

 private:
  static constexpr size_t kBufferBytes = size_t{64} << 10;
  static constexpr size_t kPeekMax = 16;
  static constexpr size_t kBeginningBytes = 160;

  // False: no byte is left.
  Result<bool> Fill();
  Status Quoted(CsvCell& cell);
  Status Bare(CsvCell& cell);
  // Past the comma or the line end that ends a cell, and what wrongly stands in front of it.
  Status Close(CsvCell& cell);
  static void Append(CsvCell& cell, std::string_view part);

  SourceText& text_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  uint64_t offset_ = 0;  // of the buffer's first byte in the text
  bool is_done_ = false;
};

}  // namespace tracedb
