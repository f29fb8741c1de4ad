// SQL -> rows: prepares, checks that nothing is written, binds, runs, and hands rows to a RowSink.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_doc.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

class RowAssertion;

struct QueryInputs {
  std::vector<std::string> params;  // "key=value", as -p takes them
  std::string assert_expression;    // SQL over the result's columns; empty: none
};

struct QueryOutcome {
  int64_t rows = 0;
  bool cut = false;  // there were more rows than rows_max
  std::string note;  // for stderr; may be empty
};

// As the query's header has them; none where it has no header. For SinkOptions.
std::vector<SqlType> ColumnTypes(const QueryDoc& doc);

// Whether others may well succeed after this error of a query: it is the query's own, or that of
// the pages it looked at. Not so a lock, a full memory, or somebody who asked for an end.
bool FailsAlone(const Error& error);

// Everything that can be wrong with the SQL, the parameters or the assertion comes out of Prepare,
// before an output need be opened. The database must outlive this.
class PreparedQuery {
 public:
  // Calls db.RestrictToReading(). All statements of the text are compiled here, and run in their
  // order by Run.
  static Result<PreparedQuery> Prepare(SqliteDb& db, const QueryDoc& doc,
                                       const QueryInputs& inputs);

  ~PreparedQuery();
  PreparedQuery(PreparedQuery&&) noexcept;
  PreparedQuery& operator=(PreparedQuery&&) noexcept;

  // Once. Each statement gives the sink a result of its own; `rows_max` is over all of them. When
  // the assertion does not hold, the result has been handed over whole and the error is of
  // ErrorKind::kAssert.
  Result<QueryOutcome> Run(RowSink& sink, std::optional<int64_t> rows_max = std::nullopt);

  // Run by the row, for who does something else in between: hands over the next row. False: the
  // last one has been handed over, and outcome() has counted them.
  Result<bool> Advance(RowSink& sink, std::optional<int64_t> rows_max = std::nullopt);
  const QueryOutcome& outcome() const { return outcome_; }

 private:
  PreparedQuery();
  Result<bool> StepTo(RowSink& sink);
  Status EndStatement(RowSink& sink);

  std::string file_;
  std::string name_;
  std::string gathered_note_;  // what is to be said of any answer; may be empty
  std::string when_empty_;
  std::vector<std::string> why_empty_;  // SQL of checks that may say why there is no row
  SqliteDb* db_ = nullptr;
  std::vector<std::string> params_;
  std::vector<SqliteStatement> statements_;
  std::unique_ptr<RowAssertion> assertion_;  // may be empty
  size_t running_ = 0;                       // index of the statement that is run
  std::vector<Cell> cells_;                  // of its rows; empty: it has not begun
  QueryOutcome outcome_;
};

}  // namespace tracedb
