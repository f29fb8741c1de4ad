// What the file execution_details.json beside traces of captures says of them.
//
// A JSON array of objects: "file", the name of a trace in the same folder; "batch_size", of the
// graphs that it captures; "mode", FULL in those that we have. vLLM's and SGLang's profilers of
// captures leave it. Whoever wrote it decides what is in it: anything else in it says nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class CaptureDetails {
 public:
  explicit CaptureDetails(SqliteDb& db) : db_(&db) {}

  // The batch size of all graphs that are captured in a trace; 0: there is no such file, it is more
  // than 1 MiB, it does not name the trace, or gives it several sizes.
  Result<int64_t> BatchOf(const std::filesystem::path& trace);

 private:
  SqliteDb* db_;
  std::optional<SqliteStatement> find_;
  std::filesystem::path last_;  // a file has many captures, one after the other
  int64_t last_batch_ = 0;
};

}  // namespace tracedb
