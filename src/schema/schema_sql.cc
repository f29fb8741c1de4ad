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

// Columns of args that may hold a number or a text have no type, so that SQLite keeps what it is
// given.
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

// The mark's column of the table _args_mark.
std::string MarkSql(int column) {
  return "m_" + std::string(kArgsColumnNames[static_cast<size_t>(column)]);
}

// The SQL expression with every mark replaced by the column's value. Names are bare, and || makes a
// number a text in DuckDB too: every connection reads this two dozen times.
std::string FillSql(const std::string& expression) {
  std::string text = expression;
  for (int column = 0; column < kArgsColumns; ++column) {
    const std::string name(kArgsColumnNames[static_cast<size_t>(column)]);
    text = "replace(" + text + "," + MarkSql(column) + ",ifnull(" + name + "||'',''))";
  }
  return text;
}

// The same with null for every value: JSON of what is alike in all events that have the text.
std::string EmptiedSql(const std::string& expression) {
  std::string text = expression;
  for (int column = 0; column < kArgsColumns; ++column) {
    text = "replace(" + text + "," + MarkSql(column) + ",'null')";
  }
  return text;
}

// Columns of the table _args_mark, and its row.
std::string MarkColumnsSql() {
  std::string sql;
  for (int column = 0; column < kArgsColumns; ++column) {
    sql += (sql.empty() ? "" : ", ") + MarkSql(column) + " TEXT";
  }
  return sql;
}

std::string MarkValuesSql() {
  std::string sql;
  for (int column = 0; column < kArgsColumns; ++column) {
    sql += (sql.empty() ? "char(" : ", char(") + std::to_string(int{ArgsMark(column)}) + ")";
  }
  return sql;
}

void ReplaceAll(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
}

// "TIME of TRACE": the time since the first event of the trace's run.
std::string StartMsSql(const std::string& call) {
  const size_t of = call.rfind(" of ");
  return "(" + call.substr(0, of) +
         " - (SELECT z.run_start_ns FROM _trace z WHERE z.trace_id = " + call.substr(of + 4) +
         ")) / 1000000.0";
}

// A number of a column without a type, which is a BLOB to DuckDB: a text first, as which SQLite
// would lose digits.
std::string DoubleSql(const std::string& value) {
  return "CASE typeof(1) WHEN 'integer' THEN CAST(" + value + " AS DOUBLE) ELSE CAST(CAST(" +
         value + " AS TEXT) AS DOUBLE) END";
}

// The number that a text of 18 characters at most begins with. CAST alone does that in SQLite, and
// in half the time; DuckDB, where typeof is in capitals, refuses '12)'.
std::string NumberBeforeSql(const std::string& text) {
  return "CASE typeof(1) WHEN 'integer' THEN CAST(" + text +
         " AS BIGINT) ELSE CAST('0' || replace(" + text + ", ltrim(" + text +
         ", '0123456789'), '') AS BIGINT) END";
}

// "DOCUMENT, PATH": the whole number there; NULL where there is none. DuckDB has other names of
// types.
std::string JsonIntegerSql(const std::string& place) {
  return "CASE WHEN lower(json_type(" + place +
         ")) IN ('integer', 'bigint', 'ubigint') THEN CAST(json_extract(" + place +
         ") AS BIGINT) END";
}

// The start of the row `row` of an event table by the aligned clocks, for a view without _track.
std::string AlignedStartSql(const std::string& row) {
  return "(SELECT " + AlignedSql("(" + row + ".ts + t.base_ns)") +
         " FROM _track t\n        LEFT JOIN _clock c ON c.trace_id = t.trace_id WHERE t.id = " +
         row + ".track)";
}

// Whether the event with this id has a time that can be. Nearly no trace has one that has not: that
// is looked at once a query, not for every row.
std::string PossibleSql(const std::string& id) {
  return "((SELECT count(*) FROM _impossible_time) = 0 OR " + id +
         " NOT IN (SELECT id FROM _impossible_time))";
}

// An argument of the slice s as JSON has it, whose args text is a: looked for in the text first, as
// few slices have it. `args` is the view of its table's args: SQLite would work out those of all
// tables for each argument.
std::string ArgumentSql(const std::string& args, const std::string& key) {
  return "CASE WHEN instr(a.args, '\"" + key + "\":') > 0 THEN (SELECT json_extract(x.args, '$.\"" +
         key + "\"') FROM " + args + " x WHERE x.slice_id = s.id) END";
}

