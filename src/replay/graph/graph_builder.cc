// Rows become nodes in the order of time, then edges: one pass over the nodes, with what each
// thread, stream and trace did last. The numbers in comments are those of MODEL.md's rules.
#include <algorithm>
#include <functional>
#include <utility>

#include "replay/graph/last_of_two.h"
#include "replay/graph/node_order.h"
#include "replay/graph/replay_graph.h"
#include "replay/graph/stop_watch.h"
#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

constexpr int64_t kLaunchRestMax = 100'000;  // ns between a launch and a start that it explains
constexpr int64_t kFinishRestMax = 20'000;   // between a finish and a start
constexpr size_t kStreamsMax = 64;           // of a trace: those that started something last
constexpr size_t kLookBack = 64;             // activities of a stream, from the last to start

}  // namespace

class GraphBuilder {
 public:
  explicit GraphBuilder(ReplayGraph& graph)
      : graph_(graph),
        rows_(graph.rows_),
        finish_of_(rows_.activities.size(), kNone),
        start_of_(rows_.activities.size(), kNone),
        node_of_call_(rows_.calls.size(), kNone),
        meet_of_(rows_.collectives.size(), kNone),
        waits_of_call_(rows_.calls.size(), kNone),
        started_(rows_.stream_traces.size()),
        threads_(rows_.threads.size()),
        processes_(rows_.process_count),
        finished_(rows_.traces.size()),
        recent_(rows_.traces.size()),
        least_launch_(rows_.traces.size(), std::numeric_limits<int64_t>::max()) {}

  void Build(StopWatch* watch) {
    OrderNodes(rows_, graph_.nodes_);
    FindStreamWaits();
    ReserveEdges();
    FindLeastLaunches();
    for (uint32_t node = 0; node < graph_.nodes_.size(); ++node) {
      if (watch != nullptr && watch->Asked()) return;
      graph_.nodes_[node].first_edge = static_cast<uint32_t>(graph_.from_.size());
      AddEdges(node);
    }
    graph_.finishes_ = std::move(finish_of_);
  }

 private:
  // StreamWaitEvent calls since the last launch: the last one's start, and how many.
  struct StreamWaits {
    int64_t last_ns = 0;
    uint32_t count = 0;
  };
  struct Thread {
    uint32_t node = kNone;           // the last
    uint32_t last_launched = kNone;  // activity
    StreamWaits waits;
  };
  struct Ready {
    int64_t at_ns;
    int64_t base_ns;  // the weight but for what binding adds
    int64_t rest_max;
    uint32_t node;
    EdgeKind kind;
  };

  void FindStreamWaits() {
    for (size_t i = 0; i < rows_.calls.size(); ++i) {
      if (rows_.calls[i].kind != CallKind::kStreamWait) continue;
      stream_waits_.push_back(static_cast<uint32_t>(i));
    }
    std::ranges::sort(stream_waits_, {}, [this](uint32_t i) {
      return std::pair(rows_.calls[i].start_ns, rows_.calls[i].slice_id);
    });
  }

  void ReserveEdges() {
    const size_t edges = graph_.nodes_.size() + graph_.nodes_.size() / 2;
    graph_.from_.reserve(edges);
    graph_.kinds_.reserve(edges);
  }

  void FindLeastLaunches() {
    for (const Activity& a : rows_.activities) {
      if (a.call == kNone) continue;
      const int64_t latency_ns = a.start_ns - rows_.calls[a.call].start_ns;
      if (latency_ns >= 0)
        least_launch_[rows_.TraceOf(a)] = std::min(least_launch_[rows_.TraceOf(a)], latency_ns);
    }
  }

  int64_t At(uint32_t node) const { return graph_.nodes_[node].at_ns; }

  void AddEdge(uint32_t from, EdgeKind kind, int64_t weight_ns) {
    graph_.from_.push_back(from);
    graph_.kinds_.push_back(kind);
    graph_.weights_.Add(weight_ns);
  }

  void AddEdges(uint32_t node) {
    const Node& here = graph_.nodes_[node];
    switch (here.kind) {
      case NodeKind::kEnd:
        AddEnd(node, rows_.calls[here.owner]);
        break;
      case NodeKind::kHoldEnd:
        AddHoldEnd(node, rows_.calls[here.owner]);
        break;
      case NodeKind::kStepEnd:
      case NodeKind::kStepBegin:
      case NodeKind::kLaunch:
      case NodeKind::kBegin:
      case NodeKind::kHoldBegin:
        AddHost(node, rows_.calls[here.owner]);
        break;
      case NodeKind::kStart:
        AddStart(node, rows_.activities[here.owner]);
        break;
      case NodeKind::kFinish:
        AddFinish(node, rows_.activities[here.owner]);
        break;
      case NodeKind::kMeet:
        AddMeet(node, rows_.collectives[here.owner]);
        break;
    }
  }

