// The names of a job's GPU activities, as numbers that are the same on all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/graph/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class ActivityNames {
 public:
  // Each trace has ids of its own for its names: they are told apart by their texts.
  static Result<ActivityNames> Read(SqliteDb& db, const JobRows& rows);

  // From 1.
  int64_t Of(const Activity& activity) const { return numbers_[activity.name_place]; }

 private:
  std::vector<int64_t> numbers_;  // by the place in JobRows::name_ids
};

}  // namespace tracedb
