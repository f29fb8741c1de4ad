#include "sources/ncu/ncu_csv.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tracedb {
namespace {

// "1,024" is an id too. Nothing for what is no number.
std::optional<int64_t> IdOf(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c == ',' || c == '.' || c == ' ') continue;
    digits += c;
  }
  constexpr int64_t kMost = int64_t{1} << 40;
  const std::optional<int64_t> id = WholeNumber(digits);
  return id && *id >= 0 && *id <= kMost ? id : std::nullopt;
}

}  // namespace

Status NcuCsv::Read() {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  TRACEDB_ASSIGN(has_mark, cells_.StartsWith(kByteOrderMark));
  if (has_mark) cells_.Skip(kByteOrderMark.size());
  for (;;) {
    TRACEDB_ASSIGN(is_end, cells_.AtEnd());
    if (is_end) break;
    TRACEDB_TRY(Line());
  }
  if (wants_units_) TRACEDB_TRY(Units());
  return FinishKernel();
}

// A header, a row, or a line of the program or of ncu itself ("==PROF== ...").
Status NcuCsv::Line() {
  TRACEDB_ASSIGN(is_quoted_header, cells_.StartsWith("\"ID\","));
  TRACEDB_ASSIGN(is_bare_header, cells_.StartsWith("ID,"));
  if (is_quoted_header || is_bare_header) return Header();
  if (!has_table_) return cells_.SkipLine(line_);
  if (wants_units_) {
    TRACEDB_ASSIGN(is_quoted_unit, cells_.StartsWith("\"\""));
    TRACEDB_ASSIGN(is_bare_unit, cells_.StartsWith(","));
    wants_units_ = is_quoted_unit || is_bare_unit;
    TRACEDB_TRY(Units());
    if (is_quoted_unit || is_bare_unit) return Done{};
  }
  return Row();
}

Status NcuCsv::Header() {
  TRACEDB_TRY(FinishKernel());
  table_ = NcuTable();
  names_.clear();
  size_t bytes = 0;
  bool has_name = false, has_value = false;
  do {
    TRACEDB_TRY(cells_.Next(cell_));
    if (names_.size() == NcuTable::kColumnsMax ||
        bytes + cell_.text.size() > NcuTable::kNameBytesMax) {
      ++table_.columns_left_out;
      continue;
    }
    bytes += cell_.text.size();
    NcuTable::Column column;
    column.is = NcuColumnOf(cell_.text);
    has_name = has_name || column.is == NcuColumn::kMetricName;
    has_value = has_value || column.is == NcuColumn::kMetricValue;
    table_.metrics += column.is == NcuColumn::kMetric;
    table_.columns.push_back(column);
    names_.push_back(cell_.text);
  } while (!cell_.is_last);
  if (table_.columns_left_out > 0) {
    rows_.issues().Add("column_beyond_limit", cell_.offset, cell_.text, table_.columns_left_out);
  }
  table_.is_details = has_name && has_value;
  has_table_ = true;
  wants_units_ = true;
  rows_.BeginTable(table_, names_);
  return Done{};
}

// The row of units, or where it is missing no units; metrics are numbered now.
Status NcuCsv::Units() {
  const bool is_row = wants_units_ && !table_.is_details;
  wants_units_ = false;
  units_.assign(table_.columns.size(), std::string());
  cell_.is_last = !is_row;
  for (size_t i = 0; i < table_.columns.size(); ++i) {
    if (!cell_.is_last || (is_row && i == 0)) {
      TRACEDB_TRY(cells_.Next(cell_));
      units_[i] = cell_.text;
    }
    NcuTable::Column& column = table_.columns[i];
    if (column.is != NcuColumn::kMetric) continue;
    TRACEDB_ASSIGN(metric, rows_.MetricOf("", names_[i], units_[i]));
    column.meaning = metric.meaning;
    column.exponent = static_cast<int8_t>(std::clamp(metric.exponent, -100, 100));
    column.metric_id = static_cast<uint32_t>(metric.id);
  }
  if (is_row) TRACEDB_TRY(cells_.SkipRow(cell_));
  std::vector<std::string>().swap(names_);
  return Done{};
}

Status NcuCsv::Row() {
  TRACEDB_TRY(cells_.Next(cell_));
  const std::optional<int64_t> id = IdOf(cell_.text);
  if (!id) {
    // A single cell is a line of output; several are a row that has lost its beginning.
    if (!cell_.is_last && !cell_.text.starts_with("==")) {
      rows_.issues().Add("row_without_id", cell_.offset, cell_.text);
    }
    return cells_.SkipRow(cell_);
  }
  NcuKernel& row = table_.is_details ? row_ : kernel_;
  row = NcuKernel();
  row.id = *id;
  row.offset = cell_.offset;
  if (table_.is_details) return DetailCells();
  TRACEDB_TRY(RawCells());
  return rows_.AddKernel(kernel_);
}

