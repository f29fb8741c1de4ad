#include "tracedb/query/run/rank_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tracedb/query/run/gathered_notes.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/schema/empty_database.h"
#include "tracedb/text/number_ranges.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kRanksMax = 256;  // whose databases are opened, one after the other

// Of those with a parameter rank: what other ranks did goes into the rows of one.
constexpr std::array<std::string_view, 2> kComparingQueries = {"pipeline_bubbles",
                                                               "recommendations"};

constexpr std::string_view kOneAxis = "memory_timeline";  // its bins span all ranks asked for

// The rank's own numbers of traces, runs and captures stay, as its tables refer to them; those of
// the job that it does not know get negative ones. What is looked up by number is indexed again.
constexpr const char* kJobTables =
    "CREATE TEMP TABLE _known AS SELECT j.trace_id AS job_trace, o.trace_id, j.run_id AS job_run, "
    "o.run_id, j.capture_id AS job_capture, o.capture_id, j.run_start_ns "
    "FROM job._trace j JOIN main._trace o ON o.text_hash = j.text_hash AND o.rank = j.rank;"
    "CREATE TEMP TABLE _run_number AS SELECT DISTINCT job_run, run_id FROM temp._known;"
    "CREATE TEMP TABLE _capture_number AS SELECT DISTINCT job_capture, capture_id "
    "FROM temp._known WHERE job_capture IS NOT NULL;"
    // The job's others are there for the starts of its captures, and have no rows.
    "CREATE TEMP TABLE _trace AS SELECT * FROM job._trace "
    "WHERE trace_id NOT IN (SELECT job_trace FROM temp._known);"
    "UPDATE temp._trace SET trace_id = -trace_id, first_row = 0, last_row = -1, first_text = 0, "
    "last_text = -1, "
    "run_id = ifnull((SELECT n.run_id FROM temp._run_number n WHERE n.job_run = "
    "temp._trace.run_id), -run_id), "
    "capture_id = ifnull((SELECT n.capture_id FROM temp._capture_number n "
    "WHERE n.job_capture = temp._trace.capture_id), -capture_id);"
    "INSERT INTO temp._trace SELECT * FROM main._trace;"
    "UPDATE temp._trace SET run_start_ns = (SELECT k.run_start_ns FROM temp._known k "
    "WHERE k.trace_id = temp._trace.trace_id) WHERE trace_id > 0;"
    "CREATE UNIQUE INDEX temp._trace_number ON _trace (trace_id);"
    "CREATE TEMP TABLE _run AS SELECT ifnull(n.run_id, -r.run_id) AS run_id, r.run, r.path "
    "FROM job._run r LEFT JOIN temp._run_number n ON n.job_run = r.run_id;"
    "CREATE UNIQUE INDEX temp._run_of ON _run (run_id);"
    "CREATE TEMP TABLE _capture AS SELECT ifnull(n.capture_id, -c.capture_id) AS capture_id, "
    "ifnull(r.run_id, -c.run_id) AS run_id, c.capture FROM job._capture c "
    "LEFT JOIN temp._capture_number n ON n.job_capture = c.capture_id "
    "LEFT JOIN temp._run_number r ON r.job_run = c.run_id;"
    "CREATE UNIQUE INDEX temp._capture_of ON _capture (capture_id);"
    "CREATE TEMP TABLE _clock AS SELECT * FROM job._clock;"
    "UPDATE temp._clock SET trace_id = ifnull((SELECT k.trace_id FROM temp._known k "
    "WHERE k.job_trace = temp._clock.trace_id), -trace_id);"
    "CREATE UNIQUE INDEX temp._clock_of ON _clock (trace_id);";

std::string Shown(const RankPlace& place) {
  return fmt::format("rank {} of run {}: its database {} on {}", place.rank, ShownText(place.run),
                     ShownText(place.database.string()), ShownText(place.host));
}

Error NotThere(const RankPlace& place, std::string_view why) {
  return Error{ErrorKind::kInput, fmt::format("{}: {}", Shown(place), ShownText(why)),
               fmt::format("ask on {}, without --detail: --db {}; or make it reachable under that "
                           "path; or run tracedb ingest --shard for that rank and gather again",
                           ShownText(place.host), ShownText(place.database.string()))};
}

Error Changed(const RankPlace& place, std::string_view what) {
  return Error{ErrorKind::kInput, fmt::format("{} {}", Shown(place), what),
               "run tracedb ingest --shard for that rank again, then tracedb gather; or ask that "
               "database itself with --db"};
}