  // 1. The host.
  void AddHost(uint32_t node, const Call& call) {
    Thread& thread = threads_[call.thread];
    LastOfTwo& process = processes_[rows_.threads[call.thread].process];
    const uint32_t before = thread.node;
    uint32_t other = process.NotOf(call.thread);
    if (other != kNone && before != kNone && other < before) other = kNone;
    const uint32_t room = RoomMadeFor(before);
    if (room != kNone && other != kNone && At(other) <= EndOf(before)) other = kNone;
    const auto since = [&](uint32_t last) { return other == kNone ? At(node) - At(last) : 0; };
    if (before != kNone) AddEdge(before, EdgeKind::kHost, since(room != kNone ? room : before));
    if (other != kNone) AddEdge(other, EdgeKind::kHandover, At(node) - At(other));
    if (room != kNone) AddEdge(room, EdgeKind::kSync, since(room));
    thread.node = node;
    process.See(call.thread, node);
    const uint32_t number = graph_.nodes_[node].owner;
    if (call.kind != CallKind::kStep) node_of_call_[number] = node;
    if (call.last_activity != kNone) NoteLaunch(thread, number);
  }

  // The finish that a launch waited for, as its queue was full.
  uint32_t RoomMadeFor(uint32_t launch) const {
    if (launch == kNone || graph_.nodes_[launch].kind != NodeKind::kLaunch) return kNone;
    const uint32_t activity = rows_.RoomMadeFor(graph_.nodes_[launch].owner);
    return activity == kNone ? kNone : finish_of_[activity];
  }
  int64_t EndOf(uint32_t launch) const { return rows_.calls[graph_.nodes_[launch].owner].end_ns; }

  // No node of its process comes between its begin and its end.
  void AddHoldEnd(uint32_t node, const Call& hold) {
    Thread& thread = threads_[hold.thread];
    const uint32_t begin = node_of_call_[graph_.nodes_[node].owner];
    AddEdge(begin, EdgeKind::kRecorder, At(node) - At(begin));
    thread.node = node;
    processes_[rows_.threads[hold.thread].process].See(hold.thread, node);
  }

  void NoteLaunch(Thread& thread, uint32_t number) {
    const Call& call = rows_.calls[number];
    while (next_wait_ < stream_waits_.size() &&
           rows_.calls[stream_waits_[next_wait_]].start_ns < call.start_ns) {
      const Call& wait = rows_.calls[stream_waits_[next_wait_++]];
      StreamWaits& waits = threads_[wait.thread].waits;
      waits = {wait.start_ns, waits.count + 1};
    }
    if (thread.waits.count > 0) {
      waits_of_call_[number] = static_cast<uint32_t>(waits_.size());
      waits_.push_back(std::exchange(thread.waits, {}));
    }
    thread.last_launched = call.last_activity;
  }

  // 2. A call that waits.
  void AddEnd(uint32_t node, const Call& call) {
    Thread& thread = threads_[call.thread];
    const uint32_t number = graph_.nodes_[node].owner;
    const uint32_t begin = node_of_call_[number];
    const std::vector<uint32_t> waited = WaitedFor(number, call, begin);
    uint32_t last = kNone;  // that finished after the begin
    for (const uint32_t activity : waited) {
      const uint32_t finish = finish_of_[activity];
      if (finish > begin && (last == kNone || At(finish) > At(last))) last = finish;
    }
    AddEdge(begin, EdgeKind::kHost, last == kNone ? At(node) - At(begin) : 0);
    for (const uint32_t activity : waited) {
      const uint32_t finish = finish_of_[activity];
      AddEdge(finish, EdgeKind::kSync, finish == last ? At(node) - At(finish) : 0);
    }
    thread.node = node;
    processes_[rows_.threads[call.thread].process].See(call.thread, node);
  }

