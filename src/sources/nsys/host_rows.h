// What an export says of the host: calls of the CUDA runtime and driver, and waits.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "sources/nsys/part_reading.h"

namespace tracedb {

inline constexpr const char* kCallTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
inline constexpr const char* kSyncTable = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
inline constexpr const char* kEventTable = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";

// A call's name without its version: cudaLaunchKernel_v7000, cudaMemcpyAsync_ptsz.
std::string_view PlainCallName(std::string_view name);

class CallRows final : public TableRows {
 public:
  explicit CallRows(const ExportTables& tables);
  std::string Sql(const PartReading& part) const override;
  void Write(const SqliteStatement& row, PartReading& part, EventJson& out) override;

 private:
  OtherColumns others_;
};

// Waits of the host, and of streams for events.
class SyncRows final : public TableRows {
 public:
  // Reads where events were recorded; `rows_max` as in NsysSource. What does not fit in `bytes_max`
  // is counted, and not told of waits.
  static Result<std::unique_ptr<TableRows>> Make(PartReading& part, uint64_t rows_max,
                                                 size_t bytes_max);
  std::string Sql(const PartReading& part) const override;
  void Write(const SqliteStatement& row, PartReading& part, EventJson& out) override;

 private:
  explicit SyncRows(const ExportTables& tables);
  struct Recorded {
    std::optional<int64_t> stream, correlation;
  };
  std::unordered_map<int64_t, Recorded> recorded_;  // by eventSyncId
  OtherColumns others_;
};

}  // namespace tracedb
