// What a trace's header says: who recorded it, where its clock begins, which process groups exist.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/frame/header_reader.h"
#include "tracedb/derive/collectives/derive_groups.h"
#include "tracedb/schema/event_issues.h"

namespace tracedb {

struct TraceHeader {
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  std::optional<int64_t> base_time_ns;
  std::optional<std::string> host;
  std::optional<std::string> gpu_name;
  std::vector<HeaderGroup> groups;
  std::optional<std::string> json;  // every key, as one object; valid JSON; none: no keys
};

// Values that are no JSON are kept as JSON strings and counted.
TraceHeader ReadTraceHeader(const HeaderReader::Entries& entries, EventIssues& issues);

inline constexpr std::string_view kRankOfCommunicator = "communicator";  // maybe not of all ranks
inline constexpr std::string_view kRankChosen = "chosen";
inline constexpr std::string_view kRankByDevice = "device order";  // chosen, where GPUs are counted

struct RankChoice {
  int64_t rank = 0;
  std::string_view source;  // "header", "file name", "option", or one of these
};

// The header decides, else the file's name, else the option. Where none tells it is 0, and whoever
// asks chooses.
RankChoice ChooseRank(const TraceHeader& header, const std::filesystem::path& path,
                      std::optional<int64_t> option);

}  // namespace tracedb
