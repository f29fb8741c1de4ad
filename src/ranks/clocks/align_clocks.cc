#include "tracedb/ranks/clocks/align_clocks.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "ranks/clocks/clock_solve.h"
#include "ranks/clocks/collective_ends.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {
namespace {

constexpr int kBusyWaitMs = 60'000;

constexpr const char* kNothingNewSql =
    "SELECT NOT EXISTS (SELECT trace_id, capture_id FROM _trace EXCEPT "
    "SELECT trace_id, capture_id FROM _explained_trace) AND NOT EXISTS (SELECT trace_id, "
    "capture_id FROM _explained_trace EXCEPT SELECT trace_id, "
    "capture_id FROM _trace)";

// A rank alone has nobody to be compared with, and nothing need be written.
constexpr const char* kAloneSql =
    "SELECT (SELECT count(*) FROM (SELECT DISTINCT rank FROM _trace LIMIT 2)) < 2 "
    "AND NOT EXISTS (SELECT 1 FROM _clock)";

constexpr const char* kForgetCausesSql =
    "DELETE FROM _collective_cause; DELETE FROM _explained_trace";

struct ClockRow {
  int64_t trace_id = 0;
  std::string host;
  int64_t offset_ns = 0;
  int64_t drift_ppb = 0;
  int64_t origin_ns = 0;
  int64_t reference_rank = 0;
  int64_t residual_p95_ns = 0;
  int64_t refused_ns = 0;

