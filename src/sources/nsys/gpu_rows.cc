#include "sources/nsys/gpu_rows.h"

#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

// The first columns of every reader here.
constexpr std::string_view kPlaceColumns[] = {"start",    "end",           "deviceId", "contextId",
                                              "streamId", "correlationId", "globalPid"};
enum PlaceColumn { kStart, kEnd, kDevice, kContext, kStream, kCorrelation, kPid, kPlaceCount };

constexpr std::string_view kMemoryKinds[] = {"Pageable",       "Pinned",  "Device",
                                             "Array",          "Managed", "Device Static",
                                             "Managed Static", "Unknown"};

std::string_view MemoryKind(std::optional<int64_t> kind) {
  if (!kind.has_value() || *kind < 0 || *kind >= int64_t{std::size(kMemoryKinds)}) return {};
  return kMemoryKinds[static_cast<size_t>(*kind)];
}

std::string_view CopyKind(std::optional<int64_t> kind) {
  constexpr std::string_view kKinds[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                         "DtoA", "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
  if (!kind.has_value() || *kind < 0 || *kind >= int64_t{std::size(kKinds)}) return {};
  return kKinds[static_cast<size_t>(*kind)];
}

// What all have: false where the row has no start.
bool WritePlace(const SqliteStatement& row, const char* table, PartReading& part,
                std::string_view category, std::string_view name, EventJson& out) {
  const auto start = IntIn(row, kStart);
  if (!start.has_value()) {
    part.Unusable(table, "start is no number");
    return false;
  }
  const auto context = IntIn(row, kContext);
  const auto told = IntIn(row, kDevice);
  const int64_t device = told.has_value() ? *told : part.DeviceOf(context).value_or(0);
  const int64_t stream = IntIn(row, kStream).value_or(0);
  out.Begin('X', category, name);
  out.Track(device, stream);
  out.Time(*start);
  out.Duration(*start, IntIn(row, kEnd));
  out.Arg("device", device);
  out.Arg("context", context);
  out.Arg("stream", stream);
  const auto pid = IntIn(row, kPid);
  const bool foreign = pid.has_value() && part.IsForeign(*pid);
  out.Arg(foreign ? "correlationId" : "correlation", IntIn(row, kCorrelation));
  if (foreign) out.Arg("globalPid", *pid);
  return true;
}

void WriteThree(const SqliteStatement& row, int first, std::string_view key, EventJson& out) {
  const auto x = IntIn(row, first);
  const auto y = IntIn(row, first + 1);
  const auto z = IntIn(row, first + 2);
  if (!x.has_value() || !y.has_value() || !z.has_value()) return;
  out.ArgJson(
      key, "[" + std::to_string(*x) + ", " + std::to_string(*y) + ", " + std::to_string(*z) + "]");
}

std::string SelectFrom(const PartReading& part, const char* table,
                       std::span<const std::string_view> own, const OtherColumns& others) {
  return "SELECT " + part.tables().Select(table, kPlaceColumns) + ", " +
         part.tables().Select(table, own) + others.Select() + " FROM " + table + " WHERE " +
         part.Condition(table);
}

constexpr std::string_view kKernelOwn[] = {"demangledName",
                                           "shortName",
                                           "mangledName",
                                           "registersPerThread",
                                           "gridX",
                                           "gridY",
                                           "gridZ",
                                           "blockX",
                                           "blockY",
                                           "blockZ",
                                           "staticSharedMemory",
                                           "dynamicSharedMemory",
                                           "graphId",
                                           "graphNodeId"};
enum KernelColumn {
  kDemangled = kPlaceCount,
  kShort,
  kMangled,
  kRegisters,
  kGrid,
  kBlock = kGrid + 3,
  kStaticShared = kBlock + 3,
  kDynamicShared,
  kKernelGraph,
  kKernelNode,
  kKernelOthers
};

constexpr std::string_view kCopyOwn[] = {"bytes", "copyKind", "srcKind", "dstKind", "memKind"};
enum CopyColumn { kBytes = kPlaceCount, kCopyKind, kSrcKind, kDstKind, kMemKind, kCopyOthers };

constexpr std::string_view kGraphOwn[] = {"graphId", "graphExecId"};
enum GraphColumn { kGraph = kPlaceCount, kGraphExec, kGraphOthers };

}  // namespace

