#include "replay/changes/own_moments.h"

#include <algorithm>
#include <tuple>

#include "replay/graph/host_steps.h"

namespace tracedb {
namespace {

// Keys of moments that are no part's; those of parts are their names'.
constexpr int64_t kStepsEnd = -1;
constexpr int64_t kWaitsEnd = -2;
constexpr int64_t kStepsBegin = -3;

auto KindOf(const OwnMoment& m) { return std::tie(m.step, m.key, m.count, m.number); }

}  // namespace

OwnMoments::OwnMoments(const ReplayGraph& graph, const ActivityNames& names) {
  Find(graph, names);
  Number();
  for (uint32_t i = 0; i < moments_.size(); ++i) {
    const bool is_next = i == 0 || KindOf(moments_[i]) != KindOf(moments_[i - 1]);
    if (is_next) groups_.push_back(i);
    group_of_[moments_[i].node] = static_cast<uint32_t>(groups_.size() - 1);
  }
  groups_.push_back(static_cast<uint32_t>(moments_.size()));
}

void OwnMoments::Find(const ReplayGraph& graph, const ActivityNames& names) {
  const JobRows& rows = graph.rows();
  CurrentSteps current(graph);
  group_of_.assign(graph.nodes().size(), kNone);
  start_of_.assign(rows.activities.size(), kNone);
  for (uint32_t node = 0; node < graph.nodes().size(); ++node) {
    const Node& here = graph.nodes()[node];
    const int64_t step = graph.IsOfHost(node) ? current.At(node) : kNoStep;
    if (here.kind == NodeKind::kStart) {
      const Activity& activity = rows.activities[here.owner];
      start_of_[here.owner] = node;
      const bool is_part = activity.kind == GpuKind::kCommunication;
      const int64_t key = is_part ? names.Of(activity) : kStepsEnd;
      moments_.push_back({rows.StepOf(activity), key, 0, 0, rows.TraceOf(activity), node});
      if (!is_part) steps_end_[{rows.TraceOf(activity), rows.StepOf(activity)}] = node;
    } else if (here.kind == NodeKind::kEnd) {
      moments_.push_back({step, kWaitsEnd, 0, 0, graph.TraceOf(node), node});
    } else if (here.kind == NodeKind::kStepBegin) {
      moments_.push_back({step, kStepsBegin, 0, 0, graph.TraceOf(node), node});
    }
  }
}

void OwnMoments::Number() {
  std::sort(moments_.begin(), moments_.end(), [](const OwnMoment& a, const OwnMoment& b) {
    return std::tie(a.trace, a.step, a.key, a.node) < std::tie(b.trace, b.step, b.key, b.node);
  });
  for (size_t first = 0; first < moments_.size();) {
    size_t last = first;
    const auto of = [](const OwnMoment& m) { return std::tie(m.trace, m.step, m.key); };
    while (last < moments_.size() && of(moments_[last]) == of(moments_[first])) ++last;
    // Which waits are long enough to be there differs by who is late: they count from the last.
    const bool is_wait = moments_[first].key == kWaitsEnd;
    for (size_t i = first; i < last; ++i) {
      moments_[i].number = static_cast<uint32_t>(is_wait ? last - 1 - i : i - first);
      moments_[i].count = is_wait ? 0 : static_cast<uint32_t>(last - first);
    }
    first = last;
  }
  std::sort(moments_.begin(), moments_.end(), [](const OwnMoment& a, const OwnMoment& b) {
    return std::tuple_cat(KindOf(a), std::tie(a.trace)) <
           std::tuple_cat(KindOf(b), std::tie(b.trace));
  });
}

uint32_t OwnMoments::NodeIn(uint32_t group, uint32_t trace) const {
  const std::span<const OwnMoment> alike = Group(group);
  const auto found = std::ranges::lower_bound(alike, trace, {}, &OwnMoment::trace);
  return found != alike.end() && found->trace == trace ? found->node : kNone;
}

uint32_t OwnMoments::StepsEnd(uint32_t trace, int64_t step) const {
  const auto found = steps_end_.find({trace, step});
  return found == steps_end_.end() ? kNone : found->second;
}

}  // namespace tracedb
