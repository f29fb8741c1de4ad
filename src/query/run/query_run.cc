#include "tracedb/query/run/query_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "query/doc/sql_text.h"
#include "query/run/empty_reason.h"
#include "query/run/filter_values.h"
#include "query/run/query_assert.h"
#include "tracedb/base/declared_types.h"
#include "tracedb/query/run/gathered_notes.h"
#include "tracedb/query/run/near_in_schema.h"
#include "tracedb/query/run/query_arguments.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_sinks.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kStatementsMax = 1000;
constexpr std::string_view kOnlyReads = "tracedb query only reads";
constexpr std::string_view kUseTheShell = "to change the database, open it with the sqlite3 shell";

// Compiles the statements of one text, and refuses what does not plainly read.
class Compiler {
 public:
  Compiler(SqliteDb& db, const QueryDoc& doc) : db_(db), doc_(doc) {}

  Result<std::vector<SqliteStatement>> All();

 private:
  Result<SqliteStatement> Next(std::string_view sql, std::string_view* rest);
  Error At(std::string_view place, std::string_view what, std::string_view advice) const;
  Error Refused(std::string_view sql, std::string_view what) const {
    return At(sql, fmt::format("{}: {}", what, kOnlyReads), kUseTheShell);
  }
  Error Failed(std::string_view sql, const Error& error) const;

  SqliteDb& db_;
  const QueryDoc& doc_;
};

// `place` is a part of the doc's SQL; its line is the error's.
Error Compiler::At(std::string_view place, std::string_view what, std::string_view advice) const {
  const auto line = doc_.sql_line + std::count(doc_.sql.data(), place.data(), '\n');
  return Error{ErrorKind::kQuery, fmt::format("{}:{}: {}", doc_.file, line, what),
               std::string(advice)};
}

// The first column of all rows.
std::vector<std::string> NamesOf(SqliteDb& db, const char* sql) {
  std::vector<std::string> names;
  auto rows = db.Prepare(sql);
  if (!rows.ok()) return names;
  for (;;) {
    const auto row = rows.value().Step();
    if (!row.ok() || !row.value()) return names;
    names.emplace_back(rows.value().Text(0));
  }
}

// Of the connection's own database, which need not be a trace's: compare's has other tables.
std::vector<std::string> TablesHere(SqliteDb& db) {
  return NamesOf(
      db,
      "SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view')"
      " AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'");
}

// Of SQLite's "no such function: percentil".
std::string NearFunction(SqliteDb& db, std::string_view error) {
  constexpr std::string_view kNoFunction = "no such function: ";
  if (!error.starts_with(kNoFunction)) return "";
  return DidYouMean(NearNames(error.substr(kNoFunction.size()),
                              NamesOf(db, "SELECT DISTINCT name FROM pragma_function_list")));
}

Error Compiler::Failed(std::string_view sql, const Error& error) const {
  if (error.kind != ErrorKind::kQuery) {
    return Error{ErrorKind::kInput, fmt::format("{}: {}", db_.path().string(), error.what),
                 error.advice};
  }
  if (sql.starts_with('.')) {
    return At(sql, ShownText(error.what), "commands with a dot belong to the sqlite3 shell");
  }
  const int offset = db_.ErrorOffset();
  std::string near = NearInSchema(error.what, sql, TablesHere(db_));
  if (near.empty()) near = NearFunction(db_, error.what);
  if (offset > 0) sql.remove_prefix(std::min(sql.size(), static_cast<size_t>(offset)));
  return At(sql, ShownText(error.what), near.empty() ? error.advice : near);
}

Result<SqliteStatement> Compiler::Next(std::string_view sql, std::string_view* rest) {
  const std::string verb = StatementVerb(sql);
  if (VerbChanges(verb)) return Refused(sql, fmt::format("{} is not reading", verb));
  auto prepared = db_.Prepare(sql, rest);
  if (!prepared.ok()) {
    // The words SQLite has for what RestrictToReading() refuses.
    if (verb == "PRAGMA" && prepared.error().what == "not authorized") {
      return Refused(sql,
                     fmt::format("PRAGMA {} may change something", ShownText(PragmaName(sql))));
    }
    return Failed(sql, prepared.error());
  }
  if (!prepared.value().IsReadOnly()) {
    return Refused(sql, fmt::format("{} would write", verb.empty() ? "this" : verb));
  }
  return prepared;
}

Result<std::vector<SqliteStatement>> Compiler::All() {
  const std::string_view text = doc_.sql;
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return At(text.substr(zero), "a zero byte: this is no SQL text", "");
  }
  std::vector<SqliteStatement> statements;
  std::string_view sql = SkipBlankSql(text);
  if (sql.empty()) {
    return Error{ErrorKind::kQuery, fmt::format("{}: there is no SQL in it", doc_.file), ""};
  }
  while (!sql.empty()) {
    if (statements.size() == kStatementsMax) {
      return At(sql, fmt::format("over {} statements", kStatementsMax), "");
    }
    std::string_view rest;
    TRACEDB_ASSIGN(statement, Next(sql, &rest));
    statements.push_back(std::move(statement));
    sql = SkipBlankSql(rest);
  }
  return statements;
}

std::vector<std::string> ColumnNames(const SqliteStatement& statement) {
  std::vector<std::string> names;
  for (int i = 0; i < statement.ColumnCount(); ++i) names.emplace_back(statement.ColumnName(i));
  return names;
}

}  // namespace

PreparedQuery::PreparedQuery() = default;
PreparedQuery::~PreparedQuery() = default;
PreparedQuery::PreparedQuery(PreparedQuery&&) noexcept = default;
PreparedQuery& PreparedQuery::operator=(PreparedQuery&&) noexcept = default;

