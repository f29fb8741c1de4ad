// Samples of GPU counters, and tables of an export that have a time and no reader of their own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sources/nsys/part_reading.h"

namespace tracedb {

inline constexpr const char* kMetricTable = "GPU_METRICS";

// Samples of a GPU's counters.
class MetricRows final : public TableRows {
 public:
  static Result<std::unique_ptr<TableRows>> Make(PartReading& part, uint64_t rows_max);
  std::string Sql(const PartReading& part) const override;
  void Write(const SqliteStatement& row, PartReading& part, EventJson& out) override;

 private:
  struct Metric {
    int64_t type = 0;
    int64_t metric = 0;
    std::string name;  // the inside of a JSON string
  };
  const Metric* Find(std::optional<int64_t> type, std::optional<int64_t> metric) const;
  std::vector<Metric> metrics_;
};

// A table with a start, or a time, of which no more is known: cuDNN, cuBLAS, MPI, overheads of the
// profiler, diagnostics...
class OtherRows final : public TableRows {
 public:
  OtherRows(const ExportTables& tables, std::string table);
  // Whether it is a table of events.
  static bool Reads(const ExportTables& tables, const std::string& table);
  std::string Sql(const PartReading& part) const override;
  void Write(const SqliteStatement& row, PartReading& part, EventJson& out) override;

 private:
  std::string table_;
  std::string category_;
  std::string time_;  // the column
  bool is_slice_;     // it has an end
  OtherColumns others_;
};

}  // namespace tracedb
