#include "replay/changes/late_slices.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "replay/changes/held_slices.h"
#include "replay/changes/late_steps.h"
#include "replay/changes/late_work.h"
#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

// What ranks take for a slice of the host of that name in that step, on average; 0: they have none.
// ?1 the name, ?2 the ranks' traces as JSON, ?3 the step.
constexpr const char* kMeanSql =
    "WITH named AS (SELECT n.id FROM _event_name n WHERE n.name = ?1) "
    "SELECT sum(total_ns) / sum(calls) FROM _host_use "
    "WHERE trace_id IN (SELECT value FROM json_each(?2)) AND step IS ?3 AND event_name IN named";

// What held a host, on which of its threads, and in which step it began: it may be that before the
// collective's.
constexpr const char* kSliceSql =
    "SELECT dur_ns, name, coalesce((SELECT track FROM _cpu_slice WHERE id = ?1), "
    "  (SELECT track FROM _python_slice WHERE id = ?1), "
    "  (SELECT track FROM _runtime_slice WHERE id = ?1)), "
    "  (SELECT p.step FROM _track t JOIN _step p ON p.track = t.id "
    "   WHERE t.trace_id = slices.trace_id AND p.ts + t.base_ns <= slices.ts_ns "
    "     AND slices.ts_ns < p.ts + t.base_ns + p.dur ORDER BY p.ts, p.id LIMIT 1) "
    "FROM slices WHERE slice_id = ?1";

class LateFinder {
 public:
  LateFinder(SqliteDb& db, const JobRows& rows, const std::set<int64_t>& ranks)
      : db_(db), rows_(rows), ranks_(ranks), held_slices_(rows), late_steps_(rows) {
    for (uint32_t i = 0; i < rows.activities.size(); ++i) {
      const Activity& activity = rows.activities[i];
      if (activity.collective != kNone && ranks.contains(RankOf(i))) parts_[activity.slice_id] = i;
    }
  }

  Result<Lateness> Find() {
    for (const int64_t rank : ranks_) TRACEDB_TRY(ReadCauses(rank));
    Lateness all;
    if (!slow_steps_.empty()) {
      TRACEDB_TRY(FindLateWork(db_, rows_, ranks_, slow_steps_, all.slices));
    }
    TRACEDB_TRY(FindHidden(all.slices));
    for (const Stall& stall : stalls_) TRACEDB_TRY(Compare(stall));
    all.host_steps = std::move(host_steps_);
    for (const auto& [slice_id, late_ns] : late_ns_) {
      if (late_ns > 0) all.slices.push_back({slice_id, late_ns});
    }
    return all;
  }

 private:
  // A collective that waited for a rank whose host was held by a slice.
  struct Stall {
    int64_t slice_id;
    uint32_t part;  // the rank's, in activities
  };

  struct Held {
    std::string name;
    int64_t dur_ns = 0;
    int64_t step = kNoStep;
    bool is_launching = true;  // its thread does
  };

  using SliceOfRank = std::map<int64_t, HeldSlice>;

  int64_t RankOf(uint32_t activity) const {
    return rows_.traces[rows_.activities[activity].trace].rank;
  }

  // Who is never the last has no cause: its GPU and its host are looked at both.
  Status FindHidden(std::vector<LateSlice>& found) {
    std::set<int64_t> hidden;
    for (const auto& [slice_id, part] : parts_) {
      if (!last_.contains(RankOf(part))) hidden.insert(RankOf(part));
    }
    if (last_.empty() || hidden.empty()) return Done{};
    std::set<int64_t> steps;
    std::ranges::set_difference(host_steps_, slow_steps_, std::inserter(steps, steps.end()));
    host_steps_.insert(slow_steps_.begin(), slow_steps_.end());
    return steps.empty() ? Status(Done{}) : FindLateWork(db_, rows_, hidden, steps, found);
  }

