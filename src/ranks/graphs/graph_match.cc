#include "ranks/graphs/graph_match.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace tracedb {
namespace {

constexpr size_t kStateBytes = 192;  // a way that FindOrder follows, with its places in a map
constexpr const char* kSeveralFit = "several captures of other operators fit";
constexpr size_t kWindowsMax = 256;  // eager runs of the same kernels that are compared

uint64_t Mixed(uint64_t value) {
  value *= 0x9e3779b97f4a7c15u;
  value ^= value >> 32;
  return value * 0xd6e8feb86659fd93u;
}

uint64_t NameHash(const NodeKey& key) { return Mixed(key.name + static_cast<uint64_t>(key.kind)); }

std::string Counted(size_t count, const char* thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace

ReplayStreams ReplayStreams::Of(const std::vector<ReplayedNode>& nodes) {
  struct Stream {
    uint64_t hash = 0;
    std::vector<uint32_t> nodes;
  };
  std::map<int64_t, Stream> by_track;
  ReplayStreams streams;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    Stream& stream = by_track[nodes[i].track];
    const uint64_t key = NameHash(nodes[i].key) + Mixed(nodes[i].key.shape);
    stream.hash = Mixed(stream.hash ^ key);
    stream.nodes.push_back(i);
    streams.composition += Mixed(key);
  }
  std::vector<Stream> sorted;
  for (auto& [track, stream] : by_track) sorted.push_back(std::move(stream));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Stream& a, const Stream& b) { return a.hash < b.hash; });
  for (Stream& stream : sorted) {
    streams.signature = Mixed(streams.signature ^ stream.hash);
    streams.nodes.push_back(std::move(stream.nodes));
  }
  return streams;
}

Result<GraphMatcher> GraphMatcher::Open(GraphEvents& events, const GraphTrace& trace,
                                        const GraphLimits& limits) {
  GraphMatcher matcher(events, trace, limits);
  TRACEDB_ASSIGN(captures,
                 events.CapturesFor(trace, limits.capture_bytes_max / GraphCapture::kBytesEach));
  matcher.too_many_captures_ = !captures.has_value();
  if (captures.has_value()) matcher.captures_ = *std::move(captures);
  return matcher;
}

// Where the profiler numbers the nodes, their order is told; else by time on each stream.
GraphMatcher::Fit GraphMatcher::InOrder(const LaunchList& list, const Asked& asked) const {
  const size_t states_max = limits_.match_state_bytes_max / kStateBytes;
  Fit fit;
  NodeOrder order;
  std::vector<uint32_t> place_of(asked.nodes);
  std::iota(place_of.begin(), place_of.end(), 0u);
  if (!asked.by_node_id.empty()) {
    order = FindOrder(list.nodes, asked.by_node_id, states_max);
    if (order.fit == OrderFit::kFits) place_of = asked.place_of;
  }
  if (order.fit != OrderFit::kFits) order = FindOrder(list.nodes, asked.streams, states_max);
  if (order.fit == OrderFit::kDiffers) fit.refusal = "its kernels differ from the capture's";
  if (order.fit == OrderFit::kSeveral || order.fit == OrderFit::kTooMany) {
    fit.refusal = "its streams could have been captured in several orders";
  }
  if (!fit.refusal.empty()) return fit;
  fit.paths.resize(asked.nodes);
  for (size_t i = 0; i < asked.nodes; ++i) fit.paths[place_of[i]] = list.paths[order.launch_of[i]];
  for (const LaunchedNode& node : list.nodes) fit.meanings.push_back(node.meaning);
  return fit;
}

