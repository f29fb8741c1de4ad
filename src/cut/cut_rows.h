// The events of one trace, out of the tables they are kept in, in the order of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cut/cut_ranges.h"
#include "cut/cut_source.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/args_columns.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

// A row that a statement stands on.
struct CutRow {
  EventTable table = EventTable::kCpuSlice;
  int64_t id = 0;
  int64_t track = 0;
  int64_t event_name = 0;
  int64_t args_text = 0;       // 0: none
  std::optional<int64_t> ts;   // counted from the trace's base_ns; metadata: as in the file
  std::optional<int64_t> dur;  // slices
  char phase = 'X';            // others
  const SqliteStatement* values = nullptr;

  // Where in `values` a column's value is.
  static constexpr int ResultColumn(int column) { return 6 + column; }
  bool HasValue(int column) const { return values->Type(ResultColumn(column)) != SqlType::kNull; }
};

class CutRows {
 public:
  // What a trace's window has: slices that reach into it, other events that are in it, and all
  // metadata. With `flow_list`, the flow events are those whose row ids this temporary table has.
  // Without a window, everything.
  // With `slice_list`, the slices of that table as well, which are none of the window.
  static Result<CutRows> Open(SqliteDb& db, const CutSource& trace, const char* flow_list,
                              const char* slice_list = nullptr);
  // The same of one table alone.
  static Result<CutRows> OpenOne(SqliteDb& db, const CutSource& trace, EventTable table);

  // The slices of such a table alone.
  static Result<CutRows> OpenSlices(SqliteDb& db, const CutSource& trace, const char* slice_list);

  // The next one; null when there are no more. Good until the next call.
  Result<const CutRow*> Next();

 private:
  struct Cursor {
    SqliteStatement select;
    CutRow row;
    std::vector<RowRange> ranges;  // one after the other
    size_t range = 0;              // that it is in
    bool done = false;
  };
  Status Add(SqliteDb& db, const CutSource& trace, EventTable table, const char* flow_list);
  Status AddListed(SqliteDb& db, const CutSource& trace, EventTable table, const char* list);
  static Status Advance(Cursor& cursor);
  static Result<bool> StepTo(Cursor& cursor);

  std::vector<RowRange> in_window_;
  std::vector<Cursor> cursors_;
  Cursor* current_ = nullptr;
};

}  // namespace tracedb
