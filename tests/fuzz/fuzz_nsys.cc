// Any bytes as the file of an export of Nsight Systems. Input that begins with an 'S' is the file
// itself; other input is values, which take the place of those in the tables of a small export.
// Each part is read to its end, or refused; read again in other pieces it must be the same text.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "memory_folder.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/sources/nsys/nsys_export.h"

namespace {

using namespace tracedb;
namespace fs = std::filesystem;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

constexpr const char* kTables =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value);"
    "INSERT INTO StringIds VALUES (1, 'ncclAllReduce'), (2, 'k(int)'), (3, 'cudaLaunch_v7000');"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs);"
    "CREATE TABLE TARGET_INFO_GPU (id, name, threadsPerWarp, maxWarpsPerSm);"
    "CREATE TABLE PROCESSES (globalPid, pid, name); CREATE TABLE ThreadNames (nameId, globalTid);"
    "CREATE TABLE MPI_RANKS (globalTid, rank);"
    "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (schemaId, name, \"offset\");"
    "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 'NCCL communicator ID', NULL),"
    "  (1, 'No. of ranks', 8), (1, 'Rank', 12), (2, 'NCCL communicator ID', NULL),"
    "  (2, 'Message size [bytes]', 8);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", deviceId, contextId, streamId,"
    "  correlationId, globalPid, demangledName, gridX, gridY, gridZ, other);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", globalPid, copyKind, srcKind,"
    "  dstKind, bytes);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\", globalPid, graphId);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, \"end\", globalTid, nameId, correlationId);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, \"end\", globalPid, contextId,"
    "  streamId, syncType, eventId, eventSyncId);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp, eventSyncId, streamId);"
    "CREATE TABLE NVTX_EVENTS (start, \"end\", eventType, text, textId, globalTid, domainId,"
    "  binaryData);"
    "CREATE TABLE GPU_METRICS (timestamp, typeId, metricId, value);"
    "CREATE TABLE OSRT_API (start, \"end\", globalTid, nameId);";
constexpr const char* kNames[] = {"TARGET_INFO_SESSION_START_TIME",
                                  "TARGET_INFO_GPU",
                                  "PROCESSES",
                                  "ThreadNames",
                                  "MPI_RANKS",
                                  "CUPTI_ACTIVITY_KIND_KERNEL",
                                  "CUPTI_ACTIVITY_KIND_MEMCPY",
                                  "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                  "CUPTI_ACTIVITY_KIND_RUNTIME",
                                  "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                  "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                                  "NVTX_EVENTS",
                                  "GPU_METRICS",
                                  "OSRT_API"};

class Bytes {
 public:
  explicit Bytes(std::string_view left) : left_(left) {}
  bool Any() const { return !left_.empty(); }
  uint8_t One() {
    if (left_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(left_[0]);
    left_.remove_prefix(1);
    return byte;
  }
  // A value as SQL writes it: mostly small numbers, which meet each other.
  std::string Value() {
    const uint8_t kind = One();
    if (kind < 160) return std::to_string(kind % 8);
    if (kind < 176) return std::to_string((int64_t{1} << 48) + (int64_t{kind % 4} << 24));
    if (kind < 192) return "NULL";
    if (kind < 200)
      return std::to_string(static_cast<int64_t>(kind % 2 == 0 ? INT64_MIN : INT64_MAX));
    if (kind < 208) return "1.5e300";
    std::string text = kind < 232 ? "'" : "x'";
    constexpr char kHex[] = "0123456789abcdef";
    for (size_t count = One() % 64; count > 0; --count) {
      const uint8_t byte = One();
      if (kind >= 232) {
        text += {kHex[byte >> 4], kHex[byte & 15]};
      } else {
        text += byte == '\'' || byte == '\0' ? '"' : static_cast<char>(byte);
      }
    }
    return text + "'";
  }

 private:
  std::string_view left_;
};

void WriteExport(const fs::path& path, Bytes bytes) {
  auto db = SqliteDb::Open(path, SqliteMode::kCreate);
  if (!db.ok()) Fail(db.error().what);
  if (!db.value()
           .Execute(std::string("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;") + kTables)
           .ok()) {
    Fail("the tables");
  }
  while (bytes.Any()) {
    const std::string table = kNames[bytes.One() % std::size(kNames)];
    auto columns = db.value().Integer("SELECT count(*) FROM pragma_table_info('" + table + "')");
    if (!columns.ok()) Fail(columns.error().what);
    std::string row = "INSERT INTO " + table + " VALUES (";
    for (int64_t i = 0; i < columns.value(); ++i) row += (i > 0 ? "," : "") + bytes.Value();
    (void)db.value().Execute(row + ")");
  }
}

// The text of a part, or why there is none.
std::string TextOf(const NsysExport& found, size_t part, size_t piece) {
  auto source = found.Open(part, nullptr, size_t{2} << 20);
  if (!source.ok()) return source.error().what;
  std::string text;
  std::vector<char> room(piece);
  for (;;) {
    auto got = source.value()->Read(room);
    if (!got.ok()) return text + got.error().what;
    if (got.value() == 0) return text;
    text.append(room.data(), got.value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const MemoryFolder folder("fuzz_nsys");
  const fs::path path = folder.path() / "export.sqlite";
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  fs::remove(path);
  if (input.starts_with('S')) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << input;
  } else {
    WriteExport(path, Bytes(input));
  }
  const auto found = NsysExport::Look(path, {size % 2 == 0, {}}, nullptr);
  if (found.ok()) {
    constexpr size_t kPartsMax = 4;  // of an input: more are the same again
    for (size_t part = 0; part < std::min(found.value()->parts().size(), kPartsMax); ++part) {
      if (TextOf(*found.value(), part, 1 << 16) != TextOf(*found.value(), part, 4099)) {
        Fail("other text in other pieces");
      }
    }
  }
  fs::remove(path);
  return 0;
}
