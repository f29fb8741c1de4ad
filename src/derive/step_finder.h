// Which profiler step an instant lies in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class StepFinder {
 public:
  // Reads the table step of a database that holds one trace; times are its ts + `base_ns`.
  static Result<StepFinder> Read(SqliteDb& db, int64_t base_ns);

  // The step in which `ts_ns` lies, its end excluded; of several the one that began last.
  std::optional<int64_t> At(int64_t ts_ns) const;

 private:
  struct Span {
    int64_t start_ns;
    int64_t end_ns;
    int64_t step;
    int64_t end_max_ns;  // of this one and all before it
  };
  std::vector<Span> spans_;  // by start
};

}  // namespace tracedb