  // By slice_id.
  std::vector<uint32_t> WaitedFor(uint32_t number, const Call& call, uint32_t begin) const {
    std::vector<uint32_t> last;
    for (const uint32_t s : recent_[rows_.TraceOf(call)]) {
      const uint32_t found = LastFinished(s, call.start_ns, number);
      if (found != kNone) last.push_back(found);
    }
    const auto by_id = [this](uint32_t a, uint32_t b) {
      return rows_.activities[a].slice_id < rows_.activities[b].slice_id;
    };
    std::sort(last.begin(), last.end(), by_id);
    if (call.kind == CallKind::kWaitForAll) return last;
    uint32_t chosen = kNone;
    for (const uint32_t a : last) {
      if (finish_of_[a] <= begin) continue;
      if (chosen == kNone || At(finish_of_[a]) > At(finish_of_[chosen])) chosen = a;
    }
    const uint32_t launched = LaunchedBefore(call.thread, number);
    if (chosen == kNone && launched != kNone) {
      for (const uint32_t a : last) {
        if (rows_.activities[a].stream == rows_.activities[launched].stream) chosen = a;
      }
    }
    return chosen == kNone ? std::vector<uint32_t>{} : std::vector<uint32_t>{chosen};
  }

  // A call that copies has launched something itself.
  uint32_t LaunchedBefore(uint32_t thread, uint32_t number) const {
    const uint32_t own = rows_.calls[number].last_activity;
    return own != kNone ? own : threads_[thread].last_launched;
  }

  // Of those of a stream that were launched before `before_ns`, or by `call`.
  uint32_t LastFinished(uint32_t stream, int64_t before_ns, uint32_t call) const {
    const std::vector<uint32_t>& started = started_[stream];
    uint32_t found = kNone;
    const size_t end = started.size() > kLookBack ? started.size() - kLookBack : 0;
    for (size_t i = started.size(); i > end; --i) {
      const uint32_t a = started[i - 1];
      const Activity& activity = rows_.activities[a];
      const bool is_before =
          rows_.LaunchNs(a) < before_ns || (call != kNone && activity.call == call);
      if (!is_before || finish_of_[a] == kNone) continue;
      if (found == kNone || activity.finish_ns > rows_.activities[found].finish_ns ||
          (activity.finish_ns == rows_.activities[found].finish_ns &&
           activity.slice_id < rows_.activities[found].slice_id)) {
        found = a;
      }
    }
    return found;
  }

  // 3. The start of an activity.
  void AddStart(uint32_t node, const Activity& activity) {
    std::vector<Ready>& ready = ready_;
    ready.clear();
    AddReadyLaunch(activity, ready);
    AddReadyStream(activity, ready);
    AddReadyWaits(activity, ready);
    const auto last = std::max_element(
        ready.begin(), ready.end(),
        [](const Ready& a, const Ready& b) { return a.at_ns < b.at_ns; });  // the first of equals
    size_t binding = static_cast<size_t>(last - ready.begin());
    int64_t rest_ns = 0;
    if (last != ready.end()) {
      rest_ns = At(node) - last->at_ns;
      if (rest_ns > last->rest_max) {
        const uint32_t other = finished_[rows_.TraceOf(activity)].NotOf(activity.stream);
        if (other != kNone && At(other) > last->at_ns && At(node) - At(other) <= kFinishRestMax) {
          binding = ready.size();
          rest_ns = At(node) - At(other);
          ready.push_back({At(other), 0, kFinishRestMax, other, EdgeKind::kInferred});
        }
      }
    }
    for (size_t i = 0; i < ready.size(); ++i) {
      const int64_t taken_ns = i == binding ? std::min(rest_ns, ready[i].rest_max) : 0;
      AddEdge(ready[i].node, ready[i].kind, ready[i].base_ns + taken_ns);
      if (i == binding && rest_ns > taken_ns) graph_.lags_.emplace_back(node, rest_ns - taken_ns);
    }
    const uint32_t number = graph_.nodes_[node].owner;
    start_of_[number] = node;
    started_[activity.stream].push_back(number);
    std::vector<uint32_t>& recent = recent_[rows_.TraceOf(activity)];
    const auto at = std::find(recent.begin(), recent.end(), activity.stream);
    if (at == recent.end()) {
      if (recent.size() == kStreamsMax) recent.pop_back();
      recent.insert(recent.begin(), activity.stream);
    } else {
      std::rotate(recent.begin(), at, at + 1);
    }
  }

  void AddReadyLaunch(const Activity& activity, std::vector<Ready>& ready) const {
    if (activity.call == kNone || node_of_call_[activity.call] == kNone) return;
    const uint32_t launch = node_of_call_[activity.call];
    const int64_t least_ns = least_launch_[rows_.TraceOf(activity)];
    ready.push_back({At(launch) + least_ns, least_ns, kLaunchRestMax, launch, EdgeKind::kLaunch});
  }

