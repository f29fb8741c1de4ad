#include "tracedb/compare/compare_tables.h"

#include <cmath>
#include <string>

namespace tracedb {
namespace {

constexpr std::string_view kTables =
    "CREATE TABLE compare_parts (name TEXT, base_ms REAL, new_ms REAL, delta_ms REAL, verdict TEXT,"
    " p REAL, low_ms REAL, high_ms REAL);"
    "CREATE TABLE compare_rows (place INTEGER PRIMARY KEY, kind TEXT, name TEXT, base_name TEXT,"
    " seen TEXT, base_calls REAL, new_calls REAL, base_ms REAL, new_ms REAL, delta_ms REAL,"
    " verdict TEXT, p REAL, low_ms REAL, high_ms REAL, note TEXT, path TEXT, base_path TEXT);"
    "CREATE TABLE compare_ranks (role TEXT, base_rank INTEGER, new_rank INTEGER, base_ms REAL,"
    " new_ms REAL, delta_ms REAL, verdict TEXT, p REAL, low_ms REAL, high_ms REAL);"
    "CREATE TABLE compare_differences (fact TEXT, base TEXT, new TEXT, decides INTEGER);"
    "CREATE TABLE compare_unlike (side TEXT, fact TEXT, run TEXT, value TEXT, decides INTEGER)";

double Ms(double ns) { return std::round(ns) / 1e6; }

Status BindFinding(SqliteStatement& insert, int first, const Finding& finding) {
  TRACEDB_TRY(insert.Bind(first, VerdictName(finding.verdict)));
  if (!finding.least_visible_ns.has_value()) return Done{};  // NULL: nothing was judged
  TRACEDB_TRY(insert.Bind(first + 1, finding.p));
  TRACEDB_TRY(insert.Bind(first + 2, Ms(finding.low_ns)));
  return insert.Bind(first + 3, Ms(finding.high_ns));
}

Status BindTimes(SqliteStatement& insert, int first, double base_ns, double new_ns) {
  TRACEDB_TRY(insert.Bind(first, Ms(base_ns)));
  TRACEDB_TRY(insert.Bind(first + 1, Ms(new_ns)));
  return insert.Bind(first + 2, Ms(std::round(new_ns) - std::round(base_ns)));
}

Status InsertParts(SqliteDb& db, const Comparison& comparison) {
  for (const PartChange& part : comparison.parts) {
    TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO compare_parts VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
    TRACEDB_TRY(insert.Bind(1, part.name));
    TRACEDB_TRY(
        BindTimes(insert, 2, static_cast<double>(part.base_ns), static_cast<double>(part.new_ns)));
    TRACEDB_TRY(BindFinding(insert, 5, part.finding));
    TRACEDB_TRY(insert.Run());
  }
  return Done{};
}

Status InsertRows(SqliteDb& db, const Comparison& comparison) {
  for (const RowChange& row : comparison.rows) {
    TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO compare_rows VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, "
                                      "?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    TRACEDB_TRY(insert.Bind(1, row.kind));
    TRACEDB_TRY(insert.Bind(2, row.name));
    if (!row.base_name.empty()) TRACEDB_TRY(insert.Bind(3, row.base_name));
    TRACEDB_TRY(insert.Bind(4, RowInName(row.in)));
    TRACEDB_TRY(insert.Bind(5, row.base_calls));
    TRACEDB_TRY(insert.Bind(6, row.new_calls));
    TRACEDB_TRY(BindTimes(insert, 7, row.base_ns, row.new_ns));
    TRACEDB_TRY(BindFinding(insert, 10, row.finding));
    if (!row.text.empty()) TRACEDB_TRY(insert.Bind(14, row.text));
    if (!row.path.empty()) TRACEDB_TRY(insert.Bind(15, row.path));
    if (!row.base_path.empty()) TRACEDB_TRY(insert.Bind(16, row.base_path));
    TRACEDB_TRY(insert.Run());
  }
  return Done{};
}

Status InsertRanks(SqliteDb& db, const Comparison& comparison) {
  for (const RankChange& rank : comparison.ranks) {
    TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO compare_ranks VALUES "
                                      "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    TRACEDB_TRY(insert.Bind(1, rank.role));
    if (rank.base_rank.has_value()) TRACEDB_TRY(insert.Bind(2, *rank.base_rank));
    if (rank.new_rank.has_value()) TRACEDB_TRY(insert.Bind(3, *rank.new_rank));
    TRACEDB_TRY(BindTimes(insert, 4, rank.base_ns, rank.new_ns));
    TRACEDB_TRY(BindFinding(insert, 7, rank.finding));
    TRACEDB_TRY(insert.Run());
  }
  return Done{};
}

Status InsertDifferences(SqliteDb& db, const Comparison& comparison) {
  for (const FactDifference& difference : comparison.differences) {
    TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO compare_differences VALUES (?, ?, ?, ?)"));
    TRACEDB_TRY(insert.Bind(1, difference.fact));
    TRACEDB_TRY(insert.Bind(2, difference.base));
    TRACEDB_TRY(insert.Bind(3, difference.now));
    TRACEDB_TRY(insert.Bind(4, int64_t{difference.decides}));
    TRACEDB_TRY(insert.Run());
  }
  return Done{};
}

// A row for each run of a side whose runs are not alike in a fact.
Status InsertUnlike(SqliteDb& db, const Comparison& comparison) {
  for (const UnlikeRuns& unlike : comparison.unlike) {
    for (const ValueOfRuns& value : unlike.values) {
      for (const std::string& run : value.runs) {
        TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO compare_unlike VALUES (?, ?, ?, ?, ?)"));
        TRACEDB_TRY(insert.Bind(1, unlike.in_new ? "new" : "base"));
        TRACEDB_TRY(insert.Bind(2, unlike.fact));
        TRACEDB_TRY(insert.Bind(3, run));
        TRACEDB_TRY(insert.Bind(4, value.value));
        TRACEDB_TRY(insert.Bind(5, int64_t{unlike.decides}));
        TRACEDB_TRY(insert.Run());
      }
    }
  }
  return Done{};
}

Status Attach(SqliteDb& db, const std::filesystem::path& path, std::string_view name) {
  TRACEDB_ASSIGN(attach, db.Prepare("ATTACH ?1 AS " + std::string(name)));
  TRACEDB_TRY(attach.Bind(1, SqliteUri(path, "mode=ro")));
  return attach.Run();
}

}  // namespace

Result<SqliteDb> OpenComparison(const Comparison& comparison, const std::filesystem::path& base,
                                const std::filesystem::path& now) {
  TRACEDB_ASSIGN(db, SqliteDb::OpenInMemory());
  TRACEDB_TRY(db.Execute(kTables));
  TRACEDB_TRY(InsertParts(db, comparison));
  TRACEDB_TRY(InsertRows(db, comparison));
  TRACEDB_TRY(InsertRanks(db, comparison));
  TRACEDB_TRY(InsertDifferences(db, comparison));
  TRACEDB_TRY(InsertUnlike(db, comparison));
  TRACEDB_TRY(Attach(db, base, "base"));
  TRACEDB_TRY(Attach(db, now, "new"));
  return db;
}

}  // namespace tracedb
