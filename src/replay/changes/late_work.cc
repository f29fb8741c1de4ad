#include "replay/changes/late_work.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "replay/peers/late_peers.h"
#include "replay/peers/peer_times.h"
#include "tracedb/base/interval.h"

namespace tracedb {

Status GpuWork::FindLate(SqliteDb& db, const std::set<int64_t>& ranks,
                         const std::set<int64_t>& steps, const StepEnds& ends,
                         std::vector<LateSlice>& found) {
  if (!likes_.has_value()) {
    TRACEDB_ASSIGN(names, ActivityNames::Read(db, rows_));
    likes_ = Find(names);
  }
  TRACEDB_ASSIGN(all_peers, PeersOfLate(db, rows_, ranks));
  std::set<int64_t> all = steps;
  for (const auto& [of, from_ns] : ends) all.insert(of.second);
  const auto begin = likes_->works.cbegin();
  for (size_t i = 0; i < likes_->groups.size(); ++i) {
    const Group& group = likes_->groups[i];
    if (!all.contains(group.step)) continue;
    const bool is_last = i + 1 == likes_->groups.size();
    const Named named{begin + group.first,
                      is_last ? likes_->works.cend() : begin + likes_->groups[i + 1].first};
    for (const auto& [trace, peers] : all_peers) {
      const auto end = ends.find({trace, group.step});
      const bool is_whole = steps.contains(group.step);
      if (!is_whole && end == ends.end()) continue;
      const int64_t from_ns = is_whole ? std::numeric_limits<int64_t>::min() : end->second;
      Compare(named, trace, peers, from_ns, found);
    }
  }
  return Done{};
}

GpuWork::Likes GpuWork::Find(const ActivityNames& names) const {
  Likes likes;
  for (uint32_t i = 0; i < rows_.activities.size(); ++i) {
    if (rows_.activities[i].kind != GpuKind::kCommunication) likes.works.push_back(i);
  }
  const auto key = [&](uint32_t work) {
    const Activity& activity = rows_.activities[work];
    const int64_t order_ns =
        activity.call == kNone ? activity.start_ns : rows_.calls[activity.call].start_ns;
    return std::tuple(rows_.StepOf(activity), names.Of(activity), rows_.TraceOf(activity), order_ns,
                      int64_t{activity.finish_ns}, int64_t{activity.slice_id});
  };
  std::sort(likes.works.begin(), likes.works.end(),
            [&key](uint32_t a, uint32_t b) { return key(a) < key(b); });
  int64_t name = 0;  // of the group at hand; none has it
  for (uint32_t at = 0; at < likes.works.size(); ++at) {
    const Activity& activity = rows_.activities[likes.works[at]];
    const int64_t step = rows_.StepOf(activity);
    const bool is_like = name == names.Of(activity) && likes.groups.back().step == step;
    if (is_like) continue;
    name = names.Of(activity);
    likes.groups.push_back({step, at});
  }
  return likes;
}

GpuWork::Named GpuWork::OfTrace(const Named& named, uint32_t trace) const {
  const auto trace_of = [this](uint32_t work) { return rows_.TraceOf(rows_.activities[work]); };
  const auto begin = std::partition_point(named.begin, named.end,
                                          [&](auto work) { return trace_of(work) < trace; });
  const auto end =
      std::partition_point(begin, named.end, [&](auto work) { return trace_of(work) == trace; });
  return {begin, end};
}

int64_t GpuWork::LengthNs(uint32_t work) const {
  const Activity& activity = rows_.activities[work];
  return DifferenceNs(activity.finish_ns, activity.start_ns);
}

// Chance makes some longer and some shorter: only what is left of it in sum makes a rank late, and
// is taken from those that are longer.
void GpuWork::Compare(const Named& named, uint32_t trace, const LatePeers& peers, int64_t from_ns,
                      std::vector<LateSlice>& found) const {
  const Named own = OfTrace(named, trace);
  if (own.begin == own.end) return;
  std::vector<Named> of_peers;
  for (const uint32_t peer : peers.traces) of_peers.push_back(OfTrace(named, peer));
  std::vector<int64_t> longer_ns;
  int64_t net_ns = 0;
  int64_t longer_sum_ns = 0;
  for (auto work = own.begin; work != own.end; ++work) {
    std::vector<int64_t> taken_ns;
    for (const Named& peer : of_peers) {
      const bool has_it = peer.end - peer.begin > work - own.begin;
      if (has_it) taken_ns.push_back(LengthNs(peer.begin[work - own.begin]));
      if (!has_it && peers.do_the_same) taken_ns.push_back(0);
    }
    const bool is_meant = rows_.activities[*work].start_ns >= from_ns;
    const int64_t excess_ns =
        taken_ns.empty() || !is_meant ? 0 : LengthNs(*work) - LowerMedianNs(std::move(taken_ns));
    net_ns = SumNs(net_ns, excess_ns);
    longer_ns.push_back(std::max<int64_t>(0, excess_ns));
    longer_sum_ns = SumNs(longer_sum_ns, longer_ns.back());
  }
  if (net_ns <= 0) return;
  for (auto work = own.begin; work != own.end; ++work) {
    const int64_t longer = longer_ns[static_cast<size_t>(work - own.begin)];
    const int64_t late_ns = ShareNs(longer, net_ns, longer_sum_ns);
    if (late_ns > 0) found.push_back({rows_.activities[*work].slice_id, late_ns});
  }
}

}  // namespace tracedb
