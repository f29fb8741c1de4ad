#include "tracedb/compare/compare_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracedb/compare/compare_words.h"

namespace tracedb {
namespace {

constexpr std::string_view kTables =
    "CREATE TABLE compare_step (base_ms REAL, new_ms REAL, delta_ms REAL, verdict TEXT, p REAL,"
    " low_ms REAL, high_ms REAL, least_visible_ms REAL, change_pct REAL, unit TEXT,"
    " comparable INTEGER, reason TEXT);"
    "CREATE TABLE compare_runs (side TEXT, place INTEGER, name TEXT, run TEXT, attached TEXT,"
    " gpus INTEGER, steps INTEGER, steady_steps INTEGER, step_ms REAL);"
    "CREATE TABLE compare_parts (name TEXT, base_ms REAL, new_ms REAL, delta_ms REAL, verdict TEXT,"
    " p REAL, low_ms REAL, high_ms REAL);"
    "CREATE TABLE compare_rows (place INTEGER PRIMARY KEY, kind TEXT, name TEXT, base_name TEXT,"
    " seen TEXT, base_calls REAL, new_calls REAL, base_ms REAL, new_ms REAL, delta_ms REAL,"
    " verdict TEXT, p REAL, low_ms REAL, high_ms REAL, note TEXT, path TEXT, base_path TEXT,"
    " part TEXT);"
    "CREATE TABLE compare_ranks (role TEXT, base_rank INTEGER, new_rank INTEGER, base_ms REAL,"
    " new_ms REAL, delta_ms REAL, verdict TEXT, p REAL, low_ms REAL, high_ms REAL);"
    "CREATE TABLE compare_differences (fact TEXT, base TEXT, new TEXT, decides INTEGER);"
    "CREATE TABLE compare_unlike (side TEXT, fact TEXT, run TEXT, value TEXT, decides INTEGER)";

constexpr size_t kAttachedMax = 5;  // databases of a side: SQLite attaches ten

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

Status InsertStep(SqliteDb& db, const Comparison& comparison) {
  TRACEDB_ASSIGN(
      insert, db.Prepare("INSERT INTO compare_step VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  TRACEDB_TRY(BindTimes(insert, 1, static_cast<double>(comparison.base_ns),
                        static_cast<double>(comparison.new_ns)));
  const Finding& finding = comparison.finding;
  TRACEDB_TRY(BindFinding(insert, 4, finding));
  if (finding.least_visible_ns.has_value()) {
    TRACEDB_TRY(insert.Bind(8, Ms(*finding.least_visible_ns)));
  }
  TRACEDB_TRY(insert.Bind(9, comparison.ChangePct()));
  TRACEDB_TRY(insert.Bind(10, UnitName(comparison)));
  TRACEDB_TRY(insert.Bind(11, int64_t{comparison.comparable}));
  if (!finding.reason.empty()) TRACEDB_TRY(insert.Bind(12, finding.reason));
  return insert.Run();
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
                                      "?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
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
    if (!row.part.empty()) TRACEDB_TRY(insert.Bind(17, row.part));
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

Status Attach(SqliteDb& db, const std::filesystem::path& path, const std::string& name) {
  TRACEDB_ASSIGN(attach, db.Prepare("ATTACH ?1 AS " + name));
  TRACEDB_TRY(attach.Bind(1, SqliteUri(path, "mode=ro")));
  return attach.Run();
}

// What tells the runs compared from others in a database that is attached under a name.
constexpr std::string_view kOfTraces =
    "trace_id IN (SELECT t.trace_id FROM {0}._trace t JOIN {0}._run r USING (run_id) "
    "JOIN main.compare_runs c ON c.run = r.run AND c.attached = '{0}')";
constexpr std::string_view kOfRuns =
    "run_id IN (SELECT r.run_id FROM {0}._run r "
    "JOIN main.compare_runs c ON c.run = r.run AND c.attached = '{0}')";
constexpr std::string_view kOfNames =
    "run IN (SELECT run FROM main.compare_runs WHERE attached = '{0}')";

// base_kernels: of base.kernels what is of the runs compared; so of each view that tells the run.
// A database may come from anywhere, and so the names of its views: %w makes names of them.
Status AddViews(SqliteDb& db, const std::string& attached) {
  std::vector<std::string> names;
  {
    TRACEDB_ASSIGN(rows, db.Prepare(fmt::format("SELECT name FROM {}.sqlite_schema WHERE "
                                                "type = 'view' AND name NOT GLOB '[_]*'",
                                                attached)));
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) break;
      names.emplace_back(rows.Text(0));
    }
  }
  TRACEDB_ASSIGN(
      columns,
      db.Prepare(fmt::format(
          "SELECT printf('CREATE TEMP VIEW \"{0}_%w\" AS SELECT * FROM {0}.\"%w\" WHERE ', ?1, ?1),"
          " max(name = 'trace_id'), max(name = 'run_id'), max(name = 'run') "
          "FROM pragma_table_info(?1, '{0}')",
          attached)));
  for (const std::string& name : names) {
    TRACEDB_TRY(columns.Bind(1, name));
    const auto read = columns.Step();
    const std::string_view of = !read.ok()            ? ""  // its tables are gone
                                : columns.Int(1) != 0 ? kOfTraces
                                : columns.Int(2) != 0 ? kOfRuns
                                : columns.Int(3) != 0 ? kOfNames
                                                      : "";
    const std::string begin = of.empty() ? "" : std::string(columns.Text(0));
    columns.Reset();
    if (of.empty()) continue;
    TRACEDB_ASSIGN(view, db.Prepare(begin + fmt::format(fmt::runtime(of), attached)));
    TRACEDB_TRY(view.Run());
  }
  return Done{};
}

// The runs of a side, and their databases, each once: under the side's name, then with a number.
Status AddRuns(SqliteDb& db, const std::string& side, const std::vector<RunUsed>& runs,
               const std::vector<std::filesystem::path>& databases) {
  std::map<std::filesystem::path, std::string> names;
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunUsed& run = runs[i];
    const size_t known = names.size();
    if (known < kAttachedMax) {
      const auto [at, is_new] =
          names.try_emplace(databases[i], known == 0 ? side : fmt::format("{}{}", side, known + 1));
      if (is_new) TRACEDB_TRY(Attach(db, databases[i], at->second));
    }
    TRACEDB_ASSIGN(insert,
                   db.Prepare("INSERT INTO compare_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    TRACEDB_TRY(insert.Bind(1, side));
    TRACEDB_TRY(insert.Bind(2, static_cast<int64_t>(i + 1)));
    TRACEDB_TRY(insert.Bind(3, run.name));
    TRACEDB_TRY(insert.Bind(4, run.run));
    const auto at = names.find(databases[i]);
    if (at != names.end()) TRACEDB_TRY(insert.Bind(5, at->second));
    if (!run.is_log) TRACEDB_TRY(insert.Bind(6, static_cast<int64_t>(run.ranks)));
    TRACEDB_TRY(insert.Bind(7, static_cast<int64_t>(run.steps)));
    TRACEDB_TRY(insert.Bind(8, static_cast<int64_t>(run.steady_count)));
    TRACEDB_TRY(insert.Bind(9, Ms(static_cast<double>(run.step_ns))));
    TRACEDB_TRY(insert.Run());
  }
  for (const auto& [database, name] : names) TRACEDB_TRY(AddViews(db, name));
  return Done{};
}

}  // namespace

Result<SqliteDb> OpenComparison(const Comparison& comparison,
                                const std::vector<std::filesystem::path>& base,
                                const std::vector<std::filesystem::path>& now) {
  TRACEDB_ASSIGN(db, SqliteDb::OpenInMemory());
  TRACEDB_TRY(db.Execute(kTables));
  TRACEDB_TRY(InsertStep(db, comparison));
  TRACEDB_TRY(InsertParts(db, comparison));
  TRACEDB_TRY(InsertRows(db, comparison));
  TRACEDB_TRY(InsertRanks(db, comparison));
  TRACEDB_TRY(InsertDifferences(db, comparison));
  TRACEDB_TRY(InsertUnlike(db, comparison));
  TRACEDB_TRY(AddRuns(db, "base", comparison.base, base));
  TRACEDB_TRY(AddRuns(db, "new", comparison.now, now));
  return db;
}

}  // namespace tracedb
