#include "sources/nsys/nccl_payloads.h"

#include <cstring>

#include "sources/nsys/part_reading.h"
#include "sources/nsys/range_rows.h"

namespace tracedb {
namespace {

constexpr int kEntriesMax = 100'000;
constexpr size_t kPayloadMax = 4096;

template <typename Number>
std::optional<Number> NumberAt(std::string_view payload, std::optional<size_t> at) {
  if (!at.has_value() || *at + sizeof(Number) > payload.size()) return std::nullopt;
  Number number;
  std::memcpy(&number, payload.data() + *at, sizeof number);
  return number;
}

std::optional<int64_t> SmallAt(std::string_view payload, std::optional<size_t> at) {
  const auto number = NumberAt<int32_t>(payload, at);
  if (!number.has_value() || *number < 0) return std::nullopt;
  return *number;
}

}  // namespace

Result<NcclPayloads> NcclPayloads::Read(SqliteDb& db, const ExportTables& tables) {
  constexpr const char* kTable = "NVTX_PAYLOAD_SCHEMA_ENTRIES";
  NcclPayloads payloads;
  if (!tables.Has(kRangeTable, "binaryData") || !tables.Has(kTable, "schemaId") ||
      !tables.Has(kTable, "name")) {
    return payloads;
  }
  TRACEDB_ASSIGN(rows,
                 db.Prepare("SELECT " + tables.Select(kTable, {"schemaId", "name", "offset"}) +
                            " FROM " + kTable + " LIMIT " + std::to_string(kEntriesMax)));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    const auto schema = IntIn(rows, 0);
    const int64_t offset = IntIn(rows, 2).value_or(0);  // the first has none
    if (!schema.has_value() || offset < 0 || offset >= int64_t{kPayloadMax}) continue;
    const std::string_view name = rows.Text(1);
    Schema& fields = payloads.schemas_[static_cast<uint64_t>(*schema)];
    const auto at = static_cast<size_t>(offset);
    if (name == "NCCL communicator ID") {
      fields.communicator = at;
    } else if (name.starts_with("Message size")) {
      fields.bytes = at;
    } else if (name == "Peer rank") {
      fields.peer = at;
    } else if (name == "No. of ranks") {
      fields.ranks = at;
    } else if (name == "Rank") {
      fields.own_rank = at;
    }
  }
  std::erase_if(payloads.schemas_,
                [](const auto& schema) { return !schema.second.communicator.has_value(); });
  return payloads;
}

// Four numbers of 8 bytes: domain, schema, size, and where the payload begins; then the payload.
std::optional<NcclPayload> NcclPayloads::Of(std::string_view blob) const {
  constexpr size_t kHeaderBytes = 32;
  if (blob.size() < kHeaderBytes) return std::nullopt;
  const auto schema = schemas_.find(*NumberAt<uint64_t>(blob, 8));
  if (schema == schemas_.end()) return std::nullopt;
  const uint64_t bytes = *NumberAt<uint64_t>(blob, 16);
  const std::string_view payload = blob.substr(kHeaderBytes, bytes);
  const auto communicator = NumberAt<uint64_t>(payload, schema->second.communicator);
  if (!communicator.has_value()) return std::nullopt;
  NcclPayload read;
  read.communicator = *communicator;
  const auto size = NumberAt<uint64_t>(payload, schema->second.bytes);
  constexpr uint64_t kBytesMax = uint64_t{1} << 50;  // of a message; more is no size
  if (size.has_value() && *size < kBytesMax) read.bytes = static_cast<int64_t>(*size);
  read.peer = SmallAt(payload, schema->second.peer);
  read.ranks = SmallAt(payload, schema->second.ranks);
  read.own_rank = SmallAt(payload, schema->second.own_rank);
  return read;
}

}  // namespace tracedb
