// In which steps a rank may have lost the time by which it came late for a collective.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "replay/graph/job_rows.h"

namespace tracedb {

class LateSteps {
 public:
  explicit LateSteps(const JobRows& rows) : rows_(rows) {}

  // The step of this part, and those before it in which its collective's ranks had not been
  // together: MODEL.md, "lateness of ranks".
  std::vector<int64_t> Of(uint32_t part, int64_t step);

 private:
  void Connect();
  bool AreConnected(const Collective& collective, const std::vector<uint32_t>& roots) const;
  uint32_t PlaceOf(uint32_t part) const { return places_[rows_.activities[part].trace]; }

  const JobRows& rows_;
  std::vector<uint32_t> places_;  // of the traces' ranks, among all ranks
  // By step, in its order: a number for each rank, the same for those that met in it.
  std::map<int64_t, std::vector<uint32_t>> roots_;
};

}  // namespace tracedb
