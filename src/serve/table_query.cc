#include "serve/table_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tracedb/text/near_name.h"

namespace tracedb {
namespace {

// A name of the database as SQL has it.
std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + '"';
}

QueryParam RowsParam(std::string name, std::string default_text, std::string text) {
  QueryParam param;
  param.name = std::move(name);
  param.type = DocType::kInteger;
  param.unit = "rows";
  param.default_text = std::move(default_text);
  param.text = std::move(text);
  return param;
}

int64_t ParamOf(const std::vector<std::string>& params, std::string_view start, int64_t otherwise) {
  for (std::string_view param : params) {
    if (!param.starts_with(start)) continue;
    param.remove_prefix(start.size());
    int64_t value = otherwise;
    std::from_chars(param.data(), param.data() + param.size(), value);
    return value;
  }
  return otherwise;
}

// "-dur_ns,rank" -> "\"dur_ns\" DESC, \"rank\"".
Result<std::string> OrderTerms(std::string_view order, const std::vector<std::string>& columns) {
  std::string terms;
  while (!order.empty()) {
    const size_t comma = order.find(',');
    std::string_view column = order.substr(0, comma);
    order.remove_prefix(comma == std::string_view::npos ? order.size() : comma + 1);
    const bool down = column.starts_with('-');
    if (down) column.remove_prefix(1);
    if (std::ranges::find(columns, column) == columns.end()) {
      const std::string near = DidYouMean(NearNames(column, columns));
      return Error{ErrorKind::kUsage, "order: there is no such column",
                   fmt::format("{}{}its columns are: {}; -NAME for the largest first", near,
                               near.empty() ? "" : " ", JoinNames(columns))};
    }
    terms += (terms.empty() ? "" : ", ") + Quoted(column) + (down ? " DESC" : "");
  }
  return terms;
}

// A spreadsheet keeps 15 digits, so times since the run's first event come before those since 1970,
// which have 19. Tables without them are as they are.
std::string ColumnTerms(std::vector<std::string> columns) {
  const auto start = std::ranges::find(columns, "start_ms");
  const auto first_ns = std::ranges::find_if(
      columns, [](const std::string& column) { return column.ends_with("_ns"); });
  if (start == columns.end() || start < first_ns) return "*";
  std::rotate(first_ns, start, start + 1);
  std::string terms;
  for (const std::string& column : columns) terms += (terms.empty() ? "" : ", ") + Quoted(column);
  return terms;
}

}  // namespace

Result<std::vector<TableName>> ListTables(SqliteDb& db) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT name, type = 'view' FROM sqlite_schema "
                                  "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' "
                                  "ESCAPE '~' ORDER BY type DESC, rowid"));
  std::vector<TableName> tables;
  while (true) {
    TRACEDB_ASSIGN(is_row, rows.Step());
    if (!is_row) return tables;
    tables.push_back({std::string(rows.Text(0)), rows.Int(1) == 1});
  }
}

Result<std::vector<std::string>> ListColumns(SqliteDb& db, std::string_view table) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid"));
  TRACEDB_TRY(rows.Bind(1, table));
  std::vector<std::string> columns;
  while (true) {
    TRACEDB_ASSIGN(is_row, rows.Step());
    if (!is_row) return columns;
    columns.emplace_back(rows.Text(0));
  }
}

Result<QueryDoc> MakeTableQuery(SqliteDb& db, std::string_view table, std::string_view order) {
  TRACEDB_ASSIGN(columns, ListColumns(db, table));
  TRACEDB_ASSIGN(terms, OrderTerms(order, columns));
  QueryDoc doc;
  doc.file = fmt::format("tables/{}", table);
  doc.name = doc.file;
  doc.params.push_back(RowsParam("limit", "-1", "Rows at most; all of them when negative."));
  doc.params.push_back(RowsParam("offset", "0", "Rows left out before them."));
  doc.sql = fmt::format(
      "SELECT {} FROM {}{}{} LIMIT coalesce(:limit, -1) "
      "OFFSET coalesce(:offset, 0)",
      ColumnTerms(columns), Quoted(table), terms.empty() ? "" : " ORDER BY ", terms);
  return doc;
}

Result<bool> HasTable(SqliteDb& db, std::string_view table) {
  TRACEDB_ASSIGN(tables, ListTables(db));
  return std::ranges::find(tables, table, &TableName::name) != tables.end();
}

Result<int64_t> CountAskedRows(SqliteDb& db, std::string_view table,
                               const std::vector<std::string>& params, int64_t rows_max) {
  const int64_t limit = ParamOf(params, "limit=", -1);
  if (limit >= 0 && limit < rows_max) return limit;
  TRACEDB_ASSIGN(
      count, db.Prepare(fmt::format("SELECT count(*) FROM (SELECT 1 FROM {} LIMIT ?1 OFFSET ?2)",
                                    Quoted(table))));
  TRACEDB_TRY(count.Bind(1, rows_max));
  TRACEDB_TRY(count.Bind(2, ParamOf(params, "offset=", 0)));
  TRACEDB_ASSIGN(is_row, count.Step());
  return is_row ? count.Int(0) : 0;
}

Result<int64_t> CountRows(SqliteDb& db, std::string_view table, int64_t rows_max) {
  return CountAskedRows(db, table, {}, rows_max);
}

}  // namespace tracedb
