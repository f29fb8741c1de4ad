// Rows of busy_segment, device_use and stream_use through SQLite.
#pragma once

#include <string_view>
#include <vector>

#include "derive/busy/busy_use.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class BusyTables {
 public:
  static Result<BusyTables> Create(SqliteDb& db, int64_t trace_id);

  Status Segments(std::string_view device, const std::vector<BusySegment>& segments);
  Status Device(std::string_view device, const DeviceUse& use);
  Status Stream(std::string_view device, std::string_view stream, const StreamUse& use);

 private:
  BusyTables(int64_t trace_id, SqliteStatement segment, SqliteStatement device,
             SqliteStatement stream);

  int64_t trace_id_;
  SqliteStatement segment_;
  SqliteStatement device_;
  SqliteStatement stream_;
};

}  // namespace tracedb