bool NcuCsv::IsWhole() {
  if (cell_.is_broken) {
    rows_.issues().Add("unclosed_quote", cell_.offset, cell_.text);
  } else if (cell_.was_cut) {
    rows_.issues().Add("cell_too_long", cell_.offset, cell_.text);
  }
  return !cell_.is_broken;
}

Status NcuCsv::MetricCell(const NcuTable::Column& column) {
  if (cell_.text.empty()) {
    rows_.AddEmpty();
    return Done{};
  }
  return rows_.AddMetric(kernel_, {column.metric_id, column.meaning, column.exponent},
                         units_[static_cast<size_t>(&column - table_.columns.data())], cell_.text,
                         cell_.offset);
}

void NcuCsv::Keep(NcuKernel& row, NcuColumn column) {
  const bool is_size = column == NcuColumn::kBlockSize || column == NcuColumn::kGridSize;
  row[column] = is_size ? NcuDimensions(cell_.text) : cell_.text;
}

Status NcuCsv::RawCells() {
  size_t at = 1;
  for (; !cell_.is_last; ++at) {
    TRACEDB_TRY(cells_.Next(cell_));
    if (at >= table_.columns.size()) continue;
    if (!IsWhole()) break;
    const NcuTable::Column& column = table_.columns[at];
    if (column.is == NcuColumn::kMetric) {
      TRACEDB_TRY(MetricCell(column));
      continue;
    }
    Keep(kernel_, column.is);
  }
  const size_t columns = table_.columns.size() + table_.columns_left_out;
  if (at < columns) rows_.issues().Add("row_too_short", kernel_.offset, cell_.text);
  if (at > columns) {
    rows_.issues().Add("cell_beyond_columns", cell_.offset, cell_.text, at - columns);
  }
  return Done{};
}

// ncu leaves cells out at the end of a row, and other tools do.
Status NcuCsv::DetailCells() {
  std::vector<std::pair<size_t, std::string>> others;  // of columns that are no part of this form
  uint64_t value_offset = row_.offset;
  for (size_t at = 1; !cell_.is_last; ++at) {
    TRACEDB_TRY(cells_.Next(cell_));
    if (!IsWhole()) return cells_.SkipRow(cell_);
    if (at >= table_.columns.size()) {
      if (!cell_.text.empty()) rows_.issues().Add("cell_beyond_columns", cell_.offset, cell_.text);
      continue;
    }
    const NcuColumn column = table_.columns[at].is;
    if (column == NcuColumn::kMetricValue) value_offset = cell_.offset;
    if (column != NcuColumn::kMetric) {
      Keep(row_, column);
    } else if (!cell_.text.empty()) {
      others.emplace_back(at, cell_.text);
    }
  }
  std::string key = std::to_string(row_.id);
  key += '\n' + row_[NcuColumn::kProcessId] + '\n' + row_[NcuColumn::kKernelName];
  if (!has_kernel_ || key != kernel_key_) {
    TRACEDB_TRY(FinishKernel());
    kernel_ = row_;
    kernel_key_ = std::move(key);
    has_kernel_ = true;
    for (const auto& [at, text] : others) {  // the same in all rows of the kernel
      const NcuTable::Column& column = table_.columns[at];
      TRACEDB_TRY(rows_.AddMetric(kernel_, {column.metric_id, column.meaning, column.exponent}, "",
                                  text, row_.offset));
    }
  }
  return DetailRow(value_offset);
}

Status NcuCsv::DetailRow(uint64_t value_offset) {
  const std::string& name = row_[NcuColumn::kMetricName];
  const std::string& text = row_[NcuColumn::kMetricValue];
  const bool has_rule = !row_[NcuColumn::kRuleName].empty();
  if (has_rule) TRACEDB_TRY(rows_.AddRule(row_));
  if (name.empty()) {
    if (!has_rule) rows_.issues().Add("row_without_metric", row_.offset, row_[NcuColumn::kSection]);
    return Done{};
  }
  if (text.empty()) {
    rows_.AddEmpty();
    return Done{};
  }
  const std::string& unit = row_[NcuColumn::kMetricUnit];
  TRACEDB_ASSIGN(metric, rows_.MetricOf(row_[NcuColumn::kSection], name, unit));
  return rows_.AddMetric(kernel_, metric, unit, text, value_offset);
}

Status NcuCsv::FinishKernel() {
  if (!has_kernel_) return Done{};
  has_kernel_ = false;
  return rows_.AddKernel(kernel_);
}

}  // namespace tracedb
