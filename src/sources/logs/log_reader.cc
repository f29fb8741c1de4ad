#include "sources/logs/log_reader.h"

#include "sources/logs/log_lines.h"
#include "sources/logs/log_signs.h"
#include "sources/read/code_or_document.h"

namespace tracedb {

bool LogReader::Fits(const SourceHead& head) const {
  return !IsCodeOrDocument(head) && HoldsLogSigns(head.text);
}

std::span<const std::string_view> LogReader::PagedTables() const { return LogRows::Tables(); }

Status LogReader::Read(SourceText& text, SourceRows& rows) const {
  LogRows tables(rows);
  LogLines lines(rows, tables);
  std::string_view line;
  while (true) {
    TRACEDB_ASSIGN(is_line, text.NextLine(line));
    if (!is_line) return lines.End();
    TRACEDB_TRY(lines.Take(line, text.line_number(), text.line_offset(), text.was_cut()));
  }
}

}  // namespace tracedb
