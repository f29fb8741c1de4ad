#include "sources/ncu/csv_cells.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace tracedb {

Result<bool> CsvCells::Fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    offset_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (!is_done_ && end_ < buffer_.size()) {
    TRACEDB_ASSIGN(got, text_.Read(std::span(buffer_).subspan(end_)));
    is_done_ = got == 0;
    end_ += got;
  }
  return begin_ < end_;
}

Result<bool> CsvCells::AtEnd() {
  if (begin_ < end_) return false;
  TRACEDB_ASSIGN(is_more, Fill());
  return !is_more;
}

Result<bool> CsvCells::StartsWith(std::string_view beginning) {
  while (end_ - begin_ < kPeekMax && !is_done_) {
    TRACEDB_TRY(Fill());
  }
  return std::string_view(buffer_.data() + begin_, end_ - begin_).starts_with(beginning);
}

Status CsvCells::SkipLine(std::string& beginning) {
  beginning.clear();
  for (;;) {
    TRACEDB_ASSIGN(is_end, AtEnd());
    if (is_end) return Done{};
    const std::string_view left(buffer_.data() + begin_, end_ - begin_);
    const size_t line = std::min(left.find('\n'), left.size());
    beginning += left.substr(0, std::min(line, kBeginningBytes - beginning.size()));
    begin_ += line;
    if (line == left.size()) continue;
    ++begin_;
    return Done{};
  }
}

void CsvCells::Append(CsvCell& cell, std::string_view part) {
  const size_t room = kCellBytesMax - cell.text.size();
  cell.was_cut = cell.was_cut || part.size() > room;
  cell.text += part.substr(0, room);
}

// A quote that is never closed would take the rest of the file: a cell that has grown too long ends
// with its line, if not by a quote.
Status CsvCells::Quoted(CsvCell& cell) {
  ++begin_;
  for (;;) {
    TRACEDB_ASSIGN(is_end, AtEnd());
    if (is_end) {
      cell.is_broken = true;
      return Done{};
    }
    const std::string_view left(buffer_.data() + begin_, end_ - begin_);
    const size_t stop = std::min(left.find_first_of(cell.was_cut ? "\"\n" : "\""), left.size());
    Append(cell, left.substr(0, stop));
    begin_ += stop;
    if (stop == left.size()) continue;
    cell.is_broken = buffer_[begin_] == '\n';
    if (cell.is_broken) return Done{};  // Close() takes the line end
    ++begin_;
    TRACEDB_ASSIGN(is_last, AtEnd());
    if (is_last || buffer_[begin_] != '"') return Done{};
    Append(cell, "\"");
    ++begin_;
  }
}

Status CsvCells::Bare(CsvCell& cell) {
  for (;;) {
    TRACEDB_ASSIGN(is_end, AtEnd());
    if (is_end) return Done{};
    const std::string_view left(buffer_.data() + begin_, end_ - begin_);
    const size_t stop = std::min(left.find_first_of(",\n"), left.size());
    Append(cell, left.substr(0, stop));
    begin_ += stop;
    if (stop < left.size()) return Done{};
  }
}

Status CsvCells::Close(CsvCell& cell) {
  TRACEDB_TRY(Bare(cell));  // what stands between the quote and the comma is kept
  if (cell.text.ends_with('\r')) cell.text.pop_back();
  TRACEDB_ASSIGN(is_end, AtEnd());
  cell.is_last = is_end || buffer_[begin_] == '\n';
  if (!is_end) ++begin_;
  return Done{};
}

Status CsvCells::Next(CsvCell& cell) {
  cell.text.clear();
  cell.was_cut = cell.is_broken = false;
  TRACEDB_ASSIGN(is_end, AtEnd());
  cell.offset = offset();
  cell.is_last = is_end;
  if (is_end) return Done{};
  if (buffer_[begin_] == '"') TRACEDB_TRY(Quoted(cell));
  return Close(cell);
}

Status CsvCells::SkipRow(CsvCell& cell) {
  while (!cell.is_last) TRACEDB_TRY(Next(cell));
  return Done{};
}

}  // namespace tracedb
