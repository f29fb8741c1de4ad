#include "sources/ncu/ncu_reader.h"

#include <algorithm>

#include "sources/ncu/csv_cells.h"
#include "sources/ncu/ncu_csv.h"
#include "sources/ncu/ncu_descriptions.h"
#include "sources/ncu/ncu_rows.h"
#include "sources/ncu/ncu_table.h"

namespace tracedb {

// The header of the table, wherever output of the program ends. Of a wide table's header the head
// has the beginning only.
bool NcuReader::Fits(const SourceHead& head) const {
  std::string_view text = head.text;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (LooksLikeNcuHeader(line)) return true;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return false;
}

Status NcuReader::Read(SourceText& text, SourceRows& rows) const {
  CsvCells cells(text);
  NcuRows ncu(rows);
  TRACEDB_TRY(ncu.Begin());
  NcuCsv csv(cells, ncu);
  TRACEDB_TRY(csv.Read());
  return ncu.Finish();
}

bool NcuMetricsReader::Fits(const SourceHead& head) const {
  return LooksLikeNcuDescriptions(head.text, head.is_whole);
}

Status NcuMetricsReader::Read(SourceText& text, SourceRows& rows) const {
  return ReadNcuDescriptions(text, rows);
}

}  // namespace tracedb
