#include "derive/call_nesting.h"

#include <algorithm>
#include <limits>

namespace tracedb {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr size_t kForwardTracksMax = 64;  // threads that run forward passes

int64_t EndOf(const HostSlice& slice) {
  int64_t end;
  return __builtin_add_overflow(slice.ts, slice.dur, &end) ? kNever : end;
}

}  // namespace

CallNesting::CallNesting(StepFinder& steps, int64_t base_ns, const Limits& limits, CallPaths& paths,
                         HostUse& uses, SyncCalls& syncs, GraphCaptures& graphs)
    : steps_(steps),
      base_ns_(base_ns),
      limits_(limits),
      paths_(paths),
      uses_(uses),
      syncs_(syncs),
      graphs_(graphs),
      by_external_id_(limits.recent),
      by_sequence_(limits.recent) {}

CallNesting::Thread* CallNesting::ThreadOf(int64_t track) {
  if (last_thread_ != nullptr && last_track_ == track) return last_thread_;
  auto found = threads_.find(track);
  if (found == threads_.end()) {
    if (threads_.size() >= limits_.threads_max) return nullptr;
    found = threads_.emplace(track, Thread()).first;
    found->second.number = static_cast<uint32_t>(threads_.size());
  }
  last_track_ = track;
  last_thread_ = &found->second;
  return last_thread_;
}

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

// The innermost of a kind has the thread's time; of several that are open the last that began.
void CallNesting::CountSelf(Thread& thread, size_t kind, int64_t now) {
  std::vector<Owner>& owners = thread.owners[kind];
  int64_t& counted_to = thread.counted_to[kind];
  while (!owners.empty()) {
    const Owner& owner = owners.back();
    const int64_t until = std::min(owner.end, now);
    if (until > counted_to) {  // never both at the ends of 64 bits: it has been open since
      AddTime(uses_[owner.use].self_ns, until - counted_to);
      counted_to = until;
    }
    if (owner.end > now) return;
    owners.pop_back();
    --held_;
  }
  counted_to = std::max(counted_to, now);
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

uint32_t CallNesting::UseOf(const StepNumber& step, const HostSlice& slice) {
  if (step != near_step_) {
    near_step_ = step;
    near_uses_.assign(kNearUses, NearUse{});
  }
  const auto mixed = static_cast<uint64_t>(slice.event_name * 5 + slice.args_text * 3 +
                                           static_cast<int64_t>(slice.kind));
  NearUse& near = near_uses_[mixed % kNearUses];
  if (near.event_name != slice.event_name || near.args_text != slice.args_text ||
      near.kind != slice.kind) {
    near = {slice.event_name, slice.args_text, slice.kind,
            uses_.Find({step, slice.kind, slice.event_name, slice.args_text})};
  }
  return near.use;
}

Status CallNesting::Add(const HostSlice& slice, const TakeCall& take) {
  int64_t start_ns;
  StepNumber step;
  if (!__builtin_add_overflow(slice.ts, base_ns_, &start_ns)) step = steps_.At(start_ns);
  const uint32_t use = UseOf(step, slice);
  HostSums& sums = uses_[use];
  ++sums.calls;
  LaunchPath around;
  uint32_t number = 0;
  bool within_itself = false;
  if (Thread* thread = ThreadOf(slice.track); thread != nullptr) {
    Close(*thread, slice.ts);
    if (!thread->open.empty()) around = thread->open.back().path;
    if (slice.kind != HostKind::kCall) {
      const LaunchPath path = Enter(*thread, slice);
      const bool is_counted = slice.kind == HostKind::kOperator && path.path != around.path;
      if (is_counted && graphs_.is_open()) graphs_.Enter(slice.track, path.path);
      within_itself = path.path == around.path ? paths_.IsOn(path.path, slice.event_name)
                                               : paths_.node(path.path).recursive;
    }
    Own(*thread, slice, use);
    number = thread->number;
  }
  if (!within_itself) AddTime(sums.total_ns, slice.dur);
  if (slice.waits)
    syncs_.Add(number, {slice.ts, EndOf(slice)}, {step, slice.event_name, around.path});
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

// From its start on the thread's time, among its kind, is its own.
void CallNesting::Own(Thread& thread, const HostSlice& slice, uint32_t use) {
  const auto kind = static_cast<size_t>(slice.kind);
  if (slice.dur == 0) return;
  CountSelf(thread, kind, slice.ts);
  if (!HasRoom(thread.owners[kind].size())) return;
  thread.owners[kind].push_back({EndOf(slice), use});
  ++held_;
}

void CallNesting::Finish() {
  for (auto& [track, thread] : threads_) {
    for (size_t kind = 0; kind < kHostKinds; ++kind) CountSelf(thread, kind, kNever);
  }
}

LaunchPath CallNesting::PathOf(int64_t external_id) const {
  const LaunchPath* path = by_external_id_.Find(0, external_id);
  return path != nullptr ? *path : LaunchPath{};
}

}  // namespace tracedb
