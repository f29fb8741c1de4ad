// Slices of the host, by the threads of a job's graph: how long some of them were open in a
// stretch of time.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "replay/job_rows.h"
#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

class HostSlices {
 public:
  explicit HostSlices(const JobRows& rows) : rows_(rows), slices_(rows.threads.size()) {}

  // Those whose event_name is one of `names`; of a step: those that start in it.
  Status Read(SqliteDb& db, const std::unordered_set<int64_t>& names, std::optional<int64_t> rank,
              std::optional<int64_t> step);
  // Its length; 0: there is none, or on a thread that launches nothing.
  Result<int64_t> ReadOne(SqliteDb& db, int64_t slice_id);
  // All the time of all threads, or of those of a rank, or in a step.
  void AddAll(std::optional<int64_t> rank, std::optional<int64_t> step);

  // After the last of these and before the first Within.
  void Merge();
  // Time of `range` in which one is open on either thread; kNone is no thread.
  int64_t Within(uint32_t thread, uint32_t other, Interval range) const;

 private:
  void Add(uint32_t thread, const RankClock& clock, int64_t start_ns, int64_t dur_ns,
           uint32_t trace, std::optional<int64_t> step);
  bool IsInStep(uint32_t trace, int64_t at_ns, int64_t step) const;

  const JobRows& rows_;
  std::vector<std::vector<Interval>> slices_;  // by thread
};

}  // namespace tracedb
