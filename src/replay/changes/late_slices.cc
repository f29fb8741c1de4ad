#include "replay/changes/late_slices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "replay/changes/held_slices.h"
#include "replay/changes/late_steps.h"
#include "replay/changes/late_work.h"
#include "replay/changes/others_use.h"
#include "replay/changes/step_ranges.h"
#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

// What held a host, on which of its threads, and when it began.
constexpr const char* kSliceSql =
    "SELECT dur_ns, name, coalesce((SELECT track FROM _cpu_slice WHERE id = ?1), "
    "  (SELECT track FROM _python_slice WHERE id = ?1), "
    "  (SELECT track FROM _runtime_slice WHERE id = ?1)), trace_id, ts_ns "
    "FROM slices WHERE slice_id = ?1";

constexpr const char* kStepsSql =
    "SELECT p.step, p.ts + t.base_ns, p.dur FROM _track t JOIN _step p ON p.track = t.id "
    "WHERE t.trace_id = ?1 AND p.step IS NOT NULL AND p.dur >= 0 ORDER BY p.ts, p.id";

class LateFinder {
 public:
  LateFinder(SqliteDb& db, const JobRows& rows, const std::set<int64_t>& ranks, GpuWork& gpu_work)
      : db_(db),
        rows_(rows),
        ranks_(ranks),
        gpu_work_(gpu_work),
        held_slices_(rows),
        late_steps_(rows) {
    for (uint32_t i = 0; i < rows.activities.size(); ++i) {
      const Activity& activity = rows.activities[i];
      const bool is_part = rows_.PartOf(activity).collective != kNone;
      if (is_part && ranks.contains(RankOf(i))) parts_[activity.slice_id] = i;
    }
  }

  Result<Lateness> Find() {
    for (const int64_t rank : ranks_) TRACEDB_TRY(ReadCauses(rank));
    Lateness all;
    if (!late_in_.empty()) {
      all.ends = Ends(true);
      all.peer_ends = Ends(false);
      TRACEDB_TRY(gpu_work_.FindLate(db_, ranks_, late_in_, all.ends, all.slices));
    }
    TRACEDB_TRY(ReadOthers());
    for (const Stall& stall : stalls_) TRACEDB_TRY(Compare(stall));
    all.steps = std::move(held_steps_);
    all.steps.insert(late_in_.begin(), late_in_.end());
    if (!late_in_.empty()) all.steps.insert(carried_to_.begin(), carried_to_.end());
    all.late_in = std::move(late_in_);
    all.slow_ranks = std::move(slow_ranks_);
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
    return rows_.traces[rows_.TraceOf(rows_.activities[activity])].rank;
  }

  Status ReadCauses(int64_t rank) {
    TRACEDB_ASSIGN(causes,
                   db_.Prepare("SELECT id, cause_slice_id, step, cause, carried_id IS NOT NULL "
                               "FROM _collective_cause WHERE rank = ?1 "
                               "AND ifnull(cause, '') <> 'upstream' AND upstream_id IS NULL "
                               "ORDER BY id"));
    TRACEDB_TRY(causes.Bind(1, rank));
    for (;;) {
      TRACEDB_ASSIGN(any, causes.Step());
      if (!any) return Done{};
      const auto part = parts_.find(causes.Int(0));
      if (part == parts_.end()) continue;
      const int64_t step = causes.Type(2) == SqlType::kInteger ? causes.Int(2) : kNoStep;
      if (causes.Int(4) != 0) {
        carried_to_.insert(step);
        continue;
      }
      const std::string_view cause = causes.Text(3);
      const bool has_slice = causes.Type(1) == SqlType::kInteger && causes.Int(1) > 0;
      if (cause != "host") slow_ranks_.insert(rank);
      const std::vector<int64_t> lost_in = late_steps_.Of(part->second, step);
      late_in_.insert(lost_in.begin(), lost_in.end());
      const std::optional<int64_t> ended = late_steps_.EndedLate(part->second, lost_in.back());
      if (ended.has_value()) ended_late_.insert(*ended);
      if (cause == "host" && has_slice) stalls_.push_back({causes.Int(1), part->second});
    }
  }

