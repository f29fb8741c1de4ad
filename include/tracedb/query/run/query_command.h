// `tracedb query`: from its options to text on standard output or in a file. Writes nothing to
// standard error; what a person should read there comes back as an Error or as a note.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

struct QueryOptions {
  std::filesystem::path database;
  std::string source;               // NAME, NAME.sql, FILE.sql or "-"; may be empty
  std::string command;              // SQL text of -c; may be empty
  std::vector<std::string> params;  // "key=value"
  std::optional<Format> format;     // nothing: table on a terminal, else csv
  std::filesystem::path output;     // empty: standard output
  bool force = false;               // the output may replace another database, or an input
  OutputStream* stream = nullptr;   // in place of standard output, on the way there
  bool header = true;
  bool safe_csv = false;  // csv and tsv for spreadsheets: SinkOptions::safe_text
  bool explain = false;
  bool schema = false;        // in place of a query: what the public tables, views and columns are;
                              // `source` is the name of one, or a pattern (kernel*)
  bool schema_names = false;  // with it: no columns
  bool plot = false;          // draw the result, as the query's header says
  bool color = false;         // in colours: of plots, and of a table's names
  bool wide = false;          // a table has all columns, however wide
  bool vertical = false;      // a table has each row as a block
  bool pager = false;         // for a person what is more than a screen goes to a pager
  bool by_screen = false;     // for a person without a pager a table has as many rows as a screen
  bool detail = false;        // of a gathered database: what it cannot answer from ranks' own
  std::string assert_expression;
  bool quiet = false;  // no notes

  // Called with the open connection before anything is compiled: to register functions, or to let
  // ctrl-C call Interrupt(). The connection is open until on_close is called. Both may be empty.
  std::function<Status(SqliteDb&)> on_open;
  std::function<void()> on_close;
};

Result<QueryOutcome> RunQueryCommand(const QueryOptions& options, const QueryCatalog& catalog);

// SQL that shows the public table or view of that name; empty: there is none.
std::string SelectOfTable(const std::string& name);

}  // namespace tracedb