  Status ReadCauses(int64_t rank) {
    TRACEDB_ASSIGN(causes,
                   db_.Prepare("SELECT id, cause_slice_id, step, cause FROM _collective_cause "
                               "WHERE rank = ?1 AND ifnull(cause, '') <> 'upstream' "
                               "AND upstream_id IS NULL AND carried_id IS NULL ORDER BY id"));
    TRACEDB_TRY(causes.Bind(1, rank));
    for (;;) {
      TRACEDB_ASSIGN(any, causes.Step());
      if (!any) return Done{};
      const auto part = parts_.find(causes.Int(0));
      if (part == parts_.end()) continue;
      last_.insert(rank);
      const int64_t step = causes.Type(2) == SqlType::kInteger ? causes.Int(2) : kNoStep;
      const std::string_view cause = causes.Text(3);
      const bool has_slice = causes.Type(1) == SqlType::kInteger && causes.Int(1) > 0;
      for (const int64_t lost_in : late_steps_.Of(part->second, step)) {
        if (cause != "host") slow_steps_.insert(lost_in);
        if (cause != "device" || !has_slice) host_steps_.insert(lost_in);
      }
      if (cause == "host" && has_slice) stalls_.push_back({causes.Int(1), part->second});
    }
  }

  // Two ranks that load data at the same time hide each other: both are compared with those that
  // did not.
  Status Compare(const Stall& stall) {
    TRACEDB_ASSIGN(held, HeldBy(stall.slice_id));
    if (held->dur_ns <= 0) return Done{};
    // No edge is on such a thread; that the launching one waited is seen in its own stretches.
    if (!held->is_launching) return Done{};
    TRACEDB_ASSIGN(alike, HeldAlike(stall, *held));
    std::optional<int64_t> others_ns = LastOfOthers(stall, alike);
    if (!others_ns.has_value()) {
      alike = {{RankOf(stall.part), {stall.slice_id, held->dur_ns}}};
      others_ns = LastOfOthers(stall, alike);
    }
    if (!others_ns.has_value()) return Done{};
    TRACEDB_ASSIGN(mean_ns, OthersNs(held->name, held->step, alike));
    const Collective& collective = rows_.collectives[rows_.activities[stall.part].collective];
    for (uint32_t p = 0; p < collective.part_count; ++p) {
      const uint32_t part = rows_.parts[collective.first_part + p];
      const auto slice = alike.find(RankOf(part));
      if (slice == alike.end()) continue;
      const int64_t late_ns = DifferenceNs(rows_.activities[part].start_ns, *others_ns);
      const int64_t longer_ns = DifferenceNs(slice->second.dur_ns, mean_ns);
      int64_t& most_ns = late_ns_[slice->second.slice_id];
      most_ns = std::max(most_ns, std::min(late_ns, longer_ns));
    }
    return Done{};
  }

  // Of the ranks that are looked at and take part: the own one, and those with a slice of that name
  // in the step that is at least half as long.
  Result<SliceOfRank> HeldAlike(const Stall& stall, const Held& held) {
    SliceOfRank alike = {{RankOf(stall.part), {stall.slice_id, held.dur_ns}}};
    if (ranks_.size() == 1) return alike;
    const Collective& collective = rows_.collectives[rows_.activities[stall.part].collective];
    for (uint32_t p = 0; p < collective.part_count; ++p) {
      const uint32_t trace = rows_.activities[rows_.parts[collective.first_part + p]].trace;
      const int64_t rank = rows_.traces[trace].rank;
      if (!ranks_.contains(rank) || alike.contains(rank)) continue;
      TRACEDB_ASSIGN(longest, held_slices_.Longest(db_, trace, held.name, held.step));
      if (longest.has_value() && longest->dur_ns >= held.dur_ns - longest->dur_ns) {
        alike.emplace(rank, *longest);
      }
    }
    return alike;
  }