  // What aligned times are made of.
  auto Times() const {
    return std::tuple(trace_id, offset_ns, drift_ppb, drift_ppb == 0 ? 0 : origin_ns);
  }
  bool operator==(const ClockRow&) const = default;
  bool IsMoved() const { return offset_ns != 0 || drift_ppb != 0; }
};

struct PairRow {
  int64_t capture_id = 0;
  std::string host_a;
  std::string host_b;
  int64_t collectives = 0;
  int64_t residual_p50_ns = 0;
  int64_t residual_p95_ns = 0;
  bool operator==(const PairRow&) const = default;
};

struct ClockTables {
  std::vector<ClockRow> clocks;  // sorted by trace
  std::vector<PairRow> pairs;
  bool operator==(const ClockTables&) const = default;
};

Result<ClockTables> ReadTables(SqliteDb& db) {
  ClockTables tables;
  TRACEDB_ASSIGN(clocks, db.Prepare("SELECT trace_id, host, offset_ns, drift_ppb, origin_ns, "
                                    "reference_rank, residual_p95_ns, refused_ns FROM _clock "
                                    "ORDER BY trace_id"));
  for (;;) {
    TRACEDB_ASSIGN(row, clocks.Step());
    if (!row) break;
    tables.clocks.push_back({clocks.Int(0), std::string(clocks.Text(1)), clocks.Int(2),
                             clocks.Int(3), clocks.Int(4), clocks.Int(5), clocks.Int(6),
                             clocks.Int(7)});
  }
  TRACEDB_ASSIGN(pairs,
                 db.Prepare("SELECT capture_id, host_a, host_b, collectives, residual_p50_ns, "
                            "residual_p95_ns FROM _clock_pair ORDER BY rowid"));
  for (;;) {
    TRACEDB_ASSIGN(row, pairs.Step());
    if (!row) return tables;
    tables.pairs.push_back({pairs.Int(0), std::string(pairs.Text(1)), std::string(pairs.Text(2)),
                            pairs.Int(3), pairs.Int(4), pairs.Int(5)});
  }
}

Status WriteTables(SqliteDb& db, const ClockTables& tables) {
  TRACEDB_TRY(db.Execute("DELETE FROM _clock; DELETE FROM _clock_pair"));
  TRACEDB_ASSIGN(clock, db.Prepare("INSERT INTO _clock (trace_id, host, offset_ns, drift_ppb, "
                                   "origin_ns, reference_rank, residual_p95_ns, refused_ns) "
                                   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"));
  for (const ClockRow& row : tables.clocks) {
    TRACEDB_TRY(clock.Bind(1, row.trace_id));
    TRACEDB_TRY(clock.Bind(2, std::string_view(row.host)));
    TRACEDB_TRY(clock.Bind(3, row.offset_ns));
    TRACEDB_TRY(clock.Bind(4, row.drift_ppb));
    TRACEDB_TRY(clock.Bind(5, row.origin_ns));
    TRACEDB_TRY(clock.Bind(6, row.reference_rank));
    TRACEDB_TRY(clock.Bind(7, row.residual_p95_ns));
    TRACEDB_TRY(clock.Bind(8, row.refused_ns));
    TRACEDB_TRY(clock.Run());
  }
  TRACEDB_ASSIGN(pair, db.Prepare("INSERT INTO _clock_pair (capture_id, host_a, host_b, "
                                  "collectives, residual_p50_ns, residual_p95_ns) "
                                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
  for (const PairRow& row : tables.pairs) {
    TRACEDB_TRY(pair.Bind(1, row.capture_id));
    TRACEDB_TRY(pair.Bind(2, std::string_view(row.host_a)));
    TRACEDB_TRY(pair.Bind(3, std::string_view(row.host_b)));
    TRACEDB_TRY(pair.Bind(4, row.collectives));
    TRACEDB_TRY(pair.Bind(5, row.residual_p50_ns));
    TRACEDB_TRY(pair.Bind(6, row.residual_p95_ns));
    TRACEDB_TRY(pair.Run());
  }
  return Done{};
}

struct CaptureSpan {
  int64_t capture_id = 0;
  int64_t traces = 0;
  double length_ns = 0;  // hostile times: it need not fit an integer
};

Result<std::vector<CaptureSpan>> ReadCaptures(SqliteDb& db) {
  std::vector<CaptureSpan> captures;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT capture_id, count(*), max(end_ns), min(start_ns) "
                                  "FROM _trace GROUP BY capture_id ORDER BY capture_id"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return captures;
    captures.push_back({rows.Int(0), rows.Int(1),
                        static_cast<double>(rows.Int(2)) - static_cast<double>(rows.Int(3))});
  }
}

// A correction that is longer than the capture is no clock's: what was compared are not the parts
// of one collective, or not times.
void Refuse(ClockRow& row) {
  row.refused_ns = row.offset_ns;
  row.offset_ns = 0;
  row.drift_ppb = 0;
}

void AddClocks(const CaptureSpan& capture, const std::vector<RankHost>& ranks,
               const ClockSolution& solution, ClockTables& tables) {
  for (size_t i = 0; i < ranks.size(); ++i) {
    const SolvedClock& clock = solution.ranks[i];
    if (!clock.is_compared) continue;
    ClockRow& row = tables.clocks.emplace_back(
        ClockRow{ranks[i].trace_id, clock.name, clock.offset_ns, clock.drift_ppb, clock.origin_ns,
                 clock.reference_rank, clock.residual_p95_ns, 0});
    if (std::abs(static_cast<double>(row.offset_ns)) > capture.length_ns) Refuse(row);
  }
  for (const ClockPair& pair : solution.pairs) {
    tables.pairs.push_back({capture.capture_id, pair.first, pair.second, pair.collectives,
                            pair.residual_p50_ns, pair.residual_p95_ns});
  }
}

Result<ClockTables> SolveCaptures(SqliteDb& db, const std::vector<CaptureSpan>& captures) {
  ClockTables tables;
  for (const CaptureSpan& capture : captures) {
    if (capture.traces < 2) continue;
    TRACEDB_ASSIGN(ranks, ReadRankHosts(db, capture.capture_id));
    TRACEDB_ASSIGN(pairs, ReadEndDifferences(db, capture.capture_id, ranks));
    AddClocks(capture, ranks, SolveClocks(ranks, pairs), tables);
  }
  std::sort(tables.clocks.begin(), tables.clocks.end(),
            [](const ClockRow& a, const ClockRow& b) { return a.trace_id < b.trace_id; });
  return tables;
}

// (ts - origin) * drift must be an integer of 64 bits for every collective: one with a senseless
// time would not be. Then the offset alone is used.
Status LeaveOutDriftsThatOverflow(SqliteDb& db, ClockTables& tables) {
  const bool any = std::any_of(tables.clocks.begin(), tables.clocks.end(),
                               [](const ClockRow& row) { return row.drift_ppb != 0; });
  if (!any) return Done{};
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT trace_id, min(ts_ns), max(ts_ns) FROM _collective_part "
                                  "GROUP BY trace_id"));
  std::map<int64_t, std::pair<int64_t, int64_t>> ranges;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    ranges[rows.Int(0)] = {rows.Int(1), rows.Int(2)};
  }
  for (ClockRow& row : tables.clocks) {
    const auto range = ranges.find(row.trace_id);
    if (row.drift_ppb == 0 || range == ranges.end()) continue;
    // As doubles: the differences themselves may overflow.
    const double drift = std::abs(static_cast<double>(row.drift_ppb));
    const double least = static_cast<double>(range->second.first);
    const double most = static_cast<double>(range->second.second);
    const double origin = static_cast<double>(row.origin_ns);
    const double reach = std::max(std::abs(least - origin), std::abs(most - origin));
    if (reach * drift >= 9e18) row.drift_ppb = 0;
  }
  return Done{};
}

bool HaveSameTimes(const ClockTables& one, const ClockTables& other) {
  // A trace without a row is like one that is not moved.
  const auto times = [](const ClockTables& tables) {
    std::vector<decltype(ClockRow().Times())> moved;
    for (const ClockRow& row : tables.clocks) {
      if (row.IsMoved()) moved.push_back(row.Times());
    }
    return moved;
  };
  return times(one) == times(other);
}

AlignReport ReportOf(const std::vector<CaptureSpan>& captures, const ClockTables& tables) {
  AlignReport report;
  report.is_done = true;
  report.captures = static_cast<int64_t>(captures.size());
  for (const CaptureSpan& capture : captures) report.ranks += capture.traces;
  report.ranks_compared = static_cast<int64_t>(tables.clocks.size());
  for (const ClockRow& row : tables.clocks) {
    if (row.IsMoved()) ++report.ranks_moved;
    if (row.refused_ns != 0) ++report.ranks_refused;
    report.largest_ns = std::max(report.largest_ns, std::abs(row.offset_ns));
    report.references.push_back(row.reference_rank);
  }
  std::sort(report.references.begin(), report.references.end());
  report.references.erase(std::unique(report.references.begin(), report.references.end()),
                          report.references.end());
  return report;
}

// What was explained by other clocks goes with them.
Status Replace(SqliteDb& db, const ClockTables& tables, bool same_times) {
  TRACEDB_TRY(db.Execute("PRAGMA secure_delete = OFF"));
  TRACEDB_TRY(WriteTables(db, tables));
  return same_times ? Status(Done{}) : db.Execute(kForgetCausesSql);
}

}  // namespace

