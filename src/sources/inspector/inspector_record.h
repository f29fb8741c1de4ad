// One object of NCCL Inspector's output: a collective, or a send or recv, of one rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sources/inspector/json_leaves.h"

namespace tracedb {

struct InspectorRecord {
  // The communicator, as one process sees it; texts without escapes.
  std::string communicator_id, communicator_name, host, version, git_rev, mechanism;
  std::optional<int64_t> rank, ranks, nodes, pid;

  // What was done.
  bool is_collective = false, is_p2p = false, is_dump = false;
  std::string operation, timing_source, algorithm, protocol;
  std::optional<int64_t> channels, peer, sn, bytes;
  std::optional<double> exec_us, algbw_gbps, busbw_gbps;

  // Unix ns. Of a verbose record: when its kernel ran, over all channels; when the host asked.
  std::optional<int64_t> dump_ns, kernel_start_ns, kernel_end_ns, call_ns, call_end_ns;
  int64_t kernel_channels = 0;

  // Of a dump: what it wrote, and what the plugin had to drop since the dump before.
  std::optional<int64_t> collective_records, collectives_dropped, p2p_records, p2ps_dropped;

  std::string others;  // `"key":value,...` of all that has no place above
};

// False: the object's structure cannot be told, or it holds neither a collective nor a dump.
bool ReadInspectorRecord(std::string_view object, JsonLeaves& leaves, InspectorRecord& record);

}  // namespace tracedb
