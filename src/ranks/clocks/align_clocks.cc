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
    "SELECT NOT EXISTS (SELECT trace_id FROM _trace EXCEPT SELECT trace_id FROM _explained_trace) "
    "AND NOT EXISTS (SELECT trace_id FROM _explained_trace EXCEPT SELECT trace_id FROM _trace)";

// A rank alone has nobody to be compared with, and nothing need be written.
constexpr const char* kAloneSql =
    "SELECT (SELECT count(*) FROM (SELECT DISTINCT rank FROM _trace LIMIT 2)) < 2 "
    "AND NOT EXISTS (SELECT 1 FROM _clock)";

constexpr const char* kForgetCausesSql =
    "DELETE FROM _collective_cause; DELETE FROM _explained_trace";

struct ClockRow {
  int64_t rank = 0;
  std::string host;
  int64_t offset_ns = 0;
  int64_t drift_ppb = 0;
  int64_t origin_ns = 0;
  int64_t reference_rank = 0;
  int64_t residual_p95_ns = 0;

  // What aligned times are made of.
  auto Times() const {
    return std::tuple(rank, offset_ns, drift_ppb, drift_ppb == 0 ? 0 : origin_ns);
  }
  bool operator==(const ClockRow&) const = default;
  bool IsMoved() const { return offset_ns != 0 || drift_ppb != 0; }
};

struct PairRow {
  std::string host_a;
  std::string host_b;
  int64_t collectives = 0;
  int64_t residual_p50_ns = 0;
  int64_t residual_p95_ns = 0;
  bool operator==(const PairRow&) const = default;
};

struct ClockTables {
  std::vector<ClockRow> clocks;  // sorted by rank
  std::vector<PairRow> pairs;
  bool operator==(const ClockTables&) const = default;
};

Result<SqliteDb> OpenToWrite(const std::filesystem::path& database, const std::atomic<bool>* stop) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(database, SqliteMode::kReadWrite));
  db.SetBusyTimeout(kBusyWaitMs, stop);
  if (stop != nullptr) db.StopWhen(*stop);
  return db;
}

Result<ClockTables> ReadTables(SqliteDb& db) {
  ClockTables tables;
  TRACEDB_ASSIGN(clocks, db.Prepare("SELECT rank, host, offset_ns, drift_ppb, origin_ns, "
                                    "reference_rank, residual_p95_ns FROM _clock ORDER BY rank"));
  for (;;) {
    TRACEDB_ASSIGN(row, clocks.Step());
    if (!row) break;
    tables.clocks.push_back({clocks.Int(0), std::string(clocks.Text(1)), clocks.Int(2),
                             clocks.Int(3), clocks.Int(4), clocks.Int(5), clocks.Int(6)});
  }
  TRACEDB_ASSIGN(pairs, db.Prepare("SELECT host_a, host_b, collectives, residual_p50_ns, "
                                   "residual_p95_ns FROM _clock_pair ORDER BY rowid"));
  for (;;) {
    TRACEDB_ASSIGN(row, pairs.Step());
    if (!row) return tables;
    tables.pairs.push_back({std::string(pairs.Text(0)), std::string(pairs.Text(1)), pairs.Int(2),
                            pairs.Int(3), pairs.Int(4)});
  }
}

