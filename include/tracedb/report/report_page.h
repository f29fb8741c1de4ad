// A database as one self-contained HTML page: figures, charts and tables of the canned queries and
// of doctor's checks. Knows neither where the page goes nor where the database comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

struct ReportOptions {
  std::string version;  // the program's

  // Another connection to the same database, for work on a thread of its own; asked for all workers
  // but one. May be empty.
  std::function<Result<SqliteDb>()> open_another;
  size_t workers = 2;

  // Told of each query and check that begins, by any thread: how many have, of how many. May be
  // empty.
  std::function<void(const std::string& name, size_t number, size_t all)> on_part = {};

  std::string run = {};                 // the run that it is of; empty: the last to begin
  std::optional<int64_t> capture = {};  // of that run; none: all of them
  std::optional<int64_t> step = {};     // that the page is about; none: the one with most to gain
  std::optional<int64_t> rank = {};     // whose timeline is shown first; none: the one at fault
  std::string title = {};               // empty: the database's name
  bool is_served = false;               // its server answers further queries at report/*.json
  std::string theme = {};               // light or dark; empty: as the reader's system has it
};

// The page is of one run. It depends on the database, the catalog and that alone: the same bytes
// each time. 0.4 MB at least; of 8 ranks 5 MB at most, and the page says what was left out. Parts
// whose query the catalog does not have are not on it. One whose query fails shows its error, and
// is in the answer: "QUERY: why".
Result<std::vector<std::string>> WriteReport(SqliteDb& db, const QueryCatalog& catalog,
                                             const ReportOptions& options, OutputStream& output);

// The Content-Security-Policy that the page has in itself, for a header: nothing is loaded, and
// only its own scripts and style, named by their hashes, are used.
// `is_served`: it may ask its own server.
std::string ReportPolicy(bool is_served = false);

}  // namespace tracedb
