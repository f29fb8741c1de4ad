#include "replay/replay_steps.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tracedb {
namespace {

PieceKind KindOf(const ReplayGraph& graph, uint32_t edge, uint32_t node) {
  switch (graph.kind(edge)) {
    case EdgeKind::kHost:
    case EdgeKind::kHandover:
      return PieceKind::kHost;
    case EdgeKind::kRecorder:
      return PieceKind::kRecorder;
    case EdgeKind::kLaunch:
      return PieceKind::kLaunch;
    case EdgeKind::kRun:
      switch (graph.rows().activities[graph.nodes()[node].owner].kind) {
        case GpuKind::kCompute:
          return PieceKind::kCompute;
        case GpuKind::kCommunication:
          return PieceKind::kCommunication;
        case GpuKind::kMemory:
          return PieceKind::kMemory;
        case GpuKind::kWaiting:
          break;
      }
      return PieceKind::kWaiting;
    case EdgeKind::kTransfer:
      return PieceKind::kTransfer;
    case EdgeKind::kOwn:
    case EdgeKind::kOwnMeanwhile:
    case EdgeKind::kOwnOfStep:
      return PieceKind::kOwn;
    default:
      return PieceKind::kGap;
  }
}

class PathWalk {
 public:
  PathWalk(const ReplayGraph& graph, const EdgeTimes& weights, const std::vector<int64_t>& times)
      : graph_(graph), weights_(weights), times_(times) {}

  // From `node` back to `start_ns`; pieces come latest first.
  void Walk(uint32_t node, const ReplayedStep& step, std::vector<PathPiece>& pieces) {
    step_ = step;
    goes_on_ = kNone;
    while (times_[node] > step.start_ns) {
      const uint32_t edge = graph_.BindingEdge(node, weights_, times_);
      if (edge == kNone) {
        Add(step.start_ns, times_[node], PieceKind::kUnrecorded, node, pieces);
        return;
      }
      const int64_t from_ns = times_[graph_.from(edge)];
      Add(SumNs(from_ns, weights_[edge]), times_[node], PieceKind::kLag, node, pieces);
      const size_t before = pieces.size();
      Add(from_ns, SumNs(from_ns, weights_[edge]), KindOf(graph_, edge, node), node, pieces);
      if (pieces.size() > before) {
        pieces.back().is_changed = weights_[edge] != graph_.weights()[edge];
        pieces.back().moved_ns = DifferenceNs(from_ns, graph_.nodes()[graph_.from(edge)].at_ns);
      }
      if (graph_.IsOfHost(node) && !IsHold(node)) goes_on_ = node;
      node = graph_.from(edge);
    }
  }

 private:
  bool IsHold(uint32_t node) const {
    const NodeKind kind = graph_.nodes()[node].kind;
    return kind == NodeKind::kHoldBegin || kind == NodeKind::kHoldEnd;
  }

  void Add(int64_t start_ns, int64_t end_ns, PieceKind kind, uint32_t node,
           std::vector<PathPiece>& pieces) const {
    PathPiece piece;
    piece.step = step_.step;
    piece.start_ns = std::max(start_ns, step_.start_ns);
    piece.end_ns = end_ns;
    if (piece.start_ns >= piece.end_ns) return;
    piece.kind = kind;
    const JobRows& rows = graph_.rows();
    const JobTrace& trace = rows.traces[graph_.TraceOf(node)];
    piece.trace_id = trace.trace_id;
    piece.rank = trace.rank;
    // Of a gathered database what a host's work leads to says nothing of the work.
    const bool is_own = kind == PieceKind::kHost || kind == PieceKind::kOwn;
    if (!rows.is_of_summaries || !is_own) NameSlice(node, piece);
    pieces.push_back(piece);
  }

  void NameSlice(uint32_t node, PathPiece& piece) const {
    const JobRows& rows = graph_.rows();
    const Node& here = graph_.nodes()[node];
    const uint32_t thread = graph_.ThreadOf(node);
    if (thread != kNone) {
      // What the recorder cut in two leads to what the thread goes on with.
      const bool is_cut = here.kind == NodeKind::kHoldBegin && goes_on_ != kNone;
      const Call& call = rows.calls[is_cut ? graph_.nodes()[goes_on_].owner : here.owner];
      piece.slice_id = call.slice_id;
      piece.track_id = rows.threads[thread].track_id;
      const uint32_t launched = call.last_activity;
      if (launched != kNone) piece.launch_of = rows.activities[launched].slice_id;
    } else if (here.kind == NodeKind::kMeet) {
      piece.slice_id =
          rows.activities[rows.parts[rows.collectives[here.owner].first_part]].slice_id;
    } else {
      piece.slice_id = rows.activities[here.owner].slice_id;
    }
  }

  const ReplayGraph& graph_;
  const EdgeTimes& weights_;
  const std::vector<int64_t>& times_;
  ReplayedStep step_;
  uint32_t goes_on_ = kNone;  // the node of a host that was walked over last
};

// Ranks start their profilers at different moments: the first step begins with the last of them.
int64_t FirstStart(const StepBounds& first) {
  const bool is_known = first.begin_ns != std::numeric_limits<int64_t>::min();
  return is_known ? std::min(first.begin_ns, first.end_ns) : first.end_ns;
}

std::vector<ReplayedStep> StepsIn(const std::vector<StepBounds>& bounds) {
  std::vector<ReplayedStep> steps;
  for (const StepBounds& here : bounds) {
    ReplayedStep next;
    if (here.step != kNoStep) next.step = here.step;
    next.start_ns = steps.empty() ? FirstStart(here) : steps.back().end_ns;
    next.end_ns = std::max(next.start_ns, here.end_ns);
    steps.push_back(next);
  }
  return steps;
}

}  // namespace