Status WriteTables(SqliteDb& db, const ClockTables& tables) {
  TRACEDB_TRY(db.Execute("DELETE FROM _clock; DELETE FROM _clock_pair"));
  TRACEDB_ASSIGN(clock, db.Prepare("INSERT INTO _clock (rank, host, offset_ns, drift_ppb, "
                                   "origin_ns, reference_rank, residual_p95_ns) "
                                   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
  for (const ClockRow& row : tables.clocks) {
    TRACEDB_TRY(clock.Bind(1, row.rank));
    TRACEDB_TRY(clock.Bind(2, std::string_view(row.host)));
    TRACEDB_TRY(clock.Bind(3, row.offset_ns));
    TRACEDB_TRY(clock.Bind(4, row.drift_ppb));
    TRACEDB_TRY(clock.Bind(5, row.origin_ns));
    TRACEDB_TRY(clock.Bind(6, row.reference_rank));
    TRACEDB_TRY(clock.Bind(7, row.residual_p95_ns));
    TRACEDB_TRY(clock.Run());
  }
  TRACEDB_ASSIGN(pair, db.Prepare("INSERT INTO _clock_pair (host_a, host_b, collectives, "
                                  "residual_p50_ns, residual_p95_ns) VALUES (?1, ?2, ?3, ?4, ?5)"));
  for (const PairRow& row : tables.pairs) {
    TRACEDB_TRY(pair.Bind(1, std::string_view(row.host_a)));
    TRACEDB_TRY(pair.Bind(2, std::string_view(row.host_b)));
    TRACEDB_TRY(pair.Bind(3, row.collectives));
    TRACEDB_TRY(pair.Bind(4, row.residual_p50_ns));
    TRACEDB_TRY(pair.Bind(5, row.residual_p95_ns));
    TRACEDB_TRY(pair.Run());
  }
  return Done{};
}

ClockTables TablesOf(const std::vector<RankHost>& ranks, const ClockSolution& solution) {
  ClockTables tables;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const RankClock& clock = solution.ranks[i];
    if (!clock.is_compared) continue;
    tables.clocks.push_back({ranks[i].rank, clock.name, clock.offset_ns, clock.drift_ppb,
                             clock.origin_ns, clock.reference_rank, clock.residual_p95_ns});
  }
  for (const ClockPair& pair : solution.pairs) {
    tables.pairs.push_back(
        {pair.first, pair.second, pair.collectives, pair.residual_p50_ns, pair.residual_p95_ns});
  }
  return tables;
}

// (ts - origin) * drift must be an integer of 64 bits for every collective: one with a senseless
// time would not be. Then the rank's offset alone is used.
Status LeaveOutDriftsThatOverflow(SqliteDb& db, ClockTables& tables) {
  const bool any = std::any_of(tables.clocks.begin(), tables.clocks.end(),
                               [](const ClockRow& row) { return row.drift_ppb != 0; });
  if (!any) return Done{};
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT rank, min(ts_ns), max(ts_ns) FROM _collective_part "
                                  "GROUP BY rank"));
  std::map<int64_t, std::pair<int64_t, int64_t>> ranges;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    ranges[rows.Int(0)] = {rows.Int(1), rows.Int(2)};
  }
  for (ClockRow& row : tables.clocks) {
    const auto range = ranges.find(row.rank);
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
  // A rank without a row is like one that is not moved.
  const auto times = [](const ClockTables& tables) {
    std::vector<decltype(ClockRow().Times())> moved;
    for (const ClockRow& row : tables.clocks) {
      if (row.IsMoved()) moved.push_back(row.Times());
    }
    return moved;
  };
  return times(one) == times(other);
}

AlignReport ReportOf(const std::vector<RankHost>& ranks, const ClockTables& tables) {
  AlignReport report;
  report.is_done = true;
  report.ranks = static_cast<int64_t>(ranks.size());
  report.ranks_compared = static_cast<int64_t>(tables.clocks.size());
  for (const ClockRow& row : tables.clocks) {
    if (row.IsMoved()) ++report.ranks_moved;
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

Result<AlignReport> AlignClocks(const std::filesystem::path& database, AlignScope scope,
                                const std::atomic<bool>* stop) {
  TRACEDB_ASSIGN(db, OpenToWrite(database, stop));
  if (scope == AlignScope::kNewTraces) {
    TRACEDB_ASSIGN(is_alone, db.Integer(kAloneSql));
    if (is_alone != 0) return AlignReport{};
    TRACEDB_ASSIGN(nothing_new, db.Integer(kNothingNewSql));
    if (nothing_new != 0) return AlignReport{};
  }
  // Others who write wait; a transaction that writes nothing leaves the file as it is.
  TRACEDB_TRY(db.Execute("BEGIN IMMEDIATE"));
  TRACEDB_ASSIGN(ranks, ReadRankHosts(db));
  TRACEDB_ASSIGN(pairs, ReadEndDifferences(db, ranks));
  ClockTables tables = TablesOf(ranks, SolveClocks(ranks, pairs));
  TRACEDB_TRY(LeaveOutDriftsThatOverflow(db, tables));
  TRACEDB_ASSIGN(before, ReadTables(db));
  AlignReport report = ReportOf(ranks, tables);
  report.changed = !HaveSameTimes(before, tables);
  if (!(before == tables)) TRACEDB_TRY(Replace(db, tables, !report.changed));
  TRACEDB_TRY(db.Execute("COMMIT"));
  return report;
}

Result<bool> ResetClocks(const std::filesystem::path& database, const std::atomic<bool>* stop) {
  TRACEDB_ASSIGN(db, OpenToWrite(database, stop));
  TRACEDB_TRY(db.Execute("BEGIN IMMEDIATE"));
  TRACEDB_ASSIGN(before, ReadTables(db));
  const bool same_times = HaveSameTimes(before, {});
  if (!(before == ClockTables{})) TRACEDB_TRY(Replace(db, {}, same_times));
  TRACEDB_TRY(db.Execute("COMMIT"));
  return !same_times;
}

}  // namespace tracedb
