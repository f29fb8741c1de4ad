// Of which run a file is that is no trace.
//
//   job/                      `ingest job`: log.txt is of the run job, as its folder is the run's.
//     log.txt
//     traces/rank0.json.gz
//
//   jobs/                     `ingest jobs`: a/log.txt is of run a, b/log.txt of run b.
//     nvidia-smi.csv          nvidia-smi.csv lies above both, and may tell of either: of no run.
//     a/log.txt  a/rank0.json.gz
//     b/log.txt  b/rank0.json.gz
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ranks/runs/run_rules.h"

namespace tracedb {

struct RecordedSource {
  int64_t source_id = 0;
  std::string folder;
  std::optional<std::string> input_folder;
  std::optional<std::string> named_run;
};

struct SourcePlace {
  int64_t source_id = 0;
  std::optional<int64_t> run_id;
};

// `runs` are those of the traces; runs that sources alone tell of are added to them, with the
// lowest of their source_ids, negative, as their run_id. Places are in the order of `sources`.
std::vector<SourcePlace> SortSources(const std::vector<RecordedSource>& sources,
                                     std::vector<Run>& runs);

}  // namespace tracedb
