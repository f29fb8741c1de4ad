#include "derive/call_nesting.h"

#include <algorithm>
#include <limits>

namespace tracedb {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr size_t kForwardTracksMax = 64;  // threads that run forward passes

}  // namespace

CallNesting::CallNesting(size_t recent, CallPaths& paths, SyncCalls& syncs, GraphCaptures& graphs)
    : paths_(paths),
      syncs_(syncs),
      graphs_(graphs),
      by_external_id_(recent),
      by_sequence_(recent),
      threads_(limits_.threads_max) {}

void CallNesting::Close(Thread& thread, int64_t now) {
  std::vector<Open>& open = thread.open;
  while (!open.empty() && open.back().end <= now) {
    open.pop_back();
    --held_;
  }
  if (now >= thread.crossed_at) CloseCrossed(thread, now);
}

// Takes away what has ended below something that is open: that is on another path from now on.
void CallNesting::CloseCrossed(Thread& thread, int64_t now) {
  std::vector<Open>& open = thread.open;
  const auto ended =
      std::find_if(open.begin(), open.end(), [now](const Open& one) { return one.end <= now; });
  auto kept = ended;
  for (auto at = ended; at != open.end(); ++at) {
    if (at->end <= now) continue;
    const PathNode node = paths_.node(at->path.path);
    const PathId parent = kept == open.begin() ? 0 : (kept - 1)->path.path;
    at->path.path = paths_.Child(parent, node.kind, node.event_name, node.args_text);
    at->last_child = 0;
    *kept++ = *at;
  }
  held_ -= static_cast<size_t>(open.end() - kept);
  open.erase(kept, open.end());
  thread.crossed_at = kNever;
  for (size_t i = 0; i + 1 < open.size(); ++i) {
    if (open[i].end >= open[i + 1].end) continue;
    thread.crossed_at = std::min(thread.crossed_at, open[i].end);
  }
}

// The operator that made the node of the backward pass that `slice` belongs to: of those with its
// sequence number the last to start. Sequence numbers are counted by thread, and a trace does not
// say which one "Fwd thread id" means: it is learned where only one has the number.
PathId CallNesting::ForwardOf(const HostSlice& slice) {
  const int64_t number = slice.sequence;
  const auto known = track_of_forward_.find(slice.forward_thread);
  if (known != track_of_forward_.end()) {
    const LaunchPath* path = by_sequence_.Find(known->second, number);
    return path != nullptr ? path->path : 0;
  }
  const LaunchPath* only = nullptr;
  int64_t only_track = 0;
  for (const int64_t track : forward_tracks_) {
    const LaunchPath* path = by_sequence_.Find(track, number);
    if (path == nullptr) continue;
    if (only != nullptr) return 0;
    only = path;
    only_track = track;
  }
  if (only == nullptr) return 0;
  if (track_of_forward_.size() < kForwardTracksMax) {
    track_of_forward_[slice.forward_thread] = only_track;
  }
  return only->path;
}

// Puts down on which path an operator is, for those that name it by a number; gives `path` the
// forward operator that it names.
void CallNesting::Remember(const HostSlice& slice, LaunchPath& path) {
  if (slice.has_sequence && slice.sequence >= 0) {
    if (slice.forward_thread != 0) {
      const PathId forward = ForwardOf(slice);
      if (forward != 0) path.forward = forward;
    } else {
      by_sequence_.Put(slice.track, slice.sequence, path);
      const bool known = std::find(forward_tracks_.begin(), forward_tracks_.end(), slice.track) !=
                         forward_tracks_.end();
      if (!known && forward_tracks_.size() < kForwardTracksMax) {
        forward_tracks_.push_back(slice.track);
      }
    }
  }
  if (slice.has_external_id) by_external_id_.Put(0, slice.external_id, path);
}

// Returns the path of `slice`, which is open from here on.
LaunchPath CallNesting::Enter(Thread& thread, const HostSlice& slice) {
  LaunchPath path = thread.open.empty() ? LaunchPath{} : thread.open.back().path;
  const bool room = HasRoom(thread.open.size());
  if (room) {
    PathId& last = thread.open.empty() ? thread.last_root : thread.open.back().last_child;
    const PathId child =
        paths_.ChildAfter(path.path, last, slice.kind, slice.event_name, slice.args_text);
    if (child != path.path) path.path = last = child;
  }
  if (slice.kind == HostKind::kOperator) Remember(slice, path);
  if (!room || slice.dur == 0) return path;
  const int64_t end = EndOf(slice);
  if (!thread.open.empty() && end > thread.open.back().end) {
    thread.crossed_at = std::min(thread.crossed_at, thread.open.back().end);
  }
  thread.open.push_back({end, path, 0});
  ++held_;
  return path;
}

void CallNesting::AddTotal(uint32_t use, int64_t ns) {
  if (use >= totals_ns_.size()) totals_ns_.resize(use + 1);
  AddTime(totals_ns_[use], ns);
}

Status CallNesting::Add(const HostSlice& slice, const CallUse& counted, const TakeCall& take) {
  LaunchPath around;
  uint32_t number = 0;
  bool within_itself = false;
  if (Thread* thread = threads_.Of(slice.track); thread != nullptr) {
    if (thread->number == 0) thread->number = static_cast<uint32_t>(threads_.count());
    Close(*thread, slice.ts);
    if (!thread->open.empty()) around = thread->open.back().path;
    if (slice.kind != HostKind::kCall) {
      const LaunchPath path = Enter(*thread, slice);
      const bool is_counted = slice.kind == HostKind::kOperator && path.path != around.path;
      if (is_counted && graphs_.is_open()) graphs_.Enter(slice.track, path.path);
      within_itself = path.path == around.path ? paths_.IsOn(path.path, slice.event_name)
                                               : paths_.node(path.path).recursive;
    }
    number = thread->number;
  }
  if (!within_itself) AddTotal(counted.use, slice.dur);
  if (slice.waits)
    syncs_.Add(number, {slice.ts, EndOf(slice)}, {counted.step(), slice.event_name, around.path});
  if (slice.kind != HostKind::kCall || !slice.has_correlation) return Done{};
  const bool no_operator = paths_.node(around.path).op == 0;
  if (no_operator && slice.has_external_id) {
    const LaunchPath by_id = PathOf(slice.external_id);
    if (by_id.path != 0) around = by_id;
  }
  const LaunchCall call{slice.correlation, slice.id, slice.ts, around.path, around.forward, number};
  if (slice.graph_call != GraphCall::kNone) {
    TRACEDB_TRY(graphs_.Take({slice.graph_call, slice.id, slice.track, slice.ts, slice.dur,
                              slice.correlation, around.path, around.forward}));
  }
  return take(call);
}

LaunchPath CallNesting::PathOf(int64_t external_id) const {
  const LaunchPath* path = by_external_id_.Find(0, external_id);
  return path != nullptr ? *path : LaunchPath{};
}

}  // namespace tracedb
