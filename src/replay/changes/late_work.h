// By how much the GPU of a rank had more to do in a step than those of its peers.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "replay/changes/late_slices.h"
#include "replay/graph/job_rows.h"
#include "replay/peers/activity_names.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct LatePeers;

// The compute kernels, copies and fills of a job. It is replayed without the lateness of one rank
// after the other: what is alike is found once.
class GpuWork {
 public:
  // The rows must outlive it.
  explicit GpuWork(const JobRows& rows) : rows_(rows) {}

  // Adds those of these ranks in these steps, and in the ends of others, that are longer than their
  // like, and by how much. MODEL.md, "lateness of ranks".
  Status FindLate(SqliteDb& db, const std::set<int64_t>& ranks, const std::set<int64_t>& steps,
                  const StepEnds& ends, std::vector<LateSlice>& found);

 private:
  using Works = std::vector<uint32_t>;  // activities
  // Those of one name in one step, or of one trace among them, in the order of their launches.
  struct Named {
    Works::const_iterator begin, end;
  };
  // Up to the first of the next group.
  struct Group {
    int64_t step;
    uint32_t first;  // in works
  };
  struct Likes {
    Works works;  // by step, name and trace
    std::vector<Group> groups;
  };

  Likes Find(const ActivityNames& names) const;
  Named OfTrace(const Named& named, uint32_t trace) const;
  int64_t LengthNs(uint32_t work) const;
  void Compare(const Named& named, uint32_t trace, const LatePeers& peers, int64_t from_ns,
               std::vector<LateSlice>& found) const;

  const JobRows& rows_;
  std::optional<Likes> likes_;
};

}  // namespace tracedb