  void AddReadyStream(const Activity& activity, std::vector<Ready>& ready) const {
    const std::vector<uint32_t>& started = started_[activity.stream];
    if (started.empty() || finish_of_[started.back()] == kNone) return;
    const uint32_t finish = finish_of_[started.back()];
    ready.push_back({At(finish), 0, kFinishRestMax, finish, EdgeKind::kStream});
  }

  void AddReadyWaits(const Activity& activity, std::vector<Ready>& ready) const {
    if (activity.call == kNone) return;
    if (waits_of_call_[activity.call] == kNone) return;
    const StreamWaits waits = waits_[waits_of_call_[activity.call]];
    std::vector<uint32_t> found;
    for (const uint32_t s : recent_[rows_.TraceOf(activity)]) {
      if (s == activity.stream) continue;
      const uint32_t last = LastFinished(s, waits.last_ns, kNone);
      if (last != kNone) found.push_back(last);
    }
    KeepWaited(waits.count, found);
    std::ranges::sort(found, {}, [this](uint32_t a) { return rows_.activities[a].slice_id; });
    for (const uint32_t a : found) {
      ready.push_back({At(finish_of_[a]), 0, kFinishRestMax, finish_of_[a], EdgeKind::kWait});
    }
  }

  // A call means one stream. Of more it is those that something was launched into last, as events
  // are recorded right after what is waited for; that which finished last may be meant as well.
  void KeepWaited(uint32_t count, std::vector<uint32_t>& found) const {
    if (found.size() <= count) return;
    const auto launched = [this](uint32_t a) {
      return std::pair(rows_.LaunchNs(a), rows_.activities[a].slice_id);
    };
    std::ranges::sort(found, std::greater(), launched);
    const auto last =
        std::ranges::max_element(found, {}, [&](uint32_t a) { return finish_of_[a]; });
    if (last - found.begin() >= count) std::iter_swap(last, found.begin() + count++);
    found.resize(count);
  }

  // 4. The finish of an activity.
  void AddFinish(uint32_t node, const Activity& activity) {
    const uint32_t number = graph_.nodes_[node].owner;
    const uint32_t start = start_of_[number];
    const uint32_t part_of = rows_.PartOf(activity).collective;
    const uint32_t meet = part_of == kNone ? kNone : meet_of_[part_of];
    AddEdge(start, EdgeKind::kRun, At(node) - At(meet == kNone ? start : meet));
    if (meet != kNone) AddEdge(meet, EdgeKind::kTransfer, At(node) - At(meet));
    finish_of_[number] = node;
    LastOfTwo& last = finished_[rows_.TraceOf(activity)];
    // Of several that end at one time the first counts.
    const uint32_t same = last.what == activity.stream         ? last.node
                          : last.other_what == activity.stream ? last.other_node
                                                               : kNone;
    if (same != kNone && At(same) == At(node)) return;
    if (last.node == kNone || At(last.node) < At(node)) {
      last.See(activity.stream, node);
    } else if (last.other_node == kNone || At(last.other_node) < At(node)) {
      last.other_what = activity.stream;
      last.other_node = node;
    }
  }

  // 5. The moment in which the last one has come.
  void AddMeet(uint32_t node, const Collective& collective) {
    meet_of_[graph_.nodes_[node].owner] = node;
    for (uint32_t p = 0; p < collective.part_count; ++p) {
      AddEdge(start_of_[rows_.parts[collective.first_part + p]], EdgeKind::kMeet, 0);
    }
  }

  ReplayGraph& graph_;
  const JobRows& rows_;
  std::vector<uint32_t> finish_of_, start_of_, node_of_call_, meet_of_;
  std::vector<uint32_t> waits_of_call_;  // in waits_, by call that launches; kNone
  std::vector<StreamWaits> waits_;
  std::vector<std::vector<uint32_t>> started_;  // by stream, in the order of their starts
  std::vector<Thread> threads_;
  std::vector<LastOfTwo> processes_;           // threads
  std::vector<LastOfTwo> finished_;            // by trace: streams
  std::vector<std::vector<uint32_t>> recent_;  // by trace: streams, the last to start first
  std::vector<int64_t> least_launch_;          // by trace
  std::vector<uint32_t> stream_waits_;         // calls, by time
  size_t next_wait_ = 0;
  std::vector<Ready> ready_;
};

ReplayGraph ReplayGraph::Build(JobRows rows, StopWatch* watch) {
  ReplayGraph graph;
  graph.rows_ = std::move(rows);
  GraphBuilder(graph).Build(watch);
  return graph;
}

}  // namespace tracedb
