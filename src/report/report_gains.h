// What each recommended change would gain in each step, by replay.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/query_rows.h"
#include "report/shown_run.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

using FactRows = std::vector<std::vector<RowValue>>;         // of one query
using StepKey = std::pair<int64_t, std::optional<int64_t>>;  // capture, step

struct Gains {
  std::map<int64_t, std::map<StepKey, double>> step_ms;  // by the change's number; 0: as recorded
};

// One of a step by one change.
struct Gain {
  int64_t number = 0;
  StepKey key;
  double before_ms = 0;
  double after_ms = 0;

  double ms() const { return before_ms - after_ms; }
};

// Columns of recommendations.
constexpr size_t kNumber = 1, kProblem = 2, kRank = 3, kWhatIf = 10;

Result<Gains> ReadGains(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                        const FactRows& recommendations);

std::vector<Gain> AllGains(const Gains& gains);

// [{"number","capture","step","before_ms","after_ms"},...]
std::string GainsAsJson(const std::vector<Gain>& gains);

}  // namespace tracedb