// Both have the same traces of that rank, by their content, and each run and capture of the one is
// one of the other.
Status CheckIsTheSame(SqliteDb& db, const RankPlace& place) {
  TRACEDB_ASSIGN(known, db.Prepare("SELECT count(*) FROM temp._known k JOIN main._trace o "
                                   "ON o.trace_id = k.trace_id WHERE o.rank = ?1"));
  TRACEDB_TRY(known.Bind(1, place.rank));
  TRACEDB_ASSIGN(any, known.Step());
  if (!any || known.Int(0) == 0) return Changed(place, "has none of the traces that were gathered");
  TRACEDB_ASSIGN(more, db.Integer("SELECT count(*) FROM main._trace WHERE trace_id NOT IN "
                                  "(SELECT trace_id FROM temp._known)"));
  if (more > 0) {
    return Changed(place, fmt::format("has {} trace{} that {} not gathered", more,
                                      more == 1 ? "" : "s", more == 1 ? "was" : "were"));
  }
  TRACEDB_ASSIGN(lost, db.Prepare("SELECT count(*) FROM job._trace j JOIN job._run r ON r.run_id = "
                                  "j.run_id WHERE j.rank = ?1 AND j.run_id IN (SELECT job_run FROM "
                                  "temp._known) AND j.trace_id NOT IN (SELECT job_trace FROM "
                                  "temp._known)"));
  TRACEDB_TRY(lost.Bind(1, place.rank));
  TRACEDB_ASSIGN(counted, lost.Step());
  if (counted && lost.Int(0) > 0) return Changed(place, "lacks traces that were gathered");
  TRACEDB_ASSIGN(odd,
                 db.Integer("SELECT (SELECT count(*) FROM _run_number) - (SELECT count(DISTINCT "
                            "job_run) FROM _run_number) + (SELECT count(*) FROM _run_number) - "
                            "(SELECT count(DISTINCT run_id) FROM _run_number) + (SELECT count(*) "
                            "FROM _capture_number) - (SELECT count(DISTINCT job_capture) FROM "
                            "_capture_number) + (SELECT count(*) FROM _capture_number) - (SELECT "
                            "count(DISTINCT capture_id) FROM _capture_number)"));
  if (odd == 0) return Done{};
  return Changed(place, "parts its traces into other runs or captures than the job does");
}

}  // namespace

Result<std::vector<RankPlace>> FindRankPlaces(SqliteDb& gathered, const std::string& ranks,
                                              const std::string& run) {
  const auto ranges = ParseRanges(ranks);
  if (!ranges.has_value()) {
    return Error{ErrorKind::kUsage,
                 fmt::format("--detail: '{}' is no list of ranks", ShownText(ranks)),
                 "for example: -p rank=5, or -p rank=0,3..5"};
  }
  TRACEDB_ASSIGN(rows, gathered.Prepare("SELECT run, rank, host, database FROM main._shard WHERE "
                                        "rank BETWEEN ?1 AND ?2 AND ?3 IN ('', run) "
                                        "ORDER BY rank, run LIMIT ?4"));
  std::vector<RankPlace> places;
  for (const NumberRange& range : *ranges) {
    rows.Reset();
    TRACEDB_TRY(rows.Bind(1, range.first));
    TRACEDB_TRY(rows.Bind(2, range.second));
    TRACEDB_TRY(rows.Bind(3, std::string_view(run)));
    TRACEDB_TRY(rows.Bind(4, static_cast<int64_t>(kRanksMax) + 1));
    int64_t next = range.first;
    for (;;) {
      TRACEDB_ASSIGN(more, rows.Step());
      if (!more) break;
      RankPlace place{std::string(rows.Text(0)), rows.Int(1), std::string(rows.Text(2)),
                      std::filesystem::path(rows.Text(3))};
      if (place.rank > next) break;
      if (place.rank < next) {
        return Error{ErrorKind::kUsage,
                     fmt::format("--detail: rank {} is in several runs", place.rank),
                     fmt::format("name one: -p run={}", ShownText(place.run))};
      }
      places.push_back(std::move(place));
      if (places.size() > kRanksMax) {
        return Error{ErrorKind::kUsage, fmt::format("--detail: over {} ranks", kRanksMax),
                     "ask for fewer at a time"};
      }
      ++next;
    }
    if (next <= range.second) {
      return Error{ErrorKind::kUsage,
                   fmt::format("--detail: rank {} is not among those that were gathered", next),
                   "which are missing is said by: tracedb query doctor/ranks_not_gathered"};
    }
  }
  return places;
}

Result<SqliteDb> OpenRankDatabase(const std::filesystem::path& gathered, const RankPlace& place) {
  auto opened = OpenTraceDatabase(place.database);
  if (!opened.ok()) {
    std::string_view why = opened.error().what;
    const std::string start = place.database.string() + ": ";
    if (why.starts_with(start)) why.remove_prefix(start.size());
    return NotThere(place, why);
  }
  SqliteDb db = std::move(opened).value();
  TRACEDB_ASSIGN(is_gathered, IsGathered(db));
  if (is_gathered) return NotThere(place, "it is a gathered database itself");
  TRACEDB_ASSIGN(attach, db.Prepare("ATTACH ?1 AS job"));
  TRACEDB_TRY(attach.Bind(1, std::string_view(gathered.native())));
  TRACEDB_TRY(attach.Run());
  TRACEDB_TRY(db.Execute(kJobTables));
  TRACEDB_TRY(CheckIsTheSame(db, place));
  // Views of the main schema see its tables alone; these see the job's in front of them.
  for (const EmptyDatabase::View& view : EmptyDatabase::views()) {
    constexpr std::string_view kCreate = "CREATE ";
    TRACEDB_TRY(db.Execute("CREATE TEMP " + std::string(view.sql.substr(kCreate.size()))));
  }
  TRACEDB_TRY(db.Execute("DETACH job"));
  return db;
}

std::string WhyNotByRank(const QueryDoc& doc, size_t ranks) {
  const bool compares = std::ranges::find(kComparingQueries, doc.name) != kComparingQueries.end();
  if (doc.FindParam("rank") == nullptr || compares) return "it compares ranks";
  if (ranks < 2) return "";
  const bool has_rank = std::ranges::any_of(
      doc.columns, [](const QueryColumn& column) { return column.name == "rank"; });
  if (!has_rank) return "it sums over ranks: ask for one of them";
  if (doc.name == kOneAxis) return "its rows share one axis of time: ask for one rank";
  if (doc.FindParam("limit") != nullptr) {
    return "its rows are the first of all ranks: ask for one of them";
  }
  return "";
}

}  // namespace tracedb
