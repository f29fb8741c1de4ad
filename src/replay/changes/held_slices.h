// The long slices of one name on a rank's host, by the step in which they start.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/graph/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct HeldSlice {
  int64_t slice_id;
  int64_t dur_ns;
};

class HeldSlices {
 public:
  explicit HeldSlices(const JobRows& rows) : rows_(rows) {}

  // Of those of at least kLongSliceNs in the step, of two the one with the lower number; nothing
  // where there is none, and outside of steps.
  Result<std::optional<HeldSlice>> Longest(SqliteDb& db, uint32_t trace, const std::string& name,
                                           int64_t step);

 private:
  using Steps = std::map<int64_t, HeldSlice>;  // the longest of each step
  Result<Steps> Read(SqliteDb& db, uint32_t trace, const std::string& name) const;

  const JobRows& rows_;
  std::map<std::pair<uint32_t, std::string>, Steps> known_;
};

}  // namespace tracedb
