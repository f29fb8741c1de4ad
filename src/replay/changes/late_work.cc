#include "replay/changes/late_work.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "replay/changes/activity_names.h"
#include "replay/changes/peer_times.h"
#include "replay/changes/pipeline_places.h"
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
    TRACEDB_TRY(ReadPeers(ranks));
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
        for (const auto& [trace, peers] : peers_) {
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
  struct Peers {
    std::vector<uint32_t> traces;
    bool do_the_same;  // what none of them does is more than its share
  };

  // Ranks of the same stage do the same; where a rank is alone in its stage, or nobody knows which
  // stage it is of, it can be compared with others only by what they do as well.
  Status ReadPeers(const std::set<int64_t>& ranks) {
    TRACEDB_ASSIGN(places, PipelinePlaces(db_, rows_));
    bool has_messages = false;  // asked only where stages are not known
    if (places.empty()) {
      TRACEDB_ASSIGN(has_some, HasMessages(db_, rows_));
      has_messages = has_some;
    }
    for (uint32_t trace = 0; trace < rows_.traces.size(); ++trace) {
      const int64_t rank = rows_.traces[trace].rank;
      if (!ranks.contains(rank)) continue;
      const auto own = places.find(rank);
      std::vector<uint32_t> alike, others;
      for (uint32_t other = 0; other < rows_.traces.size(); ++other) {
        if (rows_.traces[other].rank == rank) continue;
        others.push_back(other);
        const auto place = places.find(rows_.traces[other].rank);
        if (own != places.end() && place != places.end() && place->second == own->second) {
          alike.push_back(other);
        }
      }
      const bool is_staged = own != places.end() && !alike.empty();
      const bool do_the_same = places.empty() ? !has_messages : is_staged;
      peers_.emplace_back(trace, Peers{is_staged ? alike : others, do_the_same});
    }
    return Done{};
  }

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
  void Compare(const Named& named, uint32_t trace, const Peers& peers, int64_t from_ns,
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
  std::vector<std::pair<uint32_t, Peers>> peers_;  // by trace of a late rank
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