// Runs of launches, one by one, of the graph's kernels. Sums of names are compared first.
Result<std::vector<LaunchList>> GraphMatcher::WindowsFor(const Asked& asked) {
  if (!eager_.has_value()) {
    TRACEDB_ASSIGN(read, events_->EagerLaunches(
                             *trace_, limits_.eager_launch_bytes_max / LaunchList::kBytesEach));
    eager_ = std::move(read);
  }
  std::vector<LaunchList> windows;
  for (const LaunchList& thread : *eager_) {
    uint64_t names = 0;
    for (size_t end = 0; end < thread.nodes.size(); ++end) {
      names += NameHash(thread.nodes[end].key);
      if (end >= asked.nodes) names -= NameHash(thread.nodes[end - asked.nodes].key);
      if (end + 1 < asked.nodes || names != asked.names) continue;
      const auto first = static_cast<std::ptrdiff_t>(end + 1 - asked.nodes);
      const auto last = static_cast<std::ptrdiff_t>(end + 1);
      LaunchList window;
      window.nodes.assign(thread.nodes.begin() + first, thread.nodes.begin() + last);
      window.paths.assign(thread.paths.begin() + first, thread.paths.begin() + last);
      if (windows.size() < kWindowsMax) windows.push_back(std::move(window));
    }
  }
  return windows;
}

Result<GraphMatcher::Fit> GraphMatcher::Try(const GraphCapture& capture, const Asked& asked) {
  Fit fit;
  if (capture.batch != 0 && asked.replay.batch != 0 && capture.batch != asked.replay.batch) {
    fit.refusal = "the capture is of batch size " + std::to_string(capture.batch) +
                  ", the replay of " + std::to_string(asked.replay.batch);
    return fit;
  }
  if (capture.has_graph || capture.has_body) {
    fit.refusal = capture.has_graph ? "a graph is launched within the capture"
                                    : "a part of the capture runs under a condition";
    return fit;
  }
  const bool too_few = static_cast<size_t>(capture.launches) < asked.nodes;
  const bool no_room = static_cast<size_t>(capture.launches) >
                       limits_.captured_launch_bytes_max / LaunchList::kBytesEach;
  LaunchList list;
  if (!too_few && !no_room) {
    TRACEDB_ASSIGN(read, events_->LaunchesOf(capture));
    list = std::move(read);
  }
  if (list.nodes.size() != asked.nodes) {
    const size_t count =
        list.nodes.empty() ? static_cast<size_t>(capture.launches) : list.nodes.size();
    fit.refusal = "it runs " + Counted(asked.nodes, "kernel") + ", the capture launched " +
                  std::to_string(count);
    return fit;
  }
  const bool nameless = std::any_of(list.nodes.begin(), list.nodes.end(), [](const auto& node) {
    return node.key.kind == GraphNodeKind::kKernel && node.key.name == 0;
  });
  if (!nameless) return InOrder(list, asked);
  // CUDA does not say which kernel a captured launch is: the same operators run one by one do.
  TRACEDB_ASSIGN(windows, WindowsFor(asked));
  bool any_fits = false;
  for (const LaunchList& window : windows) {
    if (!InOrder(window, asked).refusal.empty()) continue;
    any_fits = true;
    const bool same =
        std::equal(window.nodes.begin(), window.nodes.end(), list.nodes.begin(), list.nodes.end(),
                   [](const auto& a, const auto& b) { return a.meaning == b.meaning; });
    if (!same) continue;
    for (size_t i = 0; i < list.nodes.size(); ++i) {
      if (list.nodes[i].key.kind == GraphNodeKind::kKernel) list.nodes[i].key = window.nodes[i].key;
    }
    return InOrder(list, asked);
  }
  if (any_fits) {
    fit.refusal = "the capture's operators are not those that ran its kernels one by one";
    return fit;
  }
  // Of as many launches as a replay of another one has when a part of it runs often, or never.
  if (std::any_of(captures_.begin(), captures_.end(),
                  [](const GraphCapture& other) { return other.has_body; })) {
    fit.refusal = "another capture runs under a condition, and nothing names the kernels of this";
    return fit;
  }
  return InOrder(list, asked);
}