  StepEnds Ends(bool of_late_ranks) {
    StepEnds ends;
    for (uint32_t trace = 0; trace < rows_.traces.size(); ++trace) {
      if (ranks_.contains(rows_.traces[trace].rank) != of_late_ranks) continue;
      for (const int64_t step : ended_late_) {
        const std::optional<int64_t> met_ns = late_steps_.LastMet(trace, step);
        if (met_ns.has_value()) ends[{trace, step}] = *met_ns;
      }
    }
    return ends;
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
    held_steps_.insert(held->step);
    const int64_t mean_ns = others_->MeanNs(held->name, held->step, alike);
    const Collective& collective =
        rows_.collectives[rows_.PartOf(rows_.activities[stall.part]).collective];
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
    const Collective& collective =
        rows_.collectives[rows_.PartOf(rows_.activities[stall.part]).collective];
    for (uint32_t p = 0; p < collective.part_count; ++p) {
      const uint32_t trace =
          rows_.TraceOf(rows_.activities[rows_.parts[collective.first_part + p]]);
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
    const Collective& collective =
        rows_.collectives[rows_.PartOf(rows_.activities[stall.part]).collective];
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
      place->second = {std::string(slice_->Text(1)), slice_->Int(0), kNoStep, is_launching};
      TRACEDB_ASSIGN(step, StepAt(slice_->Int(3), slice_->Int(4)));
      place->second.step = step;
    }
    slice_->Reset();
    return &place->second;
  }

  // In which a slice began: it may be that before the collective's.
  Result<int64_t> StepAt(int64_t trace_id, int64_t at_ns) {
    const auto [place, is_new] = steps_.try_emplace(trace_id);
    if (is_new) {
      TRACEDB_ASSIGN(steps, db_.Prepare(kStepsSql));
      TRACEDB_TRY(steps.Bind(1, trace_id));
      for (;;) {
        TRACEDB_ASSIGN(any, steps.Step());
        if (!any) break;
        const int64_t start_ns = steps.Int(1);
        place->second.Add({start_ns, SumNs(start_ns, steps.Int(2))}, steps.Int(0));
      }
      place->second.Sort();
    }
    std::optional<int64_t> first;
    place->second.ForEachAround(at_ns, [&](int64_t step) { first = first.value_or(step); });
    return first.value_or(kNoStep);
  }

  Status ReadOthers() {
    std::set<std::string> names;
    for (const Stall& stall : stalls_) {
      TRACEDB_ASSIGN(held, HeldBy(stall.slice_id));
      if (held->dur_ns > 0) names.insert(held->name);
    }
    TRACEDB_ASSIGN(others, OthersUse::Read(db_, rows_, names, ranks_));
    others_.emplace(std::move(others));
    return Done{};
  }

  bool Launches(int64_t track) {
    if (launching_.empty()) {
      for (const Call& call : rows_.calls) launching_.insert(rows_.threads[call.thread].track_id);
    }
    return launching_.contains(track);
  }

  SqliteDb& db_;
  const JobRows& rows_;
  const std::set<int64_t>& ranks_;
  GpuWork& gpu_work_;
  HeldSlices held_slices_;
  LateSteps late_steps_;
  std::unordered_map<int64_t, uint32_t> parts_;  // of these ranks, by slice_id
  std::vector<Stall> stalls_;
  std::map<int64_t, int64_t> late_ns_;             // by slice_id
  std::set<int64_t> late_in_;                      // steps in which a rank lost time
  std::set<int64_t> carried_to_;                   // steps to which it carried that
  std::set<int64_t> ended_late_;                   // steps after whose collectives it did
  std::set<int64_t> held_steps_;                   // in which a slice held a host
  std::set<int64_t> slow_ranks_;                   // whose GPU did, or who knows what
  std::unordered_map<int64_t, Held> held_by_;      // by slice_id
  std::unordered_set<int64_t> launching_;          // tracks of threads that launch something
  std::unordered_map<int64_t, StepRanges> steps_;  // by trace_id
  std::optional<OthersUse> others_;
  std::optional<SqliteStatement> slice_;
};

}  // namespace

Result<Lateness> LatenessOf(SqliteDb& db, const JobRows& rows, const std::set<int64_t>& ranks,
                            GpuWork& gpu_work) {
  return LateFinder(db, rows, ranks, gpu_work).Find();
}

}  // namespace tracedb
