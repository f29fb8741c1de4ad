// Which summaries are in a folder: those that are whole, and what is wrong with the others.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shards/summary_load.h"
#include "tracedb/base/result.h"
#include "tracedb/shards/gather.h"

namespace tracedb {

struct FoundShards {
  std::vector<FoundShard> whole;  // by run and rank
  std::vector<ShardTrouble> broken;
  std::map<std::string, std::vector<int64_t>> broken_ranks;  // by run
};

// Reads every manifest, and every file that is read as a whole to compare its hash.
Result<FoundShards> FindShards(const GatherOptions& options);

// Ranks of the world of which nothing was found. `run`: all are of this one.
std::vector<ShardTrouble> MissingRanks(const FoundShards& found,
                                       const std::optional<std::string>& run);

}  // namespace tracedb
