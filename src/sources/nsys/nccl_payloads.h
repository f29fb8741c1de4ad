// What NCCL says of its calls in the payloads of its NVTX ranges, where an export has these as
// blobs (nsys export --include-blobs=true). The export says where a payload's fields are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "sources/nsys/export_tables.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct NcclPayload {
  uint64_t communicator = 0;
  std::optional<int64_t> bytes;     // of the message
  std::optional<int64_t> peer;      // of a send or receive: its rank in the communicator
  std::optional<int64_t> ranks;     // of a communicator that begins: how many
  std::optional<int64_t> own_rank;  // and which of them this is
};

class NcclPayloads {
 public:
  static Result<NcclPayloads> Read(SqliteDb& db, const ExportTables& tables);

  // Whether the export has payloads of NCCL.
  bool Any() const { return !schemas_.empty(); }
  // None: it is not of NCCL, or not whole.
  std::optional<NcclPayload> Of(std::string_view blob) const;

 private:
  struct Schema {
    std::optional<size_t> communicator, bytes, peer, ranks, own_rank;  // where they begin
  };
  std::map<uint64_t, Schema> schemas_;
};

}  // namespace tracedb
