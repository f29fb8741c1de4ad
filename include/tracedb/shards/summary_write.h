// A rank's database -> its summary in a folder that all ranks share:
//
//   OUT/run=NAME/rank=N/trace.parquet, step.parquet ... manifest.json
//
// It is made in a hidden folder beside and takes the place of an older one in one step: whoever is
// killed leaves the one from before, or none.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct SummaryPlace {
  std::filesystem::path folder;  // OUT
  std::string host;              // where the database is, and its absolute path there
  std::string database;
  std::optional<int64_t> world_size;  // where no trace says it
};

struct WrittenSummary {
  std::string run;
  int64_t rank = 0;
  std::filesystem::path folder;
  int64_t bytes = 0;
  int64_t text_bytes = 0;  // of JSON
};

// One for each run and rank that these traces are of, with all the traces that the database has of
// it.
Result<std::vector<WrittenSummary>> WriteSummaries(SqliteDb& db,
                                                   const std::vector<int64_t>& trace_ids,
                                                   const SummaryPlace& place,
                                                   const std::atomic<bool>& stop);

// NAME of a folder COLUMN=NAME as Hive and Spark write it, and back; nothing where it is none.
std::string HiveName(std::string_view name);
std::optional<std::string> FromHiveName(std::string_view folder, std::string_view column);

}  // namespace tracedb
