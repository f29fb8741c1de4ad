// Takes traces out of a database: all of their rows or, on an error, none. Their files are left
// alone.
//
// An expired file is one whose trace was taken out as it was old: the database keeps its hash and
// size, so that who looks at the same folder later does not load it again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"

namespace tracedb {

// Within the transaction that is open. Runs and captures are decided by the caller.
Status TakeOutTraces(SqliteDb& db, const std::vector<int64_t>& trace_ids);

enum class RemovalReason { kReplaced, kExpired };

// Waits for an ingest into the same database. Numbers without a trace are passed over.
Status RemoveTraces(const std::filesystem::path& database, const std::vector<int64_t>& trace_ids,
                    RemovalReason reason, const LoadOptions& options);

// A file whose trace is in the database, or was and has expired.
struct KnownFile {
  std::string file_hash;  // XXH3-128, as HashFile() has it; of a part of an export its mark follows
  int64_t file_bytes = 0;
  bool is_expired = false;
};

// None where the database is not there; an error where there is something else.
Result<std::vector<KnownFile>> ReadKnownFiles(const std::filesystem::path& database,
                                              const LoadOptions& options);

}  // namespace tracedb
