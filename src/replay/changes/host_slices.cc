#include "replay/changes/host_slices.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "replay/graph/host_owners.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

std::string IdsAsJson(const std::unordered_set<int64_t>& ids) {
  std::string json = "[";
  for (const int64_t id : ids) json += (json.size() > 1 ? "," : "") + std::to_string(id);
  return json + "]";
}

}  // namespace

void ShortenedSlices::Add(uint32_t thread, const RankClock& clock, int64_t start_ns, int64_t dur_ns,
                          uint32_t trace, std::optional<int64_t> step, double share) {
  const int64_t begin_ns = clock.Aligned(start_ns);
  if (step.has_value() && !IsInStep(trace, begin_ns, *step)) return;
  const int64_t end_ns = clock.Aligned(SumNs(start_ns, dur_ns));
  if (end_ns > begin_ns) slices_[thread].push_back({{begin_ns, end_ns}, share});
}

bool ShortenedSlices::IsInStep(uint32_t trace, int64_t at_ns, int64_t step) {
  if (steps_.empty()) {
    steps_.resize(rows_.traces.size());
    for (const JobStep& here : rows_.steps) {
      const Call& call = rows_.calls[here.call];
      steps_[rows_.TraceOf(call)].emplace_back(here.step, Interval{call.start_ns, call.end_ns});
    }
    for (auto& steps : steps_) {
      std::sort(steps.begin(), steps.end(),
                [](const auto& x, const auto& y) { return x.first < y.first; });
    }
  }
  const auto& steps = steps_[trace];
  auto at = std::partition_point(steps.begin(), steps.end(),
                                 [&](const auto& here) { return here.first < step; });
  for (; at != steps.end() && at->first == step; ++at) {
    if (at->second.start_ns <= at_ns && at_ns < at->second.end_ns) return true;
  }
  return false;
}

Status ShortenedSlices::Read(SqliteDb& db, const std::unordered_set<int64_t>& names,
                             std::optional<int64_t> rank, std::optional<int64_t> step,
                             double share) {
  if (names.empty()) return Done{};
  TRACEDB_ASSIGN(clocks, RankClocks::Read(db));
  std::unordered_map<int64_t, uint32_t> threads;  // by track
  for (uint32_t i = 0; i < rows_.threads.size(); ++i) threads[rows_.threads[i].track_id] = i;
  const std::string json = IdsAsJson(names);
  for (const EventTable table : kLongSliceTables) {
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT s.track, s.ts + t.base_ns, s.dur FROM " +
                                    std::string(EventTableName(table)) +
                                    " s JOIN _track t ON t.id = s.track "
                                    "WHERE s.id BETWEEN (SELECT first_row FROM _trace WHERE "
                                    "trace_id = ?1) AND (SELECT last_row FROM _trace WHERE "
                                    "trace_id = ?1) AND s.dur > 0 "
                                    "AND s.event_name IN (SELECT value FROM json_each(?2)) "
                                    "AND s.id NOT IN (SELECT id FROM _impossible_time)"));
    for (uint32_t trace = 0; trace < rows_.traces.size(); ++trace) {
      if (rank.has_value() && rows_.traces[trace].rank != *rank) continue;
      const RankClock clock = clocks.Of(rows_.traces[trace].trace_id);
      TRACEDB_TRY(rows.Bind(1, rows_.traces[trace].trace_id));
      TRACEDB_TRY(rows.Bind(2, json));
      for (;;) {
        TRACEDB_ASSIGN(any, rows.Step());
        if (!any) break;
        const auto thread = threads.find(rows.Int(0));
        if (thread == threads.end()) {
          ++elsewhere_;
          continue;
        }
        ++on_threads_;
        Add(thread->second, clock, rows.Int(1), rows.Int(2), trace, step, share);
      }
      rows.Reset();
    }
  }
  return Done{};
}

Status ShortenedSlices::ReadHeld(SqliteDb& db, HostOwners& owners,
                                 const std::unordered_set<int64_t>& names,
                                 std::optional<int64_t> rank, std::optional<int64_t> step,
                                 double share) {
  const std::vector<uint32_t> trace_of = TracesOfThreads();
  for (uint32_t thread = 0; thread < trace_of.size(); ++thread) {
    const uint32_t trace = trace_of[thread];
    if (trace == kNone || (rank.has_value() && rows_.traces[trace].rank != *rank)) continue;
    TRACEDB_ASSIGN(owned,
                   owners.Of(db, rows_.threads[thread].track_id, rows_.traces[trace].trace_id));
    for (const OwnedStretch& stretch : *owned) {
      if (!names.contains(stretch.event_name)) continue;
      if (step.has_value() && !IsInStep(trace, stretch.range.start_ns, *step)) continue;
      slices_[thread].push_back({stretch.range, share});
    }
  }
  return Done{};
}

