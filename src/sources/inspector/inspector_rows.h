// The rows that records of NCCL Inspector become.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sources/inspector/inspector_record.h"
#include "sources/read/source_names.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class InspectorRows {
 public:
  explicit InspectorRows(SourceRows& rows) : rows_(rows) {}
  Status Begin();
  Status Add(const InspectorRecord& record);
  // Says whose file it is.
  Status Finish();
  SourceIssues& issues() { return rows_.issues; }

 private:
  Result<int64_t> Communicator(const InspectorRecord& record);
  Result<int64_t> Operation(const InspectorRecord& record);
  Status AddDump(const InspectorRecord& record, int64_t communicator);

  SourceRows& rows_;
  std::optional<SqliteStatement> insert_, insert_communicator_, insert_operation_, insert_dump_;
  SourceNames communicators_, operations_;
  std::string key_;
  bool has_times_ = false;
};

}  // namespace tracedb
