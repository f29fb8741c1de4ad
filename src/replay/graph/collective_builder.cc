// Rows of a gathered database become a graph: as graph_builder.cc does it of all rows, but for what
// a part of a collective waited for where nothing recorded says it: its rank's own work, which goes
// on from the last collective that it waited for (MODEL.md, "Collectives alone").
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "replay/graph/node_order.h"
#include "replay/graph/replay_graph.h"
#include "replay/graph/stop_watch.h"
#include "tracedb/base/interval.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

constexpr int64_t kLaunchRestMax = 100'000;  // ns between a launch and a start that it explains
constexpr int64_t kFinishRestMax = 20'000;   // between a finish and a start
constexpr size_t kLookBack = 64;             // steps that the host began last

}  // namespace

class CollectiveBuilder {
 public:
  explicit CollectiveBuilder(ReplayGraph& graph)
      : graph_(graph),
        rows_(graph.rows_),
        start_of_(rows_.activities.size(), kNone),
        finish_of_(rows_.activities.size(), kNone),
        node_of_call_(rows_.calls.size(), kNone),
        meet_of_(rows_.collectives.size(), kNone),
        started_(rows_.stream_traces.size(), kNone),
        ranks_(rows_.traces.size()),
        meanwhile_(rows_.activities.size()),
        is_followed_(rows_.activities.size(), false) {}

  void Build(StopWatch* watch) {
    OrderNodes(rows_, graph_.nodes_);
    FindFollowed();
    for (const Activity& a : rows_.activities) {
      if (a.call == kNone) continue;
      const int64_t latency_ns = a.start_ns - rows_.calls[a.call].start_ns;
      int64_t& least_ns = ranks_[rows_.TraceOf(a)].least_launch_ns;
      if (latency_ns >= 0) least_ns = std::min(least_ns, latency_ns);
    }
    for (uint32_t node = 0; node < graph_.nodes_.size(); ++node) {
      if (watch != nullptr && watch->Asked()) return;
      graph_.nodes_[node].first_edge = static_cast<uint32_t>(graph_.from_.size());
      AddEdges(node);
    }
    graph_.finishes_ = std::move(finish_of_);
  }

 private:
  struct Rank {
    // Parts that all waited for what was computed do not tell how long the way to the GPU is.
    int64_t least_launch_ns = kLaunchRestMax;
    uint32_t host = kNone;  // the last node of its host
    std::vector<uint32_t> step_begins;
    int64_t step = kNoStep;    // of its last part
    uint32_t part = kNone;     // the start of its last one
    uint32_t exposed = kNone;  // the part that ended last of those that nothing hid at their end
    // From where own work goes on: the finish of such a part after which something was computed at
    // once, the last node of the host before something was later, or the start of a hidden part
    // that own work had led to.
    uint32_t mark = kNone;
    std::optional<int64_t> resumes_ns;  // the host's nodes until then become the mark
  };
  // What was done while a part ran, and those before it that it and they had waited for in their
  // stream: since the first of them started.
  struct Meanwhile {
    uint32_t start = kNone;
    int64_t own_ns = 0;
  };
  struct Ready {
    uint32_t node = kNone;
    EdgeKind kind = EdgeKind::kLaunch;
    int64_t base_ns = 0;  // the weight but for what binding adds
    int64_t at_ns = 0;
    int64_t rest_max = 0;
  };

  int64_t At(uint32_t node) const { return graph_.nodes_[node].at_ns; }

  void AddEdge(uint32_t from, EdgeKind kind, int64_t weight_ns) {
    graph_.from_.push_back(from);
    graph_.kinds_.push_back(kind);
    graph_.weights_.Add(weight_ns);
  }

  void AddEdges(uint32_t node) {
    const uint32_t owner = graph_.nodes_[node].owner;
    switch (graph_.nodes_[node].kind) {
      case NodeKind::kEnd:
        return AddEnd(node, owner);
      case NodeKind::kStart:
        return AddStart(node, owner);
      case NodeKind::kFinish:
        return AddFinish(node, owner);
      case NodeKind::kMeet:
        return AddMeet(node, owner);
      default:
        return AddHost(node, owner);
    }
  }

  // One thread goes on from one of its moments to the next.
  void AddHost(uint32_t node, uint32_t call) {
    Rank& rank = ranks_[rows_.TraceOf(rows_.calls[call])];
    if (rank.host != kNone) AddEdge(rank.host, EdgeKind::kHost, At(node) - At(rank.host));
    SetHost(rank, node);
    if (graph_.nodes_[node].kind == NodeKind::kStepBegin) rank.step_begins.push_back(node);
    if (rows_.calls[call].kind != CallKind::kStep) node_of_call_[call] = node;
  }

