// Work of a GPU in an export: kernels, copies, fills, whole graphs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sources/nsys/nccl_calls.h"
#include "sources/nsys/part_reading.h"

namespace tracedb {

inline constexpr const char* kKernelTable = "CUPTI_ACTIVITY_KIND_KERNEL";
inline constexpr const char* kCopyTable = "CUPTI_ACTIVITY_KIND_MEMCPY";
inline constexpr const char* kFillTable = "CUPTI_ACTIVITY_KIND_MEMSET";
inline constexpr const char* kGraphTable = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
inline constexpr const char* kGpuTables[] = {kKernelTable, kCopyTable, kFillTable, kGraphTable};

class KernelRows final : public TableRows {
 public:
  KernelRows(const ExportTables& tables, NcclCalls calls);
  std::string Sql(const PartReading& part) const override;
  void Write(const SqliteStatement& row, PartReading& part, EventJson& out) override;

 private:
  OtherColumns others_;
  NcclCalls calls_;
};

// Copies, and fills, which are copies of one value.
class CopyRows final : public TableRows {
 public:
  CopyRows(const ExportTables& tables, bool fills);
  std::string Sql(const PartReading& part) const override;
  void Write(const SqliteStatement& row, PartReading& part, EventJson& out) override;

 private:
  bool fills_;
  OtherColumns others_;
};

// Replays of graphs whose kernels were not recorded. Where they were, the replay is told of beside
// them.
class GraphRows final : public TableRows {
 public:
  GraphRows(const ExportTables& tables, bool has_kernels);
  std::string Sql(const PartReading& part) const override;
  void Write(const SqliteStatement& row, PartReading& part, EventJson& out) override;

 private:
  bool has_kernels_;
  OtherColumns others_;
};

}  // namespace tracedb
