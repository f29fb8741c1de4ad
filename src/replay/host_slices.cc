#include "replay/host_slices.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

std::string IdsAsJson(const std::unordered_set<int64_t>& ids) {
  std::string json = "[";
  for (const int64_t id : ids) json += (json.size() > 1 ? "," : "") + std::to_string(id);
  return json + "]";
}

// Of one list, which is merged.
int64_t OpenNs(const std::vector<Interval>& list, Interval range) {
  int64_t open_ns = 0;
  auto at = std::partition_point(list.begin(), list.end(), [&](const Interval& interval) {
    return interval.end_ns <= range.start_ns;
  });
  for (; at != list.end() && at->start_ns < range.end_ns; ++at) {
    open_ns += at->Intersection(range).length();
  }
  return open_ns;
}

std::vector<Interval> Clipped(const std::vector<Interval>& list, Interval range) {
  std::vector<Interval> clipped;
  auto at = std::partition_point(list.begin(), list.end(), [&](const Interval& interval) {
    return interval.end_ns <= range.start_ns;
  });
  for (; at != list.end() && at->start_ns < range.end_ns; ++at) {
    clipped.push_back(at->Intersection(range));
  }
  return clipped;
}

}  // namespace

void HostSlices::Add(uint32_t thread, const RankClock& clock, int64_t start_ns, int64_t dur_ns,
                     uint32_t trace, std::optional<int64_t> step) {
  const int64_t begin_ns = clock.Aligned(start_ns);
  if (step.has_value() && !IsInStep(trace, begin_ns, *step)) return;
  const int64_t end_ns = clock.Aligned(SumNs(start_ns, dur_ns));
  if (end_ns > begin_ns) slices_[thread].push_back({begin_ns, end_ns});
}

bool HostSlices::IsInStep(uint32_t trace, int64_t at_ns, int64_t step) const {
  return std::any_of(rows_.calls.begin(), rows_.calls.end(), [&](const Call& call) {
    return call.kind == CallKind::kStep && call.trace == trace && call.step == step &&
           call.start_ns <= at_ns && at_ns < call.end_ns;
  });
}

Status HostSlices::Read(SqliteDb& db, const std::unordered_set<int64_t>& names,
                        std::optional<int64_t> rank, std::optional<int64_t> step) {
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
        if (thread == threads.end()) continue;
        Add(thread->second, clock, rows.Int(1), rows.Int(2), trace, step);
      }
      rows.Reset();
    }
  }
  return Done{};
}

Result<int64_t> HostSlices::ReadOne(SqliteDb& db, int64_t slice_id) {
  TRACEDB_ASSIGN(clocks, RankClocks::Read(db));
  for (const EventTable table : kLongSliceTables) {
    TRACEDB_ASSIGN(row, db.Prepare("SELECT s.track, s.ts + t.base_ns, s.dur, t.trace_id FROM " +
                                   std::string(EventTableName(table)) +
                                   " s JOIN _track t ON t.id = s.track "
                                   "WHERE s.id = ?1 AND s.dur > 0 "
                                   "AND s.id NOT IN (SELECT id FROM _impossible_time)"));
    TRACEDB_TRY(row.Bind(1, slice_id));
    TRACEDB_ASSIGN(any, row.Step());
    if (!any) continue;
    for (uint32_t i = 0; i < rows_.threads.size(); ++i) {
      if (rows_.threads[i].track_id != row.Int(0)) continue;
      Add(i, clocks.Of(row.Int(3)), row.Int(1), row.Int(2), 0, std::nullopt);
      return slices_[i].empty() ? 0 : slices_[i].back().length();
    }
  }
  return 0;
}

void HostSlices::AddAll(std::optional<int64_t> rank, std::optional<int64_t> step) {
  constexpr Interval kAlways = {std::numeric_limits<int64_t>::min() / 2,
                                std::numeric_limits<int64_t>::max() / 2};
  std::vector<uint32_t> trace_of(rows_.threads.size(), kNone);
  for (const Call& call : rows_.calls) trace_of[call.thread] = call.trace;
  for (uint32_t thread = 0; thread < trace_of.size(); ++thread) {
    const uint32_t trace = trace_of[thread];
    if (trace == kNone || (rank.has_value() && rows_.traces[trace].rank != *rank)) continue;
    if (!step.has_value()) slices_[thread].push_back(kAlways);
    for (const Call& call : rows_.calls) {
      if (!step.has_value() || call.kind != CallKind::kStep || call.trace != trace) continue;
      if (call.step == *step) slices_[thread].push_back({call.start_ns, call.end_ns});
    }
  }
}

void HostSlices::Merge() {
  for (std::vector<Interval>& list : slices_) {
    std::sort(list.begin(), list.end(), [](const Interval& a, const Interval& b) {
      return a.start_ns < b.start_ns;
    });
    std::vector<Interval> merged;
    for (const Interval& interval : list) {
      if (!merged.empty() && interval.start_ns <= merged.back().end_ns) {
        merged.back().end_ns = std::max(merged.back().end_ns, interval.end_ns);
      } else {
        merged.push_back(interval);
      }
    }
    list = std::move(merged);
  }
}

int64_t HostSlices::Within(uint32_t thread, uint32_t other, Interval range) const {
  int64_t open_ns = 0;
  if (thread != kNone) open_ns += OpenNs(slices_[thread], range);
  if (other == kNone || other == thread) return open_ns;
  open_ns += OpenNs(slices_[other], range);
  if (thread == kNone) return open_ns;
  for (const Interval& both : Clipped(slices_[thread], range)) {
    open_ns -= OpenNs(slices_[other], both);
  }
  return open_ns;
}

}  // namespace tracedb