  // A call that waits returns with the collective that ended during it, or when the rank's own work
  // is done that went on after the last one. A short one did not wait for that.
  void AddEnd(uint32_t node, uint32_t call) {
    Rank& rank = ranks_[rows_.TraceOf(rows_.calls[call])];
    const uint32_t begin = node_of_call_[call];
    uint32_t mark = At(node) - At(begin) < kLongSliceNs ? kNone : rank.mark;
    if (rank.exposed != kNone && finish_of_[rank.exposed] > begin) mark = finish_of_[rank.exposed];
    AddEdge(begin, EdgeKind::kHost, mark == kNone ? At(node) - At(begin) : 0);
    if (mark != kNone) AddOwn(node, mark);
    SetHost(rank, node);
  }

  void SetHost(Rank& rank, uint32_t node) {
    rank.host = node;
    if (rank.resumes_ns.has_value() && At(node) <= *rank.resumes_ns) rank.mark = node;
  }

  static void SetMark(Rank& rank, uint32_t node) {
    rank.mark = node;
    rank.resumes_ns.reset();
  }

  // What the rank did by itself since then, and, after a part, what it had done while that ran.
  void AddOwn(uint32_t node, uint32_t mark) {
    const int64_t after_ns = At(node) - At(mark);
    AddEdge(mark, EdgeKind::kOwn, after_ns);
    if (graph_.nodes_[mark].kind != NodeKind::kFinish) return;
    const Meanwhile& meanwhile = meanwhile_[graph_.nodes_[mark].owner];
    if (meanwhile.own_ns > 0) {
      AddEdge(meanwhile.start, EdgeKind::kOwnMeanwhile, SumNs(meanwhile.own_ns, after_ns));
    }
  }

  void AddStart(uint32_t node, uint32_t number) {
    const Activity& activity = rows_.activities[number];
    Rank& rank = ranks_[rows_.TraceOf(activity)];
    start_of_[number] = node;
    if (activity.kind != GpuKind::kCommunication)
      return AddStepsEnd(node, rows_.StepOf(activity), rank);
    const Ready launch = LaunchOf(activity);
    const Ready stream = StreamOf(activity);
    const bool is_launch_last =
        stream.node == kNone || (launch.node != kNone && launch.at_ns >= stream.at_ns);
    const Ready& last = is_launch_last ? launch : stream;
    const bool is_explained = last.node != kNone && At(node) - last.at_ns <= last.rest_max;
    uint32_t own = kNone;
    if (!is_explained) own = OwnBefore(node, rank);
    // Nothing tells: then it is the host's, or its stream's.
    const bool is_left = !is_explained && own == kNone;
    const bool binds_launch = (is_explained && is_launch_last) || (is_left && launch.node != kNone);
    const bool binds_stream = !binds_launch && stream.node != kNone && (is_explained || is_left);
    AddReady(node, launch, binds_launch);
    AddReady(node, stream, binds_stream);
    if (own != kNone) AddOwn(node, own);
    const bool is_bound = last.node != kNone || own != kNone;
    if (is_bound) AddOwnOfStep(node, activity, rank);
    rank.step = rows_.StepOf(activity);
    meanwhile_[number] = {node, rows_.uses[number].computing_ns};
    if (binds_stream) {
      const Meanwhile& before = meanwhile_[started_[activity.stream]];
      const bool has_waited = before.own_ns < At(node) - At(before.start);
      if (!is_followed_[number] && has_waited && before.own_ns > 0) {
        AddEdge(before.start, EdgeKind::kOwn, before.own_ns);
      }
      meanwhile_[number] = {before.start, SumNs(before.own_ns, rows_.uses[number].computing_ns)};
    }
    if (rows_.uses[number].is_exposed) rank.part = node;
    const bool is_own = own != kNone || (is_left && binds_launch);
    if (is_own && !rows_.uses[number].is_exposed) SetMark(rank, node);
    started_[activity.stream] = number;
  }

  // What a rank does from the begin of a step to its first part: until the host launches something,
  // and from when that starts, unless it waited for others meanwhile.
  void AddOwnOfStep(uint32_t node, const Activity& part, const Rank& rank) {
    if (rows_.StepOf(part) == kNoStep || rows_.StepOf(part) == rank.step) return;
    const std::vector<StepWork>& works = rows_.step_works[rows_.TraceOf(part)];
    const auto work = std::ranges::lower_bound(works, rows_.StepOf(part), {}, &StepWork::step);
    const uint32_t begin = BeginOf(rows_.StepOf(part), rank);
    if (work == works.end() || work->step != rows_.StepOf(part) || begin == kNone) return;
    // Of a damaged database alone not so.
    const bool is_in_order = At(begin) <= work->launch_ns && work->launch_ns <= work->start_ns &&
                             work->start_ns <= At(node);
    if (!is_in_order) return;
    if (rank.exposed != kNone && At(finish_of_[rank.exposed]) > work->start_ns) return;
    const int64_t own_ns = work->launch_ns - At(begin) + At(node) - work->start_ns;
    AddEdge(begin, EdgeKind::kOwnOfStep, own_ns);
  }

