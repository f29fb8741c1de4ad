#include "tracedb/text/same_runs.h"

#include <algorithm>

namespace tracedb {

Status SameRuns::Begin(std::span<const std::string> column_names) {
  names_.assign(column_names.begin(), column_names.end());
  held_.emplace();
  return Done{};
}

Status SameRuns::Row(std::span<const Cell> cells) {
  if (!held_.has_value()) return inner_->Row(cells);
  std::vector<HeldCell>& row = held_->emplace_back();
  for (const Cell& cell : cells) row.push_back({cell, std::string(cell.text)});
  if (held_->size() <= kHeldRowsMax) return Done{};
  std::vector<size_t> all;
  for (size_t i = 0; i < names_.size(); ++i) all.push_back(i);
  return PassOn(all);
}

Status SameRuns::End() {
  if (!held_.has_value()) return inner_->End();
  std::vector<size_t> shown;
  std::string caption;
  for (size_t i = 0; i < names_.size(); ++i) {
    const bool is_place = names_[i] == "run" || names_[i] == "capture";
    const auto is_same = [&](const std::vector<HeldCell>& row) {
      const HeldCell& first = held_->front()[i];
      return row[i].cell.type != SqlType::kNull && row[i].cell.type == first.cell.type &&
             row[i].cell.integer == first.cell.integer && row[i].text == first.text;
    };
    if (!is_place || held_->empty() || !std::all_of(held_->begin(), held_->end(), is_same)) {
      shown.push_back(i);
      continue;
    }
    const HeldCell& value = held_->front()[i];
    if (!caption.empty()) caption += ", ";
    caption += names_[i] + ' ';
    caption +=
        value.cell.type == SqlType::kInteger ? std::to_string(value.cell.integer) : value.text;
  }
  if (!caption.empty()) TRACEDB_TRY(inner_->Caption(caption));
  TRACEDB_TRY(PassOn(shown));
  return inner_->End();
}

// Begins the inner result and hands over what is held, these columns of it.
Status SameRuns::PassOn(const std::vector<size_t>& columns) {
  std::vector<std::string> names;
  for (const size_t column : columns) names.push_back(names_[column]);
  TRACEDB_TRY(inner_->Begin(names));
  std::vector<Cell> cells(columns.size());
  for (const std::vector<HeldCell>& row : *held_) {
    for (size_t i = 0; i < columns.size(); ++i) {
      cells[i] = row[columns[i]].cell;
      cells[i].text = row[columns[i]].text;
    }
    TRACEDB_TRY(inner_->Row(cells));
  }
  held_.reset();
  return Done{};
}

}  // namespace tracedb
