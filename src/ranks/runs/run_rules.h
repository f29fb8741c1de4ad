// Which traces are one run, and which of a run's one capture: the rules alone, without a database.
//
// A folder that was given to ingest is one run, unless folders below it hold the same ranks again:
//
//   job/node0/rank0.json            tuning/first/rank0.json      first is a run,
//   job/node1/rank1.json  one run   tuning/first/rank1.json
//                                   tuning/second/rank0.json     second is another
//
// A file that was given itself belongs to the folder in which it is. A capture is one cycle of the
// profiler: traces whose times overlap, of each rank one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct RecordedTrace {
  int64_t trace_id = 0;
  int64_t rank = 0;
  std::string folder;                       // absolute, in which the file is
  std::optional<std::string> input_folder;  // absolute; none: the file itself was given
  std::optional<std::string> named_run;     // what a person said
  std::optional<int64_t> start_ns, end_ns;  // none: it has no event
};

struct Run {
  int64_t run_id = 0;  // the lowest id of its traces
  std::string name;    // the end of its path, as long as it takes to be no other's
  std::string path;
  std::optional<int64_t> start_ns;
};

struct Capture {
  int64_t capture_id = 0;  // the lowest id of its traces
  int64_t run_id = 0;
  int64_t number = 0;  // in its run, by start, from 1
};

struct TracePlace {
  int64_t trace_id = 0;
  int64_t run_id = 0;
  int64_t capture_id = 0;
};

struct RunsAndCaptures {
  std::vector<Run> runs;
  std::vector<Capture> captures;
  std::vector<TracePlace> places;  // of every trace
};

RunsAndCaptures SortIntoRuns(const std::vector<RecordedTrace>& traces);

// Whether `folder` is `outer` or lies below it.
bool IsWithinFolder(std::string_view folder, std::string_view outer);

}  // namespace tracedb
