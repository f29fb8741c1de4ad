// `tracedb serve-csv`: a database over HTTP, as a page for people and CSV for spreadsheets. Knows
// neither where the database comes from nor who watches standard error.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

// A window of the database that was asked for as a trace for Perfetto: /cut.json.gz.
struct ServedCut {
  double from_ms = 0;  // since the first event of the run, by the aligned clocks
  double to_ms = 0;
  std::string run;  // empty: the only one
  std::optional<int64_t> capture;
  bool incoming = false;   // also arrows that begin before
  int64_t events_max = 0;  // of more the longest slices
};

struct ServeOptions {
  std::filesystem::path database;
  std::string host = "127.0.0.1";
  int port = 8642;                         // 0: any that is free
  std::string token;                       // empty: none is asked for
  std::vector<std::string> allowed_hosts;  // further names that a Host header may have
  int64_t rows_max = 0;                    // of one answer; 0: no bound
  int seconds_max = 600;                   // of one answer, from its query to its last byte
  int connections_max = 256;
  std::string version;    // the program's, for /report
  bool raw_text = false;  // csv without defusing formulas, unless a request asks for it

  // Each may be empty. on_open: functions of the caller's for every connection to the database.
  std::function<Status(SqliteDb&)> on_open;
  // Writes it, packed, and says in `notes` what was left out; stops when `should_stop` says so.
  std::function<Status(const ServedCut& cut, const std::function<bool()>& should_stop,
                       OutputStream& output, std::vector<std::string>& notes)>
      on_cut;
  // It listens; `page` is the address with the token, for the browser alone.
  std::function<void(const std::string& url, const std::string& page)> on_ready;
  std::function<void(const std::string& note)> on_note;  // from any thread
};

// Serves until `stop` is true. An error: it could not begin.
Status ServeCsv(const ServeOptions& options, const QueryCatalog& catalog,
                const std::atomic<bool>& stop);

}  // namespace tracedb
