// The rank that the name of a file or folder tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tracedb {

// Of rank3.pt.trace.json.gz, rank-0.x.json, rank[5], nccl_trace_rank_7; null: it tells none.
std::optional<int64_t> RankInName(std::string_view name);

}  // namespace tracedb
