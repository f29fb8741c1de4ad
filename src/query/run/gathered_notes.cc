#include "tracedb/query/run/gathered_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "tracedb/query/run/opened_tables.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/query/run/rank_database.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr int64_t kNamedMax = 3;
constexpr std::string_view kReplayed = "what_if", kPath = "critical_path",
                           kPathBy = "critical_path_by", kRecommended = "recommendations";
constexpr const char* kReplayNote =
    "only summaries were gathered: this is a replay of collectives alone, in which all that a rank "
    "does between two of them is one piece";
constexpr const char* kRecommendedNote =
    "only summaries were gathered: late ranks, transfers and waits in communication are looked at; "
    "of launches, copies, synchronisation and single kernels the ranks' own databases tell";
// Canned queries that need nothing of the tables that they read and that are not whole, where this
// SQL gives 1.
struct WholeAnyway {
  std::string_view query;
  const char* if_sql;
};
// What ran between collectives was outlined.
constexpr const char* kIfOutlined =
    "SELECT NOT EXISTS (SELECT 1 FROM main._device_use u WHERE "
    "(u.compute_ns > 0 OR u.communication_ns > 0 OR u.exposed_memory_ns > 0) "
    "AND NOT EXISTS (SELECT 1 FROM main._busy_segment b WHERE b.trace_id = u.trace_id))";
constexpr std::array<WholeAnyway, 11> kWholeAnyway = {
    {// It looks up kernels of collectives alone, and those are there.
     {"nccl_unmatched", "SELECT 1"},
     // Its replay takes what is there: collectives alone.
     {kReplayed, "SELECT 1"},
     {kPath, "SELECT 1"},
     {kPathBy, "SELECT 1"},
     {"report/path_line", "SELECT 1"},
     // It leaves out what single events alone tell.
     {kRecommended, "SELECT 1"},
     {"overlap_by_group", kIfOutlined},
     {"expert_imbalance", kIfOutlined},
     {"pipeline_bubbles", kIfOutlined},
     // What it needs of each step was summed.
     {"step_times",
      "SELECT (SELECT count(*) FROM main._step_last) > 0 OR NOT EXISTS "
      "(SELECT 1 FROM main._trace WHERE gpu_activities > 0)"},
     // It reads events of traces alone whose steps were not summed when they were read.
     {"overlap_by_step",
      "SELECT NOT EXISTS (SELECT 1 FROM main._device_use WHERE trace_id NOT IN "
      "(SELECT trace_id FROM main._step_use))"}}};

Result<std::set<std::string>> LeftOutTables(SqliteDb& db) {
  std::set<std::string> tables;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT table_name FROM main._left_out"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return tables;
    tables.emplace(rows.Text(0));
  }
}

Result<bool> IsWholeAnyway(SqliteDb& db, const QueryDoc& doc) {
  for (const WholeAnyway& known : kWholeAnyway) {
    if (known.query != doc.name) continue;
    TRACEDB_ASSIGN(holds, db.Integer(known.if_sql));
    return holds == 1;
  }
  return false;
}

bool IsOfOutlines(const QueryDoc& doc) {
  return std::ranges::any_of(kWholeAnyway, [&](const WholeAnyway& known) {
    return known.query == doc.name && known.if_sql == kIfOutlined;
  });
}

// Whether the text has this name, which SQLite knows in capitals, too.
bool Names(std::string_view sql, std::string_view name) {
  const auto is_same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
  };
  return std::search(sql.begin(), sql.end(), name.begin(), name.end(), is_same) != sql.end();
}

}  // namespace

Result<bool> IsGathered(SqliteDb& db) {
  TRACEDB_ASSIGN(found, db.Integer("SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' "
                                   "AND name IN ('_shard', '_left_out')"));
  return found == 2;
}

Result<int64_t> CountMissingRanks(SqliteDb& db) {
  TRACEDB_ASSIGN(gathered, IsGathered(db));
  if (!gathered) return int64_t{0};
  return db.Integer(
      "SELECT ifnull(sum(count), 0) FROM main._issue WHERE kind IN "
      "('shard_missing', 'shard_broken')");
}

