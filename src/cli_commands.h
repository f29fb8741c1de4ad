// One function a command: from options to work and text. Only main.cc and these write to standard
// error, through WriteToStderr below.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli_options.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/source_load.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

// `stop` becomes true when the person presses ctrl-C.
Status RunIngest(const GlobalOptions& global, const IngestOptions& options,
                 const std::atomic<bool>& stop);
// An error of kInput when summaries are missing or broken: the database has been made then.
Status RunGather(const GlobalOptions& global, const GatherArguments& arguments,
                 const std::atomic<bool>& stop);
// The token that serve-csv asks for; empty: none.
Result<std::string> FindToken(const GlobalOptions& global, const ServeArguments& arguments);
Status RunServe(const GlobalOptions& global, const ServeArguments& arguments,
                const std::atomic<bool>& stop);
Status RunWatch(const GlobalOptions& global, const WatchArguments& arguments,
                const std::atomic<bool>& stop);
Status RunReport(const GlobalOptions& global, const ReportArguments& arguments,
                 const std::atomic<bool>& stop);
Status RunWhatIf(const GlobalOptions& global, const WhatIfArguments& arguments,
                 const std::atomic<bool>& stop);
Status RunInfo(const GlobalOptions& global, const InfoOptions& options);
Status RunAlign(const GlobalOptions& global, const AlignOptions& options,
                const std::atomic<bool>& stop);
Status RunCut(const GlobalOptions& global, const CutOptions& options,
              const std::atomic<bool>& stop);
// When something was found the report has been written, and the error is of kFindings.
Status RunDoctor(const GlobalOptions& global, const DoctorOptions& options,
                 const std::atomic<bool>& stop);

// kAssert: slower than --gate allows. kFindings: not comparable. kUndecided: --gate cannot tell.
Status RunCompare(const GlobalOptions& global, const CompareArguments& arguments,
                  const std::atomic<bool>& stop);
Status RunBaseline(const GlobalOptions& global, const BaselineArguments& arguments,
                   const std::atomic<bool>& stop);

struct LoadedInputs {
  bool found = true;            // any of the files is of a kind that is read
  bool any = false;             // one was loaded, or was there already
  bool only_traces = true;      // no other file was
  std::optional<Error> failed;  // the first file of a folder that could not be read
  std::optional<SqliteDb> db;   // a connection to the database, where one is open
};

// Is told of each file that was loaded, or was there already.
struct OnLoaded {
  std::function<Status(const LoadSummary&)> trace;
  std::function<Status(const SourceSummary&)> source;
  // Why a file of a folder is no trace after all, or cannot be read. Where this is empty it is said
  // on standard error.
  std::function<void(const Error&)> passed_over = {};
};

// Whether it is a database of tracedb, by its header; not so an export of Nsight Systems, which is
// SQLite's as well and is loaded as traces are.
bool IsTraceDatabaseFile(const std::filesystem::path& path);

// Loads every input into global.database, with progress on standard error. A file of a folder that
// cannot be read does not keep the others out.
Result<LoadedInputs> LoadInputs(const GlobalOptions& global, const IngestOptions& options,
                                const std::atomic<bool>& stop, const OnLoaded& on_loaded);

// The same of files that were found already, each in its folder; that none of them is read is no
// error.
Result<LoadedInputs> LoadFiles(const GlobalOptions& global, const IngestOptions& options,
                               const std::atomic<bool>& stop, const OnLoaded& on_loaded,
                               std::vector<InputFile> named);

// What the traces of all ranks say of one another, once those of an ingest are in: operators of
// graphs, clocks, and why ranks waited.
Status CompareRanks(const GlobalOptions& global, SqliteDb& db, const LoadLimits& limits,
                    const std::atomic<bool>& stop);

// Lets `write` write to standard output; on a terminal what is more than a screen goes to a pager.
Status WriteForPerson(const GlobalOptions& global,
                      const std::function<Status(OutputStream&)>& write);

// Runs a canned query and prints its result on `output`, which is standard output's.
Status ShowQuery(const GlobalOptions& global, const QueryCatalog& catalog, const char* name,
                 Format format, OutputStream& output);

// In lines of its own, whatever progress stands there. Where standard error cannot be written the
// text is lost: there is nobody to tell.
void WriteToStderr(const std::string& text);

// What is said in lines, as text that does nothing to a terminal: names of files and what was typed
// may hold anything.
std::string ShownLines(std::string_view text);

// A line on standard error, after whatever progress stands there; nothing with --quiet.
void SayNote(const GlobalOptions& global, const std::string& note);
// Says so, and ends the program.
[[noreturn]] void EndOutOfMemory();
// PrepareToReadTraces(), which asks for memory where a library lets nothing be thrown.
void PrepareToParse();

}  // namespace tracedb