Result<GraphDecision> GraphMatcher::ByCaptures(const Asked& asked, bool own_trace) {
  GraphDecision decision;
  std::vector<uint64_t> meanings;
  size_t looked_at = 0;
  for (const GraphCapture& capture : captures_) {
    if ((capture.trace_id == trace_->trace_id) != own_trace) continue;
    if (own_trace && capture.ts > asked.replay.ts) continue;  // made later
    ++looked_at;
    TRACEDB_ASSIGN(fit, Try(capture, asked));
    if (!fit.refusal.empty()) {
      // Of several reasons the last thing that differs: a wrong count says least.
      const bool says_little = fit.refusal.starts_with("it runs ");
      if (decision.reason.empty() || !says_little) decision.reason = fit.refusal;
      continue;
    }
    if (decision.source.empty()) {
      decision = {own_trace ? "capture" : "capture file", "", capture.id, capture.path,
                  std::move(fit.paths)};
      meanings = std::move(fit.meanings);
    } else if (meanings != fit.meanings) {
      return ByTurn(asked);
    }
  }
  if (decision.source.empty() && looked_at > 1 && decision.reason.starts_with("it runs ")) {
    decision.reason = "it runs " + Counted(asked.nodes, "kernel") + ", none of " +
                      Counted(looked_at, "capture") + " launched as many";
  }
  return decision;
}

Result<GraphDecision> GraphMatcher::ByEager(const Asked& asked) {
  GraphDecision decision;
  std::vector<uint64_t> meanings;
  TRACEDB_ASSIGN(windows, WindowsFor(asked));
  for (const LaunchList& window : windows) {
    const bool all_known = std::all_of(window.paths.begin(), window.paths.end(),
                                       [](const NodePath& path) { return path.path != 0; });
    Fit fit = InOrder(window, asked);
    if (!all_known || !fit.refusal.empty()) continue;
    if (decision.source.empty()) {
      decision = {"eager", "", 0, 0, std::move(fit.paths)};
      meanings = std::move(fit.meanings);
    } else if (meanings != fit.meanings) {
      return GraphDecision{
          "", "its kernels ran one by one for several sets of operators", 0, 0, {}};
    }
  }
  return decision;
}

Result<GraphMatcher::Asked> GraphMatcher::Ask(const GraphReplay& replay,
                                              const std::vector<ReplayedNode>& nodes,
                                              const ReplayStreams& streams) {
  Asked asked{replay, {}, {}, {}, nodes.size(), 0};
  std::vector<uint32_t> in_streams;
  for (const std::vector<uint32_t>& stream : streams.nodes) {
    std::vector<NodeKey>& keys = asked.streams.emplace_back();
    for (const uint32_t node : stream) {
      keys.push_back(nodes[node].key);
      asked.names += NameHash(nodes[node].key);
      in_streams.push_back(node);
    }
  }
  TRACEDB_ASSIGN(ids, events_->NodeIds(nodes));
  if (!ids.empty()) {
    asked.place_of.resize(nodes.size());
    std::iota(asked.place_of.begin(), asked.place_of.end(), 0u);
    std::sort(asked.place_of.begin(), asked.place_of.end(),
              [&](uint32_t a, uint32_t b) { return ids[in_streams[a]] < ids[in_streams[b]]; });
    std::vector<NodeKey>& keys = asked.by_node_id.emplace_back();
    for (const uint32_t place : asked.place_of) keys.push_back(nodes[in_streams[place]].key);
  }
  return asked;
}

