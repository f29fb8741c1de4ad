// In which steps a rank may have lost the time by which it came late for a collective.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "replay/graph/job_rows.h"

namespace tracedb {

class LateSteps {
 public:
  explicit LateSteps(const JobRows& rows) : rows_(rows) {}

  // The step of this part, and those before it in which its collective's ranks had not been
  // together: MODEL.md, "lateness of ranks".
  std::vector<int64_t> Of(uint32_t part, int64_t step);

  // What a rank does after its last collective of a step makes it late for its first of a later
  // one: the step before `first_step` (by number), if the part is the first of its rank in its own.
  std::optional<int64_t> EndedLate(uint32_t part, int64_t first_step);
  // When all had come to the last collective of a step that this trace has a part in.
  std::optional<int64_t> LastMet(uint32_t trace, int64_t step);

 private:
  // A rank that has a part in a step. The root is the same for those that met in it, and one of
  // them; who has no part met nobody.
  struct Met {
    uint32_t place, root;  // among all ranks
  };
  using MetInStep = std::vector<Met>;  // by place
  struct Parts {
    int64_t first_start_ns, last_met_ns;
  };

  void Connect();
  void FindParts();
  bool AreConnected(const Collective& collective, const MetInStep& met) const;
  static uint32_t RootOf(const MetInStep& met, uint32_t place);
  uint32_t PlaceOf(uint32_t part) const { return places_[rows_.TraceOf(rows_.activities[part])]; }

  const JobRows& rows_;
  std::vector<uint32_t> places_;  // of the traces' ranks, among all ranks
  // By step, in its order. All together are no more than the parts and steps of the rows, whose
  // number has a limit: a number for each step and rank would have none.
  std::map<int64_t, MetInStep> met_;
  std::map<std::pair<uint32_t, int64_t>, Parts> parts_;  // by trace and step
};

}  // namespace tracedb
