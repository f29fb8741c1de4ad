#include "replay/ideal_ranks.h"

#include <set>
#include <utility>

#include "replay/graph/replay_lanes.h"
#include "replay/graph/stop_watch.h"

namespace tracedb {
namespace {

// Of larger graphs ranks are replayed one by one: times of eight would take as much memory as all
// the rest.
constexpr size_t kTimesBytesMax = size_t{64} << 20;

std::optional<int64_t> OnlyRankNotIdeal(const std::vector<Change>& changes) {
  if (changes.size() != 1) return std::nullopt;
  Change all_but_one;
  all_but_one.ideal = "all";
  all_but_one.factor = changes.front().factor;
  all_but_one.except_rank = changes.front().except_rank;
  return changes.front() == all_but_one ? all_but_one.except_rank : std::nullopt;
}

}  // namespace

Result<std::optional<std::vector<ReplayedStep>>> IdealRanks::Steps(
    SqliteDb& db, const std::vector<Change>& changes) {
  using Found = std::optional<std::vector<ReplayedStep>>;
  if (graph_.rows().is_of_summaries) return Found();  // which know no ideal: it says so
  const std::optional<int64_t> rank = OnlyRankNotIdeal(changes);
  const std::optional<int64_t> before = std::exchange(asked_, rank);
  if (!rank.has_value() || !before.has_value() || *before >= *rank) return Found();
  if (graph_.nodes().size() > kTimesBytesMax / (kReplayLanes * sizeof(int64_t))) return Found();
  if (!by_rank_.contains(*rank)) TRACEDB_TRY(ReplayFrom(db, *rank));
  const auto steps = by_rank_.find(*rank);
  return steps != by_rank_.end() ? Found(steps->second) : Found();
}

// `rank`, where there is one, and those that come after it.
Status IdealRanks::ReplayFrom(SqliteDb& db, int64_t rank) {
  by_rank_.clear();
  if (!all_ideal_.has_value()) {
    Change change;
    change.ideal = "all";
    EdgeTimes weights = graph_.weights();
    TRACEDB_TRY(ideal_.Apply(db, change, weights));
    all_ideal_ = std::move(weights);
  }
  std::set<int64_t> ranks;
  for (const JobTrace& trace : graph_.rows().traces) {
    if (trace.rank >= rank) ranks.insert(trace.rank);
  }
  std::map<int64_t, uint32_t> lanes;
  for (const int64_t each : ranks) {
    if (lanes.size() < kReplayLanes) lanes.emplace(each, static_cast<uint32_t>(lanes.size()));
  }
  const std::vector<LaneWeight> recorded = ideal_.Recorded(lanes);
  StopWatch watch(db);
  ReplayLanes(graph_, *all_ideal_, recorded, &watch, times_);
  TRACEDB_TRY(watch.status());
  auto steps = steps_.StepsOfLanes(times_, kReplayLanes);
  for (const auto& [each, lane] : lanes) by_rank_[each] = std::move(steps[lane]);
  return Done{};
}

}  // namespace tracedb
