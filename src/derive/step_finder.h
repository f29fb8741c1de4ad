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
  std::optional<int64_t> At(int64_t ts_ns) {
    if (ts_ns < from_ns_ || ts_ns >= to_ns_) Search(ts_ns);
    return step_;
  }

 private:
  void Search(int64_t ts_ns);

  struct Span {
    int64_t start_ns;
    int64_t end_ns;
    int64_t step;
    int64_t end_max_ns;  // of this one and all before it
  };
  std::vector<Span> spans_;  // by start
  // The last answer, which holds from the first to before the second: slices come in order.
  std::optional<int64_t> step_;
  int64_t from_ns_ = 0;
  int64_t to_ns_ = 0;
};

}  // namespace tracedb