Result<SqliteDb> OpenToCompare(const std::filesystem::path& database, int64_t cache_kib,
                               const std::atomic<bool>* stop, std::optional<SqliteDb> opened) {
  if (!opened.has_value()) {
    TRACEDB_ASSIGN(made, SqliteDb::Open(database, SqliteMode::kReadWrite));
    opened.emplace(std::move(made));
  }
  SqliteDb db = std::move(*opened);
  db.SetBusyTimeout(kBusyWaitMs, stop);
  if (stop != nullptr) db.StopWhen(*stop);
  TRACEDB_TRY(db.Execute("PRAGMA cache_size = -" + std::to_string(cache_kib)));
  return db;
}

Result<AlignReport> AlignClocks(SqliteDb& db, AlignScope scope) {
  if (scope == AlignScope::kNewTraces) {
    TRACEDB_ASSIGN(is_alone, db.Integer(kAloneSql));
    if (is_alone != 0) return AlignReport{};
    TRACEDB_ASSIGN(nothing_new, db.Integer(kNothingNewSql));
    if (nothing_new != 0) return AlignReport{};
  }
  // Others who write wait; a transaction that writes nothing leaves the file as it is.
  TRACEDB_TRY(db.Execute("BEGIN IMMEDIATE"));
  TRACEDB_ASSIGN(captures, ReadCaptures(db));
  TRACEDB_ASSIGN(tables, SolveCaptures(db, captures));
  TRACEDB_TRY(LeaveOutDriftsThatOverflow(db, tables));
  TRACEDB_ASSIGN(before, ReadTables(db));
  AlignReport report = ReportOf(captures, tables);
  report.changed = !HaveSameTimes(before, tables);
  if (!(before == tables)) TRACEDB_TRY(Replace(db, tables, !report.changed));
  TRACEDB_TRY(db.Execute("COMMIT"));
  return report;
}

Result<bool> ResetClocks(SqliteDb& db) {
  TRACEDB_TRY(db.Execute("BEGIN IMMEDIATE"));
  TRACEDB_ASSIGN(before, ReadTables(db));
  const bool same_times = HaveSameTimes(before, {});
  if (!(before == ClockTables{})) TRACEDB_TRY(Replace(db, {}, same_times));
  TRACEDB_TRY(db.Execute("COMMIT"));
  return !same_times;
}

}  // namespace tracedb