std::string NumberSql(const std::string& argument) { return "CAST(" + argument + " AS BIGINT)"; }

std::string CpuTextSql(const std::string& key) { return ArgumentSql("_cpu_slice_args", key); }
std::string CpuNumberSql(const std::string& key) { return NumberSql(CpuTextSql(key)); }
std::string GpuNumberSql(const std::string& key) {
  return NumberSql(ArgumentSql("_gpu_slice_args", key));
}
std::string RuntimeNumberSql(const std::string& key) {
  return NumberSql(ArgumentSql("_runtime_slice_args", key));
}

// "@name:EXPRESSION@" becomes what `make` makes of the expression.
void ReplaceCalls(std::string& text, const std::string& name,
                  std::string (*make)(const std::string&)) {
  const std::string begin = "@" + name + ":";
  for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    const size_t inner = at + begin.size();
    const size_t end = text.find('@', inner);
    const std::string made = make(text.substr(inner, end - inner));
    text.replace(at, end + 1 - at, made);
    at += made.size();
  }
}

}  // namespace

const std::array<ArgsColumn, kArgsColumns>& ArgsColumnOrder(EventTable table) {
  return kOrders[static_cast<size_t>(table)];
}

std::string TablesSql() {
  std::string sql(kTablesSql);
  sql += kTablesGraphsSql;
  sql += kTablesNotesSql;
  sql += kTablesRulesSql;
  sql += kTablesSourcesSql;
  for (const std::string_view file : kSourceTablesSql) sql += file;
  for (int i = 0; i < kEventTables; ++i) {
    const auto table = static_cast<EventTable>(i);
    ReplaceAll(sql, "@args_columns:" + std::string(EventTableName(table)) + "@",
               ArgsColumnsSql(table));
  }
  ReplaceAll(sql, "@args_marks@", MarkColumnsSql());
  ReplaceAll(sql, "@args_mark_values@", MarkValuesSql());
  ReplaceAll(sql, "@long_slice_ns@", std::to_string(kLongSliceNs));
  sql += "PRAGMA application_id = " + std::to_string(kApplicationId) + ";";
  sql += "PRAGMA user_version = " + std::to_string(kSchemaVersion) + ";";
  return sql;
}

std::string ViewsSql() {
  std::string sql;
  for (const std::string_view file :
       {kViewsSql, kViewsEventsSql, kViewsAnalysisSql, kViewsGraphsSql, kViewsInferenceSql,
        kViewsInferenceIdleSql, kViewsPurposesSql, kViewsNumbersSql, kViewsNsightSql,
        kViewsSourcesSql}) {
    sql += file;
  }
  for (const std::string_view file : kSourceViewsSql) sql += file;
  ReplaceCalls(sql, "aligned", AlignedSql);
  ReplaceCalls(sql, "aligned_start", AlignedStartSql);
  ReplaceCalls(sql, "cpu", CpuNumberSql);
  ReplaceCalls(sql, "gpu", GpuNumberSql);
  ReplaceCalls(sql, "runtime", RuntimeNumberSql);
  ReplaceCalls(sql, "cpu_text", CpuTextSql);
  ReplaceCalls(sql, "number_before", NumberBeforeSql);
  ReplaceCalls(sql, "double", DoubleSql);
  ReplaceCalls(sql, "json_integer", JsonIntegerSql);
  ReplaceCalls(sql, "fill", FillSql);
  ReplaceCalls(sql, "emptied", EmptiedSql);
  ReplaceCalls(sql, "start_ms", StartMsSql);
  ReplaceCalls(sql, "possible", PossibleSql);
  ReplaceAll(sql, "@long_slice_ns@", std::to_string(kLongSliceNs));
  ReplaceAll(sql, "@others@", "'{' || " + FillSql("a.others") + " || '}'");
  return sql;
}

// A statement begins and ends at the ends of lines, which views*.sql keep to.
std::vector<ViewRow> ViewRows() {
  constexpr std::string_view kCreate = "CREATE VIEW ";
  const std::string all = ViewsSql();
  std::vector<ViewRow> views;
  for (size_t at = all.find(kCreate); at != std::string::npos;) {
    const size_t end = all.find(";\n", at);
    const size_t name = at + kCreate.size();
    views.push_back({all.substr(name, all.find(' ', name) - name), all.substr(at, end - at)});
    at = all.find(kCreate, end);
  }
  return views;
}

}  // namespace tracedb