std::vector<uint32_t> ShortenedSlices::TracesOfThreads() const {
  std::vector<uint32_t> trace_of(rows_.threads.size(), kNone);
  for (const Call& call : rows_.calls) trace_of[call.thread] = rows_.TraceOf(call);
  return trace_of;
}

Status ShortenedSlices::ReadOne(SqliteDb& db, int64_t slice_id, int64_t save_ns) {
  TRACEDB_ASSIGN(clocks, RankClocks::Read(db));
  is_one_by_one_ = true;
  for (const EventTable table : kLongSliceTables) {
    TRACEDB_ASSIGN(row, db.Prepare("SELECT s.track, s.ts + t.base_ns, s.dur, t.trace_id FROM " +
                                   std::string(EventTableName(table)) +
                                   " s JOIN _track t ON t.id = s.track "
                                   "WHERE s.id = ?1 AND s.dur > 0 "
                                   "AND s.id NOT IN (SELECT id FROM _impossible_time)"));
    TRACEDB_TRY(row.Bind(1, slice_id));
    TRACEDB_ASSIGN(any, row.Step());
    if (!any) continue;
    const RankClock clock = clocks.Of(row.Int(3));
    const int64_t all_ns =
        DifferenceNs(clock.Aligned(SumNs(row.Int(1), row.Int(2))), clock.Aligned(row.Int(1)));
    if (all_ns <= 0) continue;
    const double share = static_cast<double>(save_ns) / static_cast<double>(all_ns);
    // Of another capture: this one is as it was.
    const int64_t trace_id = row.Int(3);
    if (std::none_of(rows_.traces.begin(), rows_.traces.end(),
                     [&](const JobTrace& trace) { return trace.trace_id == trace_id; })) {
      continue;
    }
    ++elsewhere_;
    for (uint32_t i = 0; i < rows_.threads.size(); ++i) {
      if (rows_.threads[i].track_id != row.Int(0)) continue;
      ++on_threads_;
      Add(i, clock, row.Int(1), row.Int(2), 0, std::nullopt, std::min(share, 1.0));
    }
  }
  return Done{};
}

void ShortenedSlices::AddAll(std::optional<int64_t> rank, std::optional<int64_t> step,
                             double share) {
  constexpr Interval kAlways = {std::numeric_limits<int64_t>::min() / 2,
                                std::numeric_limits<int64_t>::max() / 2};
  const std::vector<uint32_t> trace_of = TracesOfThreads();
  for (uint32_t thread = 0; thread < trace_of.size(); ++thread) {
    const uint32_t trace = trace_of[thread];
    if (trace == kNone || (rank.has_value() && rows_.traces[trace].rank != *rank)) continue;
    if (!step.has_value()) slices_[thread].push_back({kAlways, share});
    for (const JobStep& here : rows_.steps) {
      const Call& call = rows_.calls[here.call];
      if (here.step != step || rows_.TraceOf(call) != trace) continue;
      slices_[thread].push_back({{call.start_ns, call.end_ns}, share});
    }
  }
}

void ShortenedSlices::Merge() {
  for (std::vector<Part>& list : slices_) {
    std::sort(list.begin(), list.end(),
              [](const Part& a, const Part& b) { return a.range.start_ns < b.range.start_ns; });
    if (is_one_by_one_) continue;
    std::vector<Part> merged;
    for (const Part& part : list) {
      if (!merged.empty() && part.range.start_ns <= merged.back().range.end_ns) {
        merged.back().range.end_ns = std::max(merged.back().range.end_ns, part.range.end_ns);
      } else {
        merged.push_back(part);
      }
    }
    list = std::move(merged);
  }
}

double ShortenedSlices::SavedOn(uint32_t thread, Interval range) const {
  double saved = 0;
  const std::vector<Part>& list = slices_[thread];
  // Slices one by one may be within longer ones: there are few, and each is looked at.
  auto at = is_one_by_one_ ? list.begin()
                           : std::partition_point(list.begin(), list.end(), [&](const Part& part) {
                               return part.range.end_ns <= range.start_ns;
                             });
  for (; at != list.end() && at->range.start_ns < range.end_ns; ++at) {
    const int64_t open_ns = std::max<int64_t>(0, at->range.Intersection(range).length());
    saved += static_cast<double>(open_ns) * at->share;
  }
  return saved;
}

double ShortenedSlices::Saved(uint32_t thread, uint32_t other, Interval range) const {
  double saved = thread == kNone ? 0 : SavedOn(thread, range);
  if (other == kNone || other == thread) return saved;
  saved += SavedOn(other, range);
  if (thread == kNone || is_one_by_one_) return saved;
  const std::vector<Part>& list = slices_[thread];
  auto at = std::partition_point(list.begin(), list.end(), [&](const Part& part) {
    return part.range.end_ns <= range.start_ns;
  });
  for (; at != list.end() && at->range.start_ns < range.end_ns; ++at) {
    saved -= SavedOn(other, at->range.Intersection(range));  // what both have counts once
  }
  return saved;
}

}  // namespace tracedb