Result<PreparedQuery> PreparedQuery::Prepare(SqliteDb& db, const QueryDoc& doc,
                                             const QueryInputs& inputs) {
  db.RestrictToReading();
  PreparedQuery query;
  TRACEDB_ASSIGN(gathered_note, NoteOfGathered(db, doc));
  query.gathered_note_ = std::move(gathered_note);
  query.file_ = doc.file;
  query.name_ = doc.name;
  query.when_empty_ = doc.when_empty;
  query.why_empty_ = doc.why_empty_sql;
  TRACEDB_ASSIGN(statements, Compiler(db, doc).All());
  query.statements_ = std::move(statements);
  TRACEDB_TRY(BindArguments(query.statements_, doc, inputs.params));
  query.db_ = &db;
  query.params_ = inputs.params;
  if (inputs.assert_expression.empty()) return query;
  if (query.statements_.size() != 1) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{}: --assert needs one statement, this has {}", doc.file,
                             query.statements_.size()),
                 "run each by itself"};
  }
  TRACEDB_ASSIGN(assertion, RowAssertion::Prepare(db, ColumnNames(query.statements_[0]),
                                                  inputs.assert_expression));
  query.assertion_ = std::make_unique<RowAssertion>(std::move(assertion));
  return query;
}

// True: the running statement stands on a row, and the sink has its names.
Result<bool> PreparedQuery::StepTo(RowSink& sink) {
  SqliteStatement& statement = statements_[running_];
  auto stepped = statement.Step();
  if (!stepped.ok()) {
    Error error = std::move(stepped).error();
    if (error.kind != ErrorKind::kQuery) error.kind = ErrorKind::kInput;
    error.what = fmt::format("{}: {}", file_, ShownText(error.what));
    return error;
  }
  // Not before the first step: a statement that fails at once prints nothing. One without columns
  // is a PRAGMA that tells nothing.
  if (cells_.empty() && statement.ColumnCount() > 0) {
    const std::vector<std::string> names = ColumnNames(statement);
    cells_.resize(names.size());
    const std::string sql = sink.WantsDeclared() ? statement.Sql() : "";
    if (!sql.empty() && !IsCompoundSql(sql)) sink.Declare(DeclaredTypes(*db_, sql));
    TRACEDB_TRY(sink.Begin(names));
  }
  return stepped.value() && !cells_.empty();
}

Status PreparedQuery::EndStatement(RowSink& sink) {
  const bool has_result = !cells_.empty();
  statements_[running_].Reset();
  cells_.clear();
  ++running_;
  return has_result ? sink.End() : Status(Done{});
}

std::vector<SqlType> ColumnTypes(const QueryDoc& doc) {
  std::vector<SqlType> types;
  for (const QueryColumn& column : doc.columns) {
    const bool is_real = column.type == DocType::kReal;
    types.push_back(column.type == DocType::kText ? SqlType::kText
                    : is_real                     ? SqlType::kReal
                                                  : SqlType::kInteger);
  }
  return types;
}

bool FailsAlone(const Error& error) {
  if (error.what.ends_with("malformed")) return true;  // "database disk image is malformed"
  return error.kind == ErrorKind::kQuery && !error.what.ends_with("interrupted");
}

Result<bool> PreparedQuery::Advance(RowSink& sink, std::optional<int64_t> rows_max) {
  while (running_ < statements_.size()) {
    TRACEDB_ASSIGN(is_row, StepTo(sink));
    if (is_row && rows_max.has_value() && outcome_.rows >= *rows_max) {
      outcome_.cut = true;
      TRACEDB_TRY(EndStatement(sink));
      running_ = statements_.size();
      return false;
    }
    if (!is_row) {
      TRACEDB_TRY(EndStatement(sink));
      continue;
    }
    const SqliteStatement& statement = statements_[running_];
    ++outcome_.rows;
    // Before the cells are read: reading a value as text may change its type.
    if (assertion_ != nullptr) TRACEDB_TRY(assertion_->Check(statement));
    for (size_t i = 0; i < cells_.size(); ++i) cells_[i] = ReadCell(statement, static_cast<int>(i));
    TRACEDB_TRY(sink.Row(cells_));
    return true;
  }
  return false;
}

Result<QueryOutcome> PreparedQuery::Run(RowSink& sink, std::optional<int64_t> rows_max) {
  while (true) {
    TRACEDB_ASSIGN(more, Advance(sink, rows_max));
    if (!more) break;
  }
  if (assertion_ != nullptr) TRACEDB_TRY(assertion_->Verdict(name_));
  QueryOutcome outcome = outcome_;
  if (outcome.rows > 0) {
    outcome.note = gathered_note_;
    return outcome;
  }
  // A filter that asks for what is not there, rather than what the query says of an empty database.
  TRACEDB_ASSIGN(missing, DescribeMissingValue(*db_, params_));
  outcome.note = std::move(missing);
  if (outcome.note.empty()) {
    TRACEDB_ASSIGN(reason, DescribeEmptiness(*db_, why_empty_, params_));
    outcome.note = std::move(reason);
  }
  if (outcome.note.empty()) outcome.note = when_empty_;
  if (outcome.note.empty() && assertion_ != nullptr) {
    outcome.note = fmt::format("{}: there is no row, so --assert had nothing to check", name_);
  }
  if (!gathered_note_.empty()) {
    outcome.note = gathered_note_ + (outcome.note.empty() ? "" : "; " + outcome.note);
  }
  return outcome;
}

}  // namespace tracedb
