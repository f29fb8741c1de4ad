// Of collectives alone: when a rank's GPU had done its own work, and waited in a part of a
// collective (MODEL.md, "Collectives alone").
#pragma once

#include <cstdint>
#include <vector>

#include "replay/graph/replay_graph.h"
#include "tracedb/base/interval.h"

namespace tracedb {

class OwnWaits {
 public:
  explicit OwnWaits(const ReplayGraph& graph);

  // From one time to a later one but for what was waited between; negative where it is not later.
  int64_t OwnNs(uint32_t trace, Interval time) const;

 private:
  struct Wait {
    Interval time;
    int64_t before_ns;  // of all that end before it begins
  };
  int64_t WaitedUntil(uint32_t trace, int64_t until_ns) const;

  std::vector<std::vector<Wait>> waits_;  // by trace, in order, apart from each other
};

}  // namespace tracedb