Result<std::string> MissingRanksNote(SqliteDb& db) {
  TRACEDB_ASSIGN(gathered, IsGathered(db));
  if (!gathered) return std::string();
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT first_excerpt, count, sum(count) OVER () FROM "
                                  "main._issue WHERE kind IN ('shard_missing', 'shard_broken') "
                                  "LIMIT ?1"));
  TRACEDB_TRY(rows.Bind(1, kNamedMax));
  std::string text;
  int64_t named = 0, all = 0;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    named += rows.Int(1);
    all = rows.Int(2);
    text += (text.empty() ? "" : "; ") + ShownText(rows.Text(0));
  }
  if (all == 0) return std::string();
  if (all > named) text += fmt::format("; and {} more (tracedb info --issues)", all - named);
  return fmt::format("{} rank{} not in this database: {}", all, all == 1 ? " is" : "s are", text);
}

Result<std::vector<std::string>> LeftOutOf(SqliteDb& db, std::string_view sql) {
  TRACEDB_ASSIGN(gathered, IsGathered(db));
  std::set<std::string> found;
  if (!gathered) return std::vector<std::string>();
  TRACEDB_ASSIGN(left_out, LeftOutTables(db));
  // Tables that the program works out read slices of which SQLite's plan knows nothing.
  const std::string slices = "_gpu_slice";
  for (const std::string_view worked_out : {"replay_", "stream_pieces", "stream_busy"}) {
    if (Names(sql, worked_out) && left_out.contains(slices)) found.insert(slices);
  }
  for (std::string_view rest = sql; !rest.empty();) {
    const auto opened = OpenedTables(db, rest, &rest);
    if (!opened.ok()) {
      if (!FailsAlone(opened.error())) return opened.error();
      break;  // the query will say what is wrong with it
    }
    for (const std::string& table : opened.value()) {
      if (left_out.contains(table)) found.insert(table);
    }
  }
  return std::vector<std::string>(found.begin(), found.end());
}

Result<std::string> FirstShardPlace(SqliteDb& db) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT database, host, rank FROM main._shard ORDER BY rank "
                                  "LIMIT 1"));
  TRACEDB_ASSIGN(any, rows.Step());
  if (!any) return std::string("its --db");
  return fmt::format("{} on {} (rank {})", ShownText(rows.Text(0)), ShownText(rows.Text(1)),
                     rows.Int(2));
}

namespace {

// The tables with events that this query needs and that are not whole here.
Result<std::vector<std::string>> MissingFor(SqliteDb& db, const QueryDoc& doc) {
  TRACEDB_ASSIGN(left_out, LeftOutOf(db, doc.sql));
  if (left_out.empty()) return left_out;
  TRACEDB_ASSIGN(whole, IsWholeAnyway(db, doc));
  if (whole) left_out.clear();
  return left_out;
}

}  // namespace

Result<bool> NeedsRanksOwn(SqliteDb& db, const QueryDoc& doc) {
  TRACEDB_ASSIGN(missing, MissingFor(db, doc));
  return !missing.empty();
}

Result<std::string> NoteOfGathered(SqliteDb& db, const QueryDoc& doc) {
  TRACEDB_ASSIGN(gathered, IsGathered(db));
  if (!gathered) return std::string();
  TRACEDB_ASSIGN(note, MissingRanksNote(db));
  TRACEDB_ASSIGN(left_out, MissingFor(db, doc));
  if (left_out.empty()) {
    const bool is_replayed = doc.name == kReplayed || doc.name == kPath || doc.name == kPathBy;
    if (!is_replayed && doc.name != kRecommended) return note;
    return (note.empty() ? "" : note + "; ") + (is_replayed ? kReplayNote : kRecommendedNote);
  }
  std::string names;
  for (const std::string& table : left_out) names += (names.empty() ? "" : ", ") + table;
  if (!doc.IsDocumented()) {
    return (note.empty() ? "" : note + "; ") +
           "only summaries were gathered: not all rows are in " + names + ", which this reads";
  }
  if (IsOfOutlines(doc)) {
    return Error{ErrorKind::kQuery,
                 fmt::format("{} wants more than summaries of an older tracedb have", doc.name),
                 "run tracedb ingest --shard again for each rank, and gather again"};
  }
  TRACEDB_ASSIGN(place, FirstShardPlace(db));
  return Error{
      ErrorKind::kQuery,
      fmt::format("{} reads single events ({}), and {}, which have not all of them", doc.name,
                  names, kGatheredFromSummaries),
      fmt::format("{}ask a rank's own database: tracedb query {} --db PATH; the first is {}",
                  WhyNotByRank(doc, 1).empty() ? "add --detail -p rank=N, or " : "", doc.name,
                  place)};
}

}  // namespace tracedb