StepNodes::StepNodes(const ReplayGraph& graph) {
  constexpr uint32_t kStepBits = (uint32_t{1} << 31) - 1;
  const JobRows& rows = graph.rows();
  std::map<int64_t, uint32_t> numbers;  // of steps that anything ends, in their order
  size_t marks = 0;
  const auto step_of = [&](const Node& node) {
    if (node.kind == NodeKind::kFinish) return rows.StepOf(rows.activities[node.owner]);
    const bool is_step = node.kind == NodeKind::kStepBegin || node.kind == NodeKind::kStepEnd;
    return is_step ? rows.StepOfCall(node.owner) : kNoStep;
  };
  for (const Node& node : graph.nodes()) {
    if (step_of(node) == kNoStep) continue;
    ++marks;
    if (node.kind != NodeKind::kStepBegin) numbers[step_of(node)] = 0;
  }
  marks_.reserve(marks);
  for (auto& [step, number] : numbers) {
    number = static_cast<uint32_t>(steps_.size());
    steps_.push_back(step);
  }
  for (uint32_t node = 0; node < graph.nodes().size(); ++node) {
    const auto number = numbers.find(step_of(graph.nodes()[node]));
    if (number == numbers.end()) continue;
    Mark& mark = marks_.emplace_back();
    mark.node = node;
    mark.step = number->second & kStepBits;
    mark.is_begin = graph.nodes()[node].kind == NodeKind::kStepBegin ? 1 : 0;
  }
}

std::vector<std::vector<StepBounds>> StepNodes::BoundsOfLanes(const std::vector<int64_t>& times,
                                                              size_t lanes) const {
  const bool is_one = steps_.empty() && !times.empty();
  const size_t steps = is_one ? 1 : steps_.size();
  std::vector<StepBounds> bounds(steps * lanes);  // those of a step side by side
  const auto see = [&](uint32_t node, size_t step, bool is_begin, bool is_end) {
    for (size_t lane = 0; lane < lanes; ++lane) {
      const int64_t at_ns = times[node * lanes + lane];
      StepBounds& here = bounds[step * lanes + lane];
      if (is_begin)
        here.begin_ns = is_one ? std::min(here.begin_ns, at_ns) : std::max(here.begin_ns, at_ns);
      if (!is_end || (here.last != kNone && at_ns <= here.end_ns)) continue;
      here.end_ns = at_ns;
      here.last = node;
    }
  };
  if (is_one) {
    for (StepBounds& here : bounds) here.begin_ns = std::numeric_limits<int64_t>::max();
    for (uint32_t node = 0; node < times.size() / lanes; ++node) see(node, 0, true, true);
  }
  for (const Mark& mark : marks_) see(mark.node, mark.step, mark.is_begin != 0, mark.is_begin == 0);
  std::vector<std::vector<StepBounds>> of_lanes(lanes);
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (!is_one) bounds[i].step = steps_[i / lanes];
    of_lanes[i % lanes].push_back(bounds[i]);
  }
  return of_lanes;
}

std::vector<StepBounds> StepNodes::Bounds(const std::vector<int64_t>& times) const {
  return std::move(BoundsOfLanes(times, 1).front());
}

std::vector<ReplayedStep> StepNodes::Steps(const std::vector<int64_t>& times) const {
  return StepsIn(Bounds(times));
}

std::vector<std::vector<ReplayedStep>> StepNodes::StepsOfLanes(const std::vector<int64_t>& times,
                                                               size_t lanes) const {
  std::vector<std::vector<ReplayedStep>> steps;
  for (const auto& bounds : BoundsOfLanes(times, lanes)) steps.push_back(StepsIn(bounds));
  return steps;
}

struct StepPaths::Ends {
  std::vector<ReplayedStep> steps;
  std::vector<uint32_t> last;  // the node that ends each; kNone: it has no time of its own
};

StepPaths::StepPaths(const ReplayGraph& graph, const StepNodes& steps, EdgeTimes weights,
                     std::vector<int64_t> times)
    : graph_(graph),
      weights_(std::move(weights)),
      times_(std::move(times)),
      ends_(std::make_unique<Ends>()) {
  const std::vector<StepBounds> bounds = steps.Bounds(times_);
  ends_->steps = StepsIn(bounds);
  for (const StepBounds& here : bounds) {
    const ReplayedStep& lasts = ends_->steps[ends_->last.size()];
    ends_->last.push_back(here.end_ns == lasts.end_ns ? here.last : kNone);
  }
}
StepPaths::~StepPaths() = default;

bool StepPaths::Next(std::vector<PathPiece>& pieces) {
  pieces.clear();
  if (next_ == ends_->steps.size()) return false;
  const size_t step = next_++;
  if (ends_->last[step] == kNone) return true;
  PathWalk(graph_, weights_, times_).Walk(ends_->last[step], ends_->steps[step], pieces);
  std::reverse(pieces.begin(), pieces.end());
  return true;
}

}  // namespace tracedb
