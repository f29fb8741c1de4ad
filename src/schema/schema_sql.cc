#include "tracedb/schema/schema_sql.h"

#include <algorithm>

#include "schema/sql_files.h"  // generated from the .sql files beside this one
#include "tracedb/schema/database_id.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {
namespace {

using ColumnList = std::array<ArgsColumn, kArgsColumns>;

// `first` in front, the others after in their own order.
constexpr ColumnList Ordered(std::initializer_list<ArgsColumn> first) {
  ColumnList order{};
  size_t count = 0;
  for (const ArgsColumn column : first) order[count++] = column;
  for (int i = 0; i < kArgsColumns; ++i) {
    const ArgsColumn column = static_cast<ArgsColumn>(i);
    if (std::find(first.begin(), first.end(), column) == first.end()) order[count++] = column;
  }
  return order;
}

constexpr std::array<ColumnList, kEventTables> kOrders = {
    Ordered({ArgsColumn::kExternalId, ArgsColumn::kRecordFunctionId, ArgsColumn::kEvIdx,
             ArgsColumn::kSequenceNumber, ArgsColumn::kFwdThreadId, ArgsColumn::kValue1,
             ArgsColumn::kValue2, ArgsColumn::kCorrelation}),
    Ordered({ArgsColumn::kCorrelation, ArgsColumn::kExternalId, ArgsColumn::kValue1,
             ArgsColumn::kValue2}),
    Ordered({ArgsColumn::kPythonId, ArgsColumn::kPythonParentId, ArgsColumn::kEvIdx,
             ArgsColumn::kPythonModuleId}),
    Ordered({ArgsColumn::kExternalId, ArgsColumn::kCorrelation, ArgsColumn::kBytes,
             ArgsColumn::kValue1, ArgsColumn::kValue2, ArgsColumn::kCollectiveSeq}),
    Ordered({ArgsColumn::kAddr, ArgsColumn::kBytes, ArgsColumn::kTotalAllocated,
             ArgsColumn::kTotalReserved, ArgsColumn::kEvIdx}),
    Ordered({ArgsColumn::kId}),
    Ordered({ArgsColumn::kValue1, ArgsColumn::kValue2, ArgsColumn::kValue3, ArgsColumn::kValue4}),
    Ordered({ArgsColumn::kValue1})};

// ArgsColumns that may hold a number or a text have no type, so that SQLite keeps what it is given.
std::string ArgsColumnsSql(EventTable table) {
  std::string sql;
  for (const ArgsColumn column : ArgsColumnOrder(table)) {
    if (!sql.empty()) sql += ", ";
    sql += kArgsColumnNames[static_cast<size_t>(column)];
    const bool may_be_text =
        column >= ArgsColumn::kValue1 || column == ArgsColumn::kId || column == ArgsColumn::kAddr;
    if (!may_be_text) sql += " INTEGER";
  }
  return sql;
}

// Quoted, as DuckDB takes the bare name for a type's.
std::string MarkSql(int column) {
  return "\"char\"(" + std::to_string(int{ArgsMark(column)}) + ")";
}

// The SQL expression `text` with every mark replaced by the column's value of row `s`.
std::string FillSql(std::string text) {
  for (int column = 0; column < kArgsColumns; ++column) {
    const std::string name(kArgsColumnNames[static_cast<size_t>(column)]);
    text = "replace(" + text + "," + MarkSql(column) + ",ifnull(s." + name + ",''))";
  }
  return text;
}

// The same with null for every value: JSON of what is alike in all events that have the text.
std::string EmptiedSql(std::string text) {
  for (int column = 0; column < kArgsColumns; ++column) {
    text = "replace(" + text + "," + MarkSql(column) + ",'null')";
  }
  return text;
}

void ReplaceAll(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
}

// "@start_ms:TIME@" becomes the time since the database's first event: the inner SELECT is run
// once.
void ReplaceStartMs(std::string& text) {
  constexpr std::string_view kMark = "@start_ms:";
  for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at)) {
    const size_t begin = at + kMark.size();
    const size_t end = text.find('@', begin);
    const std::string time = text.substr(begin, end - begin);
    text.replace(at, end + 1 - at,
                 "(" + time + " - (SELECT min(start_ns) FROM _trace)) / 1000000.0");
  }
}

}  // namespace

const std::array<ArgsColumn, kArgsColumns>& ArgsColumnOrder(EventTable table) {
  return kOrders[static_cast<size_t>(table)];
}

std::string TablesSql() {
  std::string sql(kTablesSql);
  for (int i = 0; i < kEventTables; ++i) {
    const auto table = static_cast<EventTable>(i);
    ReplaceAll(sql, "@args_columns:" + std::string(EventTableName(table)) + "@",
               ArgsColumnsSql(table));
  }
  ReplaceAll(sql, "@long_slice_ns@", std::to_string(kLongSliceNs));
  sql += "PRAGMA application_id = " + std::to_string(kApplicationId) + ";";
  sql += "PRAGMA user_version = " + std::to_string(kSchemaVersion) + ";";
  return sql;
}

std::string ViewsSql() {
  std::string sql =
      std::string(kViewsSql) + std::string(kViewsAnalysisSql) + std::string(kViewsNsightSql);
  ReplaceAll(sql, "@aligned:p.ts_ns@", "(" + AlignedSql("p.ts_ns") + ")");
  ReplaceAll(sql, "@fill:a.args@", FillSql("a.args"));
  ReplaceAll(sql, "@emptied:a.args@", EmptiedSql("a.args"));
  ReplaceStartMs(sql);
  ReplaceAll(sql, "@others@", "'{' || " + FillSql("a.others") + " || '}'");
  return sql;
}

}  // namespace tracedb
