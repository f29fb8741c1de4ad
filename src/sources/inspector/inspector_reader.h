// Reads the output of NCCL Inspector, the profiler plugin that is always on: one JSON object a
// collective of a rank, on a line each or pretty-printed.
//
//   {"header": {"id": "0x9e7a479f95a66c", "rank": 31, "n_ranks": 32, "nnodes": 4},
//    "metadata": {..., "dump_timestamp_us": 1749490229087081, "hostname": "node3", "pid": 468528},
//    "coll_perf": {"coll": "ReduceScatter", "coll_sn": 129, "coll_msg_size_bytes": 65536, ...}}
#pragma once

#include <string_view>

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class InspectorReader : public SourceReader {
 public:
  std::string_view kind() const override { return "NCCL Inspector"; }
  bool Fits(const SourceHead& head) const override;
  Status Read(SourceText& text, SourceRows& rows) const override;
};

}  // namespace tracedb
