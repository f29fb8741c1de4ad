// Names of processes and threads, as the metadata events of a trace. They come before its other
// events, and one at a time: there may be as many threads as there are events.
#pragma once

#include <string>

#include "sources/nsys/part_reading.h"

namespace tracedb {

class ProcessNameRows final : public TableRows {
 public:
  static constexpr const char* kTable = "PROCESSES";
  static bool Reads(const ExportTables& tables);
  std::string Sql(const PartReading& part) const override;
  void Write(const SqliteStatement& row, PartReading& part, EventJson& out) override;
};

class ThreadNameRows final : public TableRows {
 public:
  static constexpr const char* kTable = "ThreadNames";
  static bool Reads(const ExportTables& tables);
  std::string Sql(const PartReading& part) const override;
  void Write(const SqliteStatement& row, PartReading& part, EventJson& out) override;
};

}  // namespace tracedb
