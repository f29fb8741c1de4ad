// Compares runs: reads what they hold, and judges it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/compare/comparison.h"
#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

struct RunToCompare {
  std::string name;  // as it was given, for people
  std::string run;   // in the database's runs
  std::filesystem::path database;
  size_t runs_beside = 0;  // further ones in it
  std::function<Result<SqliteDb>()> open;
};

struct CompareOptions {
  double effect_min = 0.01;     // a smaller change of the step, or of a part, is the same
  std::vector<RunUsed> spread;  // further runs that are alike, as `tracedb baseline` keeps them
  bool with_path = false;       // rows of the critical path, for which each run is replayed
  bool with_lanes = false;      // RunUsed::lanes, of the first run of each side, and RunUsed::log
};

// One database is open at a time. Runs that are not comparable are compared all the same, and
// every verdict is that it cannot be told.
Result<Comparison> CompareRuns(const std::vector<RunToCompare>& base,
                               const std::vector<RunToCompare>& now, const QueryCatalog& catalog,
                               const CompareOptions& options);

// An error where two of the runs have a recording in common: what a run differs from itself by
// says nothing of noise.
Status CheckApart(const std::vector<RunUsed>& runs);

// What a comparison takes of each run, in their order.
Result<std::vector<RunUsed>> MeasureRuns(const std::vector<RunToCompare>& runs,
                                         const QueryCatalog& catalog,
                                         const CompareOptions& options);

}  // namespace tracedb
