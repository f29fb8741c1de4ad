// Of collectives alone: the moments that a rank's own work leads to or goes on from, and which of
// two ranks' are alike (MODEL.md, "Collectives alone").
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "replay/graph/replay_graph.h"
#include "replay/peers/activity_names.h"

namespace tracedb {

// Those of two ranks are alike that have the same key and number, of as many in the step; ends of
// waits are numbered from the step's last.
struct OwnMoment {
  int64_t step;
  int64_t key;
  uint32_t count;
  uint32_t number;
  uint32_t trace;
  uint32_t node;  // a part's start, the end of a wait, the begin or the end of a step
};

class OwnMoments {
 public:
  OwnMoments(const ReplayGraph& graph, const ActivityNames& names);

  // Groups of those that are alike, each by trace.
  uint32_t group_count() const { return static_cast<uint32_t>(groups_.size() - 1); }
  std::span<const OwnMoment> Group(uint32_t group) const {
    return std::span(moments_).subspan(groups_[group], groups_[group + 1] - groups_[group]);
  }
  // kNone: the node is no such moment.
  uint32_t GroupOf(uint32_t node) const { return group_of_[node]; }
  // The moment's node of a trace in a group; kNone: it has none.
  uint32_t NodeIn(uint32_t group, uint32_t trace) const;
  uint32_t StartOf(uint32_t activity) const { return start_of_[activity]; }
  // When a GPU was done with a step; kNone: not known.
  uint32_t StepsEnd(uint32_t trace, int64_t step) const;

 private:
  void Find(const ReplayGraph& graph, const ActivityNames& names);
  void Number();

  std::vector<OwnMoment> moments_;
  std::vector<uint32_t> groups_;    // the first moment of those that are alike; the end
  std::vector<uint32_t> group_of_;  // by node
  std::vector<uint32_t> start_of_;  // nodes, by activity
  std::map<std::pair<uint32_t, int64_t>, uint32_t> steps_end_;  // nodes, by trace and step
};

}  // namespace tracedb