KernelRows::KernelRows(const ExportTables& tables, NcclCalls calls)
    : others_(tables, kKernelTable, kPlaceColumns, kKernelOwn), calls_(std::move(calls)) {}

std::string KernelRows::Sql(const PartReading& part) const {
  return SelectFrom(part, kKernelTable, kKernelOwn, others_);
}

void KernelRows::Write(const SqliteStatement& row, PartReading& part, EventJson& out) {
  const std::string* name = nullptr;
  for (const int column : {kDemangled, kShort, kMangled}) {
    if (name == nullptr) name = part.Text(IntIn(row, column));
  }
  if (!WritePlace(row, kKernelTable, part, "kernel", name == nullptr ? "?" : *name, out)) return;
  out.Arg("registers per thread", IntIn(row, kRegisters));
  const auto fixed = IntIn(row, kStaticShared);
  const auto dynamic = IntIn(row, kDynamicShared);
  if (fixed.has_value() || dynamic.has_value()) {
    out.Arg("shared memory", SumNs(fixed.value_or(0), dynamic.value_or(0)));
    out.Arg("staticSharedMemory", fixed);
  }
  WriteThree(row, kGrid, "grid", out);
  WriteThree(row, kBlock, "block", out);
  const auto pid = IntIn(row, kPid);
  if (!pid.has_value() || !part.IsForeign(*pid)) calls_.WriteArgs(IntIn(row, kCorrelation), out);
  out.Arg("graphId", IntIn(row, kKernelGraph));
  out.Arg("graphNodeId", IntIn(row, kKernelNode));
  others_.Write(row, kKernelOthers, out);
  out.End();
}

CopyRows::CopyRows(const ExportTables& tables, bool fills)
    : fills_(fills), others_(tables, fills ? kFillTable : kCopyTable, kPlaceColumns, kCopyOwn) {}

std::string CopyRows::Sql(const PartReading& part) const {
  return SelectFrom(part, fills_ ? kFillTable : kCopyTable, kCopyOwn, others_);
}

void CopyRows::Write(const SqliteStatement& row, PartReading& part, EventJson& out) {
  std::string name = fills_ ? "Memset" : "Memcpy";
  if (fills_) {
    const std::string_view kind = MemoryKind(IntIn(row, kMemKind));
    if (!kind.empty()) name += " (" + std::string(kind) + ")";
  } else {
    const std::string_view direction = CopyKind(IntIn(row, kCopyKind));
    if (!direction.empty()) name += " " + std::string(direction);
    const std::string_view from = MemoryKind(IntIn(row, kSrcKind));
    const std::string_view to = MemoryKind(IntIn(row, kDstKind));
    if (!from.empty() && !to.empty()) {
      name += " (" + std::string(from) + " -> " + std::string(to) + ")";
    }
  }
  const char* const table = fills_ ? kFillTable : kCopyTable;
  if (!WritePlace(row, table, part, fills_ ? "gpu_memset" : "gpu_memcpy", name, out)) return;
  out.Arg("bytes", IntIn(row, kBytes));
  out.Arg("copyKind", IntIn(row, kCopyKind));
  out.Arg("srcKind", IntIn(row, kSrcKind));
  out.Arg("dstKind", IntIn(row, kDstKind));
  out.Arg("memKind", IntIn(row, kMemKind));
  others_.Write(row, kCopyOthers, out);
  out.End();
}

GraphRows::GraphRows(const ExportTables& tables, bool has_kernels)
    : has_kernels_(has_kernels), others_(tables, kGraphTable, kPlaceColumns, kGraphOwn) {}

std::string GraphRows::Sql(const PartReading& part) const {
  return SelectFrom(part, kGraphTable, kGraphOwn, others_);
}

void GraphRows::Write(const SqliteStatement& row, PartReading& part, EventJson& out) {
  const auto graph = IntIn(row, kGraph);
  const std::string name =
      graph.has_value() ? "CUDA graph " + std::to_string(*graph) : std::string("CUDA graph");
  const char* const category = has_kernels_ ? "gpu_user_annotation" : "kernel";
  if (!WritePlace(row, kGraphTable, part, category, name, out)) return;
  out.Arg("graphId", graph);
  out.Arg("graphExecId", IntIn(row, kGraphExec));
  others_.Write(row, kGraphOthers, out);
  out.End();
}

}  // namespace tracedb
