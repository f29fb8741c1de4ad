// Slices of the host, by the threads of a job's graph: how long some of them were open in a
// stretch of time.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "replay/graph/host_owners.h"
#include "replay/graph/job_rows.h"
#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

class ShortenedSlices {
 public:
  explicit ShortenedSlices(const JobRows& rows) : rows_(rows), slices_(rows.threads.size()) {}

  // Those whose event_name is one of `names`; of a step: those that start in it. `share` of their
  // time is what Saved counts.
  Status Read(SqliteDb& db, const std::unordered_set<int64_t>& names, std::optional<int64_t> rank,
              std::optional<int64_t> step, double share);
  // Only the stretches in which one of these is the innermost long slice (host_owners.h).
  Status ReadHeld(SqliteDb& db, HostOwners& owners, const std::unordered_set<int64_t>& names,
                  std::optional<int64_t> rank, std::optional<int64_t> step, double share);
  // One, of which so much is to be saved. Not on a thread that launches nothing.
  Status ReadOne(SqliteDb& db, int64_t slice_id, int64_t save_ns);
  // All the time of all threads, or of those of a rank, or in a step.
  void AddAll(std::optional<int64_t> rank, std::optional<int64_t> step, double share);

  // After the last of these and before the first Saved: what overlaps becomes one, where all have
  // one share.
  void Merge();
  // Slices were named, and all are on threads that launch nothing: nobody waits for them.
  bool are_all_elsewhere() const { return on_threads_ == 0 && elsewhere_ > 0; }

  // Of `range`, by the slices that are open on either thread; kNone is no thread.
  double Saved(uint32_t thread, uint32_t other, Interval range) const;

 private:
  struct Part {
    Interval range;
    double share;
  };
  void Add(uint32_t thread, const RankClock& clock, int64_t start_ns, int64_t dur_ns,
           uint32_t trace, std::optional<int64_t> step, double share);
  bool IsInStep(uint32_t trace, int64_t at_ns, int64_t step);
  std::vector<uint32_t> TracesOfThreads() const;  // kNone: of a thread without calls
  double SavedOn(uint32_t thread, Interval range) const;

  const JobRows& rows_;
  std::vector<std::vector<Part>> slices_;                         // by thread; in order once merged
  std::vector<std::vector<std::pair<int64_t, Interval>>> steps_;  // by trace, by number; once asked
  size_t on_threads_ = 0, elsewhere_ = 0;                         // slices that were named
  bool is_one_by_one_ = false;  // slices of ReadOne may be within others
};

}  // namespace tracedb