  // kNone: it began long ago, or never.
  uint32_t BeginOf(int64_t step, const Rank& rank) const {
    const auto last =
        std::span(rank.step_begins).last(std::min(rank.step_begins.size(), kLookBack));
    const auto begin = std::ranges::find(last, step, [&](uint32_t n) { return StepOf(n); });
    return begin == last.end() ? kNone : *begin;
  }

  // Parts of which the next one of their stream starts as soon as they end.
  void FindFollowed() {
    std::vector<uint32_t> before(rows_.stream_traces.size(), kNone);
    for (const Node& node : graph_.nodes_) {
      if (node.kind != NodeKind::kStart) continue;
      const Activity& activity = rows_.activities[node.owner];
      if (activity.kind != GpuKind::kCommunication) continue;
      uint32_t& last = before[activity.stream];
      if (last != kNone) {
        is_followed_[last] = node.at_ns - rows_.activities[last].finish_ns <= kFinishRestMax;
      }
      last = node.owner;
    }
  }

  void AddReady(uint32_t node, const Ready& ready, bool binds) {
    if (ready.node == kNone) return;
    AddEdge(ready.node, ready.kind, binds ? At(node) - At(ready.node) : ready.base_ns);
  }

  Ready LaunchOf(const Activity& activity) const {
    if (activity.call == kNone || node_of_call_[activity.call] == kNone) return {};
    const uint32_t launch = node_of_call_[activity.call];
    const int64_t least_ns = ranks_[rows_.TraceOf(activity)].least_launch_ns;
    return {launch, EdgeKind::kLaunch, least_ns, At(launch) + least_ns, kLaunchRestMax};
  }

  Ready StreamOf(const Activity& activity) const {
    const uint32_t before = started_[activity.stream];
    if (before == kNone || finish_of_[before] == kNone) return {};
    const uint32_t finish = finish_of_[before];
    return {finish, EdgeKind::kStream, 0, At(finish), kFinishRestMax};
  }

  // The part that ended just now, else where own work went on last.
  uint32_t OwnBefore(uint32_t node, const Rank& rank) const {
    if (rank.exposed == kNone) return rank.mark;
    const uint32_t finish = finish_of_[rank.exposed];
    return At(node) - At(finish) <= kFinishRestMax ? finish : rank.mark;
  }

  // What is left of a step after its last collective; before the first one, since the host began
  // it.
  void AddStepsEnd(uint32_t node, int64_t step, const Rank& rank) {
    const uint32_t own = OwnBefore(node, rank);
    if (own != kNone) return AddOwn(node, own);
    const uint32_t begin = BeginOf(step, rank);
    // A wait for others in a collective since then is not its own.
    const bool has_part = rank.part != kNone && begin != kNone && rank.part > begin;
    const uint32_t from = begin != kNone && !has_part ? begin : rank.host;
    if (from != kNone) AddEdge(from, EdgeKind::kOwn, At(node) - At(from));
  }

  int64_t StepOf(uint32_t step_begin) const {
    return rows_.StepOfCall(graph_.nodes_[step_begin].owner);
  }

  void AddFinish(uint32_t node, uint32_t number) {
    const Activity& activity = rows_.activities[number];
    const uint32_t start = start_of_[number];
    const uint32_t collective = rows_.PartOf(activity).collective;
    const uint32_t meet = collective == kNone ? kNone : meet_of_[collective];
    AddEdge(start, EdgeKind::kRun, At(node) - At(meet == kNone ? start : meet));
    if (meet != kNone) AddEdge(meet, EdgeKind::kTransfer, At(node) - At(meet));
    finish_of_[number] = node;
    const PartUse& use = rows_.uses[number];
    if (!use.is_exposed) return;
    Rank& rank = ranks_[rows_.TraceOf(activity)];
    rank.exposed = number;
    if (use.is_resumed) return SetMark(rank, node);
    // The GPU had nothing to do: what it did next the host had launched by then.
    rank.mark = rank.host;
    rank.resumes_ns = SumNs(activity.finish_ns, use.idle_ns);
  }

  void AddMeet(uint32_t node, uint32_t number) {
    meet_of_[number] = node;
    const Collective& collective = rows_.collectives[number];
    for (uint32_t p = 0; p < collective.part_count; ++p) {
      AddEdge(start_of_[rows_.parts[collective.first_part + p]], EdgeKind::kMeet, 0);
    }
  }

  ReplayGraph& graph_;
  const JobRows& rows_;
  std::vector<uint32_t> start_of_, finish_of_, node_of_call_, meet_of_;
  std::vector<uint32_t> started_;     // by stream: the last activity
  std::vector<Rank> ranks_;           // by trace
  std::vector<Meanwhile> meanwhile_;  // by activity
  std::vector<bool> is_followed_;     // the same
};

ReplayGraph ReplayGraph::BuildOfCollectives(JobRows rows, StopWatch* watch) {
  ReplayGraph graph;
  graph.rows_ = std::move(rows);
  CollectiveBuilder(graph).Build(watch);
  return graph;
}

}  // namespace tracedb
