#include "query/run/query_assert.h"

#include <fmt/format.h>

#include "query/doc/sql_text.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_sinks.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kShownWidthMax = 80;

Error BadExpression(std::string_view expression, std::string_view what,
                    std::span<const std::string> column_names) {
  constexpr std::string_view kNoColumn = "no such column: ";
  std::string near;
  if (what.starts_with(kNoColumn)) {
    near =
        DidYouMean(NearNames(what.substr(kNoColumn.size()),
                             std::vector<std::string>(column_names.begin(), column_names.end())));
  }
  return Error{
      ErrorKind::kUsage, fmt::format("--assert '{}': {}", ShownText(expression), what),
      (near.empty() ? "" : near + " ") +
          fmt::format("it is one SQL expression over the columns {}; texts stand in single "
                      "quotes",
                      JoinNames(column_names))};
}

}  // namespace

Result<RowAssertion> RowAssertion::Prepare(SqliteDb& db, std::span<const std::string> column_names,
                                           std::string_view expression) {
  std::string columns;
  for (size_t i = 0; i < column_names.size(); ++i) {
    columns += fmt::format("{}?{} AS {}", i == 0 ? "" : ", ", i + 1, QuoteSqlName(column_names[i]));
  }
  // WHERE, since an aggregate is an error there: over the one row it would be true of anything.
  // The line break keeps a comment at the expression's end from taking the parenthesis with it.
  const std::string sql =
      fmt::format("SELECT 1 FROM (SELECT {}) WHERE (\n{}\n)", columns, expression);
  // A mistyped column in double quotes would else be a text, and the assertion true of anything.
  db.AllowDoubleQuotedText(false);
  std::string_view rest;
  auto prepared = db.Prepare(sql, &rest);
  db.AllowDoubleQuotedText(true);
  if (!prepared.ok()) return BadExpression(expression, prepared.error().what, column_names);
  SqliteStatement statement = std::move(prepared).value();
  if (!SkipBlankSql(rest).empty() || statement.ColumnCount() != 1) {
    return BadExpression(expression, "more than one expression", column_names);
  }
  if (statement.ParameterCount() != static_cast<int>(column_names.size())) {
    return BadExpression(expression, "parameters cannot be used here", column_names);
  }
  return RowAssertion(std::move(statement), column_names, expression);
}

Status RowAssertion::Check(const SqliteStatement& row) {
  ++rows_;
  statement_.Reset();
  for (int i = 0; i < row.ColumnCount(); ++i) TRACEDB_TRY(statement_.BindColumnOf(i + 1, row, i));
  auto holds = statement_.Step();
  if (!holds.ok()) {
    return Error{
        ErrorKind::kQuery,
        fmt::format("--assert '{}': row {}: {}", ShownText(expression_), rows_, holds.error().what),
        ""};
  }
  if (holds.value()) return Done{};
  if (++failures_ == 1) first_failure_ = Shown(row);
  return Done{};
}

std::string RowAssertion::Shown(const SqliteStatement& row) const {
  std::vector<std::string> values;
  for (int i = 0; i < row.ColumnCount(); ++i) {
    const Cell cell = ReadCell(row, i);
    std::string text = cell.type == SqlType::kNull ? "NULL" : "";
    AppendCell(text, cell);
    values.push_back(fmt::format("{}={}", ShownText(column_names_[static_cast<size_t>(i)]),
                                 CutToWidth(ShownText(text), kShownWidthMax)));
  }
  return JoinNames(values);
}

Status RowAssertion::Verdict(std::string_view name) const {
  if (failures_ == 0) return Done{};
  return Error{ErrorKind::kAssert,
               fmt::format("{}: --assert '{}' does not hold for {} of {} row{}", name,
                           ShownText(expression_), failures_, rows_, rows_ == 1 ? "" : "s"),
               (failures_ == 1 ? "the row: " : "the first of them: ") + first_failure_};
}

}  // namespace tracedb