Status GraphMatcher::FindTurns(const std::vector<GraphReplay>& replays, size_t nodes_max) {
  std::map<int64_t, int64_t> replayed;
  for (const GraphReplay& replay : replays) ++replayed[replay.batch];
  for (const auto& [batch, times] : replayed) {
    std::vector<size_t> pieces;
    for (size_t i = 0; batch != 0 && i < captures_.size(); ++i) {
      if (captures_[i].batch == batch) pieces.push_back(i);
    }
    std::sort(pieces.begin(), pieces.end(), [this](size_t a, size_t b) {
      return std::pair(captures_[a].ts, a) < std::pair(captures_[b].ts, b);
    });
    const auto of_one_trace = [&](size_t i) {
      return captures_[i].trace_id == captures_[pieces.front()].trace_id;
    };
    const bool in_turns = pieces.size() > 1 && times % static_cast<int64_t>(pieces.size()) == 0 &&
                          std::all_of(pieces.begin(), pieces.end(), of_one_trace);
    if (in_turns) pieces_[batch] = std::move(pieces);
  }
  std::set<std::pair<uint64_t, size_t>> fitting;  // signatures with the pieces that they fit
  for (const GraphReplay& replay : replays) {
    const auto at = pieces_.find(replay.batch);
    if (at == pieces_.end()) continue;
    TRACEDB_ASSIGN(nodes, events_->NodesOf(*trace_, replay, nodes_max));
    const ReplayStreams streams = ReplayStreams::Of(nodes);
    const size_t piece = at->second[static_cast<size_t>(replay.turn) % at->second.size()];
    if (fitting.contains({streams.signature, piece})) continue;
    TRACEDB_ASSIGN(asked, Ask(replay, nodes, streams));
    TRACEDB_ASSIGN(fit, Try(captures_[piece], asked));
    if (!fit.refusal.empty()) pieces_.erase(at);
    if (fitting.size() > limits_.fitting_bytes_max / kStateBytes) fitting.clear();
    fitting.insert({streams.signature, piece});
  }
  return Done{};
}

int64_t GraphMatcher::PiecesOf(int64_t batch) const {
  const auto at = pieces_.find(batch);
  return at != pieces_.end() ? static_cast<int64_t>(at->second.size()) : 0;
}

Result<GraphDecision> GraphMatcher::ByTurn(const Asked& asked) {
  const auto at = pieces_.find(asked.replay.batch);
  if (at == pieces_.end()) return GraphDecision{"", kSeveralFit, 0, 0, {}};
  const GraphCapture& capture =
      captures_[at->second[static_cast<size_t>(asked.replay.turn) % at->second.size()]];
  TRACEDB_ASSIGN(fit, Try(capture, asked));
  if (!fit.refusal.empty()) return GraphDecision{"", std::move(fit.refusal), 0, 0, {}};
  const bool own_trace = capture.trace_id == trace_->trace_id;
  return GraphDecision{own_trace ? "capture" : "capture file", "", capture.id, capture.path,
                       std::move(fit.paths)};
}

Result<GraphDecision> GraphMatcher::Decide(const GraphReplay& replay,
                                           const std::vector<ReplayedNode>& nodes,
                                           const ReplayStreams& streams) {
  // Of some of them one may fit that is not alone in it.
  if (too_many_captures_) {
    return GraphDecision{"", "its rank has more captures than --memory has room for", 0, 0, {}};
  }
  TRACEDB_ASSIGN(asked, Ask(replay, nodes, streams));
  TRACEDB_ASSIGN(own, ByCaptures(asked, true));
  if (!own.source.empty() || own.reason == kSeveralFit) return own;
  TRACEDB_ASSIGN(other, ByCaptures(asked, false));
  if (!other.source.empty() || other.reason == kSeveralFit) return other;
  GraphDecision refused;
  refused.reason = !own.reason.empty() ? own.reason : other.reason;
  // Captures of it were looked at and are of something else: then a run of the same kernels one by
  // one is of another occasion, but of the same operators where only one set of them ran these.
  TRACEDB_ASSIGN(eager, ByEager(asked));
  if (!eager.source.empty() || !eager.reason.empty()) return eager;
  if (refused.reason.empty()) refused.reason = "no capture of it is in the database";
  return refused;
}

}  // namespace tracedb
