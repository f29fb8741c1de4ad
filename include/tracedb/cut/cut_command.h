// Writes a window of a database, or all of it, as a trace of Chrome's JSON format, which Perfetto,
// chrome://tracing and PyTorch's tools open.
//
// One trace alone comes out as it went in: the same events under the same ids, so that ingesting it
// gives the same rows. Of several traces each has process ids of its own, and of several ranks
// times are by the aligned clocks (table clock). What is written is of one run.
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
#include "tracedb/text/output_stream.h"

namespace tracedb {

struct CutOptions {
  std::filesystem::path database;
  std::filesystem::path output;  // "-": standard output; a name in .gz is packed
  bool force = false;            // the output may replace another database, or a trace
  // The window; at most one of the first four kinds, none is all of it. Texts are as people write
  // them: a time is "1.25s", "300ms", "5us" or "7ns" after the first event, or a plain number of ns
  // as ts_ns columns have it.
  std::string steps;       // "3" or "3..5"
  std::string start, end;  // either may be empty
  std::string around;      // SQL whose first row has ts_ns, and may have dur_ns, rank and trace_id
  bool slowest_collective = false;
  std::string margin;                   // a length that the window gets at both ends
  std::string run;                      // its name; empty: the only one that is in the window
  std::optional<int64_t> capture;       // its number in the run; none: all
  std::string ranks;                    // "0,3..5"; empty: all
  std::vector<std::string> streams;     // of GPU activities; threads are not concerned
  std::vector<std::string> categories;  // in any case
  std::optional<int64_t> events_max;    // beside metadata
  bool detail = false;  // of a gathered database: from the own database of the one rank in `ranks`
  bool clip = false;    // slices end at the window's edges
  bool incoming = false;                     // arrows that begin before the window, not with clip
  bool critical_path = false;                // a track of it, and all of that of `steps`
  std::string path_sql;                      // the query critical_path, for that track
  std::function<Status(SqliteDb&)> on_open;  // before SQL of the person, or that query, runs
};

struct CutReport {
  int64_t events = 0;  // written, without metadata
  int64_t slices = 0;
  std::vector<std::string> notes;  // for the person: what was chosen, what was left out
};

// A file appears whole or not at all. Errors: kUsage for texts that cannot be read, kInput for what
// the database does not have, kQuery for SQL, kOutput, and kClosed when the reader has gone. Stops
// soon after `stop` has become true.
Result<CutReport> CutTrace(const CutOptions& options, const std::atomic<bool>& stop);

// The same, packed, into `output`, whatever options.output says; what was written before an Error
// is of no use. `should_stop` is asked while it works.
Result<CutReport> CutPacked(const CutOptions& options, const std::function<bool()>& should_stop,
                            OutputStream& output);

}  // namespace tracedb
