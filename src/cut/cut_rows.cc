#include "cut/cut_rows.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cut/cut_text_check.h"

namespace tracedb {
namespace {

enum class Source { kRange, kWindow, kList };

// What holds for rows `s` in the window from ?3 to ?4, in the rows' own time. Rows are in the order
// of the file, which is not that of time, and only GPU activities have an index by time: all rows
// of a range are looked at, 15 million a second.
std::string_view WindowCondition(EventTable table) {
  return IsSliceTable(table) ? "s.ts < ?4 AND (s.ts >= ?3 OR s.ts + s.dur > ?3)"
                             : "s.ts >= ?3 AND s.ts < ?4";
}

std::string SelectSql(EventTable table, Source source, const char* list) {
  std::string columns = IsSliceTable(table) ? "s.dur" : "s.phase";
  for (const std::string_view column : kArgsColumnNames) columns += fmt::format(", s.{}", column);
  std::string from = fmt::format("{} s WHERE s.id BETWEEN ?1 AND ?2", EventTableName(table));
  if (source == Source::kWindow) from += fmt::format(" AND {}", WindowCondition(table));
  if (source == Source::kList) {
    from = fmt::format("temp.{} k CROSS JOIN {} s ON s.id = k.id WHERE k.id BETWEEN ?1 AND ?2",
                       list, EventTableName(table));
  }
  return fmt::format(
      "SELECT s.id, s.track, s.event_name, s.ts, s.args_text, {} FROM {} ORDER BY {}", columns,
      from, source == Source::kList ? "k.id" : "s.id");
}

}  // namespace

Result<CutRows> CutRows::Open(SqliteDb& db, const CutSource& trace, const char* flow_list,
                              const char* slice_list) {
  CutRows rows;
  rows.in_window_ = RangesInWindow(db, trace);
  for (int i = 0; i < kEventTables; ++i) {
    const auto table = static_cast<EventTable>(i);
    TRACEDB_TRY(rows.Add(db, trace, table, flow_list));
    if (slice_list != nullptr && IsSliceTable(table)) {
      TRACEDB_TRY(rows.AddListed(db, trace, table, slice_list));
    }
  }
  return rows;
}

Result<CutRows> CutRows::OpenSlices(SqliteDb& db, const CutSource& trace, const char* slice_list) {
  CutRows rows;
  for (int i = 0; i < kEventTables; ++i) {
    const auto table = static_cast<EventTable>(i);
    if (IsSliceTable(table)) TRACEDB_TRY(rows.AddListed(db, trace, table, slice_list));
  }
  return rows;
}

Status CutRows::AddListed(SqliteDb& db, const CutSource& trace, EventTable table,
                          const char* list) {
  TRACEDB_ASSIGN(select, db.Prepare(SelectSql(table, Source::kList, list)));
  Cursor cursor{std::move(select), {}, {{trace.first_row, trace.last_row}}, 0, false};
  cursor.row.table = table;
  TRACEDB_TRY(cursor.select.Bind(1, trace.first_row));
  TRACEDB_TRY(cursor.select.Bind(2, trace.last_row));
  TRACEDB_TRY(Advance(cursor));
  cursors_.push_back(std::move(cursor));
  return Done{};
}

Result<CutRows> CutRows::OpenOne(SqliteDb& db, const CutSource& trace, EventTable table) {
  CutRows rows;
  rows.in_window_ = RangesInWindow(db, trace);
  TRACEDB_TRY(rows.Add(db, trace, table, nullptr));
  return rows;
}

Status CutRows::Add(SqliteDb& db, const CutSource& trace, EventTable table, const char* flow_list) {
  Source source = Source::kRange;
  if (table == EventTable::kFlow && flow_list != nullptr) {
    source = Source::kList;
  } else if (trace.window.has_value() && table != EventTable::kMetadataEvent) {
    source = Source::kWindow;
  }
  TRACEDB_ASSIGN(select, db.Prepare(SelectSql(table, source, flow_list)));
  Cursor cursor{std::move(select), {}, {{trace.first_row, trace.last_row}}, 0, false};
  cursor.row.table = table;
  if (source == Source::kWindow) cursor.ranges = in_window_;
  if (!cursor.ranges.empty()) {
    TRACEDB_TRY(cursor.select.Bind(1, cursor.ranges.front().first));
    TRACEDB_TRY(cursor.select.Bind(2, cursor.ranges.front().last));
  }
  if (source == Source::kWindow) {
    TRACEDB_TRY(cursor.select.Bind(3, TimeInRows(trace, trace.window->start_ns)));
    TRACEDB_TRY(cursor.select.Bind(4, TimeInRows(trace, trace.window->end_ns)));
  }
  TRACEDB_TRY(Advance(cursor));
  cursors_.push_back(std::move(cursor));
  return Done{};
}

// The next row, of this range or of a later one.
Result<bool> CutRows::StepTo(Cursor& cursor) {
  while (cursor.range < cursor.ranges.size()) {
    TRACEDB_ASSIGN(any, cursor.select.Step());
    if (any) return true;
    if (++cursor.range == cursor.ranges.size()) break;
    cursor.select.Reset();
    TRACEDB_TRY(cursor.select.Bind(1, cursor.ranges[cursor.range].first));
    TRACEDB_TRY(cursor.select.Bind(2, cursor.ranges[cursor.range].last));
  }
  return false;
}

Status CutRows::Advance(Cursor& cursor) {
  TRACEDB_ASSIGN(any, StepTo(cursor));
  cursor.done = !any;
  if (!any) return Done{};
  const SqliteStatement& select = cursor.select;
  bool is_sound = true;
  const auto number = [&](int column) {
    const SqlType type = select.Type(column);
    is_sound &= type == SqlType::kInteger || type == SqlType::kNull;
    return type == SqlType::kInteger ? std::optional(select.Int(column)) : std::nullopt;
  };
  CutRow& row = cursor.row;
  row.id = select.Int(0);
  row.track = select.Int(1);
  row.event_name = select.Int(2);
  row.ts = number(3);
  row.args_text = number(4).value_or(0);
  if (IsSliceTable(row.table)) {
    row.dur = number(5);
  } else {
    const std::string_view phase = select.Text(5);
    row.phase = phase.empty() ? '?' : phase[0];
  }
  if (is_sound) return Done{};
  return DamagedError(fmt::format("event {} has something else where a number should be", row.id));
}

Result<const CutRow*> CutRows::Next() {
  if (current_ != nullptr) TRACEDB_TRY(Advance(*current_));
  current_ = nullptr;
  for (Cursor& cursor : cursors_) {
    if (cursor.done) continue;
    if (current_ == nullptr || cursor.row.id < current_->row.id) current_ = &cursor;
  }
  if (current_ == nullptr) return static_cast<const CutRow*>(nullptr);
  // Here, not when it was read: rows move with the object.
  current_->row.values = &current_->select;
  return static_cast<const CutRow*>(&current_->row);
}

}  // namespace tracedb
