// A trace file -> rows in a database: all stages together, on threads of their own.
//
//   read + inflate + frame ──windows──▶ parse (several) ──batches, in order──▶ build + write
//
// A file lands whole or not at all; see src/ingest/load/database_landing.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/ingest/read/input_files.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/schema/event_issues.h"
#include "tracedb/sources/read/source_options.h"

namespace tracedb {

struct LoadProgress {
  uint64_t file_bytes = 0;  // read so far, packed
  uint64_t text_bytes = 0;  // unpacked so far
  uint64_t events = 0;      // made rows of so far; 0 of what is no trace
};

struct LoadOptions {
  LoadLimits limits;
  std::optional<int64_t> rank;     // where neither header nor file name tell one
  std::optional<std::string> run;  // of which it is; none: its folder tells
  bool strict = false;             // the first issue is an error, and nothing lands
  bool replace = false;            // take out what is there of the same content or path first
  bool keep_args = true;
  bool whole_only = false;  // what breaks off does not land: somebody may be writing it
  SourceOptions source;     // of files that are no traces
  size_t block_bytes = 0;   // largest piece read at a time; 0: no limit (for tests)
  // On a thread that reads; where there are several files, on that of whoever wants the next.
  std::function<void(const LoadProgress&)> on_progress;
  std::function<void(const std::string&)> on_note;  // something a person should know
  const std::atomic<bool>* stop = nullptr;          // set: give up, leave all as it was
};

struct LoadSummary {
  std::string path;  // as it is told from others: of one of several traces of a file with a part
  std::filesystem::path file;
  bool skipped = false;     // its content was in the database already
  bool unfinished = false;  // it breaks off, and only what is whole was asked for
  int64_t trace_id = 0;
  int64_t rank = 0;
  std::string rank_source;
  uint64_t file_bytes = 0;
  uint64_t text_bytes = 0;
  uint64_t events = 0;
  uint64_t slices = 0;
  uint64_t gpu_activities = 0;
  bool complete = true;
  double seconds = 0;         // the whole
  double read_seconds = 0;    // of these, reading the file into rows
  double derive_seconds = 0;  // working out what queries need
  double land_seconds = 0;    // making it part of the database, safe on the disk
  EventIssues issues;
  // Of a trace that is the first of its database: the run's name. There is nothing to compare yet.
  std::optional<std::string> only_run;
  bool launches_graphs = false;  // of such a trace
};

// Loads one file (path "-": standard input) into `database`, which is made when it is not there.
Result<LoadSummary> LoadTrace(const InputFile& input, const std::filesystem::path& database,
                              const LoadOptions& options);

// The same, through the connection of the files before it.
struct KeptConnection;
Result<LoadSummary> LoadTrace(const InputFile& input, const std::filesystem::path& database,
                              const LoadOptions& options, KeptConnection& kept);

}  // namespace tracedb
