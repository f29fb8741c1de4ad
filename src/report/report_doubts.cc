#include "report/report_doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "report/verdict_words.h"

namespace tracedb {

double UnexplainedPct(const VerdictFacts& facts, const Gains& gains) {
  constexpr size_t kCapture = 1, kStep = 2, kKind = 3, kMs = 7;  // of critical_path_by
  std::set<StepKey> told;
  double unexplained_ms = 0;
  for (const auto& row : facts.critical_path) {
    StepKey key{row[kCapture].integer, std::nullopt};
    if (row[kStep].type != SqlType::kNull) key.second = row[kStep].integer;
    if (facts.step.has_value() && key.second != facts.step) continue;
    told.insert(key);
    const std::string& kind = row[kKind].text;
    if (kind == "lag" || kind == "unrecorded") unexplained_ms += row[kMs].real;
  }
  double all_ms = 0;
  for (const auto& [key, ms] : gains.step_ms.at(0)) {
    if (told.contains(key)) all_ms += ms;
  }
  return all_ms > 0 ? 100 * unexplained_ms / all_ms : 0;
}

namespace {

using Row = std::vector<RowValue>;

// The rows of a check, as they were found when all checks were made; it is asked again where more
// were found than were kept, or the name of the run was cut. `use` says whether it wants another.
template <typename Use>
Status WithRows(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                const VerdictFacts& facts, std::string_view check, const Use& use) {
  Row row;
  const CheckResult* made = facts.checks == nullptr ? nullptr : facts.checks->Find(check);
  if (made != nullptr && made->rows.size() == made->rows_found &&
      run.name.size() <= CheckResult::kTextBytesMax) {
    std::vector<Cell> cells;
    for (const auto& values : made->rows) {
      cells.clear();
      for (const FoundValue& v : values) cells.push_back({v.type, v.integer, v.real, v.text});
      ReadRow(cells, row);
      if (!use(row)) break;
    }
    return Done{};
  }
  const QueryDoc* doc = catalog.Find(fmt::format("doctor/{}", check));
  if (doc == nullptr) return Done{};
  TRACEDB_ASSIGN(rows, QueryRows::Open(db, catalog, doc->name, {}));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Next());
    if (!any || !use(rows.values())) return Done{};
  }
}

// Whether this row of a check that is about captures is a finding in the run that is shown.
bool IsFindingOf(const ShownRun& run, const Row& row) {
  constexpr size_t kSeverity = 0, kRun = 1, kCapture = 2;
  return row[kSeverity].text == "finding" && row[kRun].text == run.name &&
         (!run.capture.has_value() || row[kCapture].integer == *run.capture);
}

}  // namespace

Status AddDoubtOfLaunches(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                          const VerdictFacts& facts, PageVerdict& verdict) {
  constexpr size_t kRun = 1, kCount = 5, kAtStart = 7, kActivities = 9;
  double most_pct = 0;
  TRACEDB_TRY(WithRows(db, catalog, run, facts, "kernels_without_launch", [&](const Row& row) {
    const auto activities = static_cast<double>(row[kActivities].integer);
    if (row[kRun].text != run.name || activities <= 0) return true;
    const auto without = static_cast<double>(row[kCount].integer + row[kAtStart].integer);
    most_pct = std::max(most_pct, 100 * without / activities);
    return true;
  }));
  if (most_pct < kUnexplainedPctMin) return Done{};
  verdict.sentence += fmt::format(
      " The launches of {:.0f} % of a GPU's activities were not recorded: what these waited for "
      "cannot be told (tracedb doctor).",
      std::floor(most_pct));
  return Done{};
}

Status AddDoubtOfClocks(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                        const VerdictFacts& facts, PageVerdict& verdict) {
  constexpr size_t kStep = 5, kJump = 7;
  TRACEDB_TRY(WithRows(db, catalog, run, facts, "clocks_not_compared", [&](const Row& row) {
    if (!IsFindingOf(run, row)) return true;
    verdict.sentence +=
        " The clocks of some hosts could not be compared: waits between these may be their "
        "clocks' difference (tracedb doctor).";
    return false;
  }));
  return WithRows(db, catalog, run, facts, "clock_jumps", [&](const Row& row) {
    if (!IsFindingOf(run, row)) return true;
    const std::string step =
        row[kStep].type == SqlType::kNull ? "" : fmt::format(" in step {}", row[kStep].integer);
    // Whose it was differences alone do not tell: of two hosts either may have been set.
    verdict.sentence += fmt::format(
        " A clock was set{}, by {} or more: waits between ranks, and the times of steps there, are "
        "wrong by as much (tracedb doctor).",
        step, ShownMs(std::abs(row[kJump].real)));
    return false;
  });
}

}  // namespace tracedb