  // When the last of the other ranks came.
  std::optional<int64_t> LastOfOthers(const Stall& stall, const SliceOfRank& alike) const {
    const Collective& collective = rows_.collectives[rows_.activities[stall.part].collective];
    std::optional<int64_t> last_ns;
    for (uint32_t p = 0; p < collective.part_count; ++p) {
      const uint32_t part = rows_.parts[collective.first_part + p];
      if (alike.contains(RankOf(part))) continue;
      const int64_t start_ns = rows_.activities[part].start_ns;
      last_ns = std::max(last_ns.value_or(start_ns), start_ns);
    }
    return last_ns;
  }

  Result<const Held*> HeldBy(int64_t slice_id) {
    const auto [place, is_new] = held_by_.try_emplace(slice_id);
    if (!is_new) return &place->second;
    if (!slice_.has_value()) {
      TRACEDB_ASSIGN(slice, db_.Prepare(kSliceSql));
      slice_.emplace(std::move(slice));
    }
    TRACEDB_TRY(slice_->Bind(1, slice_id));
    TRACEDB_ASSIGN(any, slice_->Step());
    if (any) {
      const bool is_launching = slice_->Type(2) == SqlType::kNull || Launches(slice_->Int(2));
      const int64_t step = slice_->Type(3) == SqlType::kNull ? kNoStep : slice_->Int(3);
      place->second = {std::string(slice_->Text(1)), slice_->Int(0), step, is_launching};
    }
    slice_->Reset();
    return &place->second;
  }

  bool Launches(int64_t track) {
    if (launching_.empty()) {
      for (const Call& call : rows_.calls) launching_.insert(rows_.threads[call.thread].track_id);
    }
    return launching_.contains(track);
  }

  // Of a name and step there are many late slices: asked once.
  Result<int64_t> OthersNs(const std::string& name, int64_t step, const SliceOfRank& but) {
    std::vector<int64_t> left_out;
    for (const auto& [rank, slice] : but) left_out.push_back(rank);
    const auto [place, is_new] = others_ns_.try_emplace({step, name, std::move(left_out)}, 0);
    if (!is_new) return place->second;
    std::string traces;
    for (const JobTrace& trace : rows_.traces) {
      if (but.contains(trace.rank)) continue;
      traces += (traces.empty() ? "[" : ",") + std::to_string(trace.trace_id);
    }
    traces += traces.empty() ? "[]" : "]";
    if (!mean_.has_value()) {
      TRACEDB_ASSIGN(mean, db_.Prepare(kMeanSql));
      mean_.emplace(std::move(mean));
    }
    TRACEDB_TRY(mean_->Bind(1, name));
    TRACEDB_TRY(mean_->Bind(2, traces));
    TRACEDB_TRY(step == kNoStep ? mean_->BindNull(3) : mean_->Bind(3, step));
    TRACEDB_ASSIGN(any, mean_->Step());
    place->second = any ? mean_->Int(0) : 0;
    mean_->Reset();
    return place->second;
  }

  SqliteDb& db_;
  const JobRows& rows_;
  const std::set<int64_t>& ranks_;
  HeldSlices held_slices_;
  LateSteps late_steps_;
  std::unordered_map<int64_t, uint32_t> parts_;  // of these ranks, by slice_id
  std::set<int64_t> last_;                       // those that came last of themselves
  std::vector<Stall> stalls_;
  std::map<int64_t, int64_t> late_ns_;         // by slice_id
  std::set<int64_t> slow_steps_;               // in which a GPU came late
  std::set<int64_t> host_steps_;               // in which a host did
  std::unordered_map<int64_t, Held> held_by_;  // by slice_id
  std::unordered_set<int64_t> launching_;      // tracks of threads that launch something
  // By step and name, and the ranks that are none of the others.
  std::map<std::tuple<int64_t, std::string, std::vector<int64_t>>, int64_t> others_ns_;
  std::optional<SqliteStatement> slice_, mean_;
};

}  // namespace

Result<Lateness> LatenessOf(SqliteDb& db, const JobRows& rows, const std::set<int64_t>& ranks) {
  return LateFinder(db, rows, ranks).Find();
}

}  // namespace tracedb
