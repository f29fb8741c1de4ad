#include "replay/changes/late_work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "replay/peers/activity_names.h"
#include "replay/peers/late_peers.h"
#include "replay/peers/peer_times.h"
#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

// One kernel, copy or fill in one of the steps.
struct Work {
  int64_t name;  // ActivityNames
  uint32_t trace;
  int64_t order_ns;
  uint32_t activity;
};
using Works = std::vector<Work>;

// The works of one name, trace by trace, each in the order in which they were launched.
struct Named {
  Works::const_iterator begin, end;
};

class LateWork {
 public:
  LateWork(SqliteDb& db, const JobRows& rows, ActivityNames names)
      : db_(db), rows_(rows), names_(std::move(names)) {}

  Status Find(const std::set<int64_t>& ranks, const std::set<int64_t>& steps, const StepEnds& ends,
              std::vector<LateSlice>& found) {
    TRACEDB_ASSIGN(all_peers, PeersOfLate(db_, rows_, ranks));
    std::set<int64_t> all = steps;
    for (const auto& [of, from_ns] : ends) all.insert(of.second);
    std::map<int64_t, std::vector<uint32_t>> by_step;
    for (uint32_t i = 0; i < rows_.activities.size(); ++i) {
      const Activity& activity = rows_.activities[i];
      if (activity.kind == GpuKind::kCommunication || !all.contains(rows_.StepOf(activity)))
        continue;
      by_step[rows_.StepOf(activity)].push_back(i);
    }
    for (const auto& [step, activities] : by_step) {
      const Works works = InOrder(activities);
      for (auto first = works.cbegin(); first != works.cend();) {
        const auto last = std::find_if(first, works.cend(),
                                       [&](const Work& work) { return work.name != first->name; });
        for (const auto& [trace, peers] : all_peers) {
          const auto end = ends.find({trace, step});
          const bool is_whole = steps.contains(step);
          if (!is_whole && end == ends.end()) continue;
          const int64_t from_ns = is_whole ? std::numeric_limits<int64_t>::min() : end->second;
          Compare({first, last}, trace, peers, from_ns, found);
        }
        first = last;
      }
    }
    return Done{};
  }

 private:
  Works InOrder(const std::vector<uint32_t>& activities) const {
    Works works;
    works.reserve(activities.size());
    for (const uint32_t i : activities) {
      const Activity& activity = rows_.activities[i];
      const int64_t order_ns =
          activity.call == kNone ? activity.start_ns : rows_.calls[activity.call].start_ns;
      works.push_back({names_.Of(activity), rows_.TraceOf(activity), order_ns, i});
    }
    std::sort(works.begin(), works.end(), [this](const Work& a, const Work& b) {
      const Activity& x = rows_.activities[a.activity];
      const Activity& y = rows_.activities[b.activity];
      return std::tie(a.name, a.trace, a.order_ns, x.finish_ns, x.slice_id) <
             std::tie(b.name, b.trace, b.order_ns, y.finish_ns, y.slice_id);
    });
    return works;
  }

  static Named OfTrace(const Named& named, uint32_t trace) {
    const auto [begin, end] =
        std::equal_range(named.begin, named.end, Work{0, trace, 0, 0},
                         [](const Work& a, const Work& b) { return a.trace < b.trace; });
    return {begin, end};
  }

  int64_t LengthNs(const Work& work) const {
    const Activity& activity = rows_.activities[work.activity];
    return DifferenceNs(activity.finish_ns, activity.start_ns);
  }

  // Chance makes some longer and some shorter: only what is left of it in sum makes a rank late,
  // and is taken from those that are longer.
  void Compare(const Named& named, uint32_t trace, const LatePeers& peers, int64_t from_ns,
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
      const int64_t own_ns = LengthNs(*work);
      const bool is_meant = rows_.activities[work->activity].start_ns >= from_ns;
      const int64_t excess_ns =
          taken_ns.empty() || !is_meant ? 0 : own_ns - LowerMedianNs(std::move(taken_ns));
      net_ns = SumNs(net_ns, excess_ns);
      longer_ns.push_back(std::max<int64_t>(0, excess_ns));
      longer_sum_ns = SumNs(longer_sum_ns, longer_ns.back());
    }
    if (net_ns <= 0) return;
    for (auto work = own.begin; work != own.end; ++work) {
      const int64_t longer = longer_ns[static_cast<size_t>(work - own.begin)];
      const int64_t late_ns = ShareNs(longer, net_ns, longer_sum_ns);
      if (late_ns > 0) found.push_back({rows_.activities[work->activity].slice_id, late_ns});
    }
  }

  SqliteDb& db_;
  const JobRows& rows_;
  const ActivityNames names_;
};

}  // namespace

Status FindLateWork(SqliteDb& db, const JobRows& rows, const std::set<int64_t>& ranks,
                    const std::set<int64_t>& steps, const StepEnds& ends,
                    std::vector<LateSlice>& found) {
  TRACEDB_ASSIGN(names, ActivityNames::Read(db, rows));
  return LateWork(db, rows, std::move(names)).Find(ranks, steps, ends, found);
}

}  // namespace tracedb
