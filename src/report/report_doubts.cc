#include "report/report_doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

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

// Hands on the first finding of a check that is about the run, and its capture.
template <typename Use>
Status WithFinding(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                   const char* check, const Use& use) {
  constexpr size_t kSeverity = 0, kRun = 1, kCapture = 2;
  const QueryDoc* doc = catalog.Find(check);
  if (doc == nullptr) return Done{};
  TRACEDB_ASSIGN(rows, QueryRows::Open(db, catalog, doc->name, {}));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Next());
    if (!any) return Done{};
    if (rows.Text(kSeverity) != "finding" || rows.Text(kRun) != run.name) continue;
    if (run.capture.has_value() && rows.Int(kCapture) != *run.capture) continue;
    use(rows);
    return Done{};
  }
}

}  // namespace

Status AddDoubtOfLaunches(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                          PageVerdict& verdict) {
  constexpr size_t kRun = 1, kCount = 5, kAtStart = 7, kActivities = 9;
  const QueryDoc* doc = catalog.Find("doctor/kernels_without_launch");
  if (doc == nullptr) return Done{};
  TRACEDB_ASSIGN(rows, QueryRows::Open(db, catalog, doc->name, {}));
  double most_pct = 0;
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Next());
    if (!any) break;
    const auto activities = static_cast<double>(rows.Int(kActivities));
    if (rows.Text(kRun) != run.name || activities <= 0) continue;
    const auto without = static_cast<double>(rows.Int(kCount) + rows.Int(kAtStart));
    most_pct = std::max(most_pct, 100 * without / activities);
  }
  if (most_pct < kUnexplainedPctMin) return Done{};
  verdict.sentence += fmt::format(
      " The launches of {:.0f} % of a GPU's activities were not recorded: what these waited for "
      "cannot be told (tracedb doctor).",
      std::floor(most_pct));
  return Done{};
}

Status AddDoubtOfClocks(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                        PageVerdict& verdict) {
  constexpr size_t kStep = 5, kJump = 7;
  TRACEDB_TRY(WithFinding(db, catalog, run, "doctor/clocks_not_compared", [&verdict](QueryRows&) {
    verdict.sentence +=
        " The clocks of some hosts could not be compared: waits between these may be their "
        "clocks' difference (tracedb doctor).";
  }));
  return WithFinding(db, catalog, run, "doctor/clock_jumps", [&verdict](QueryRows& rows) {
    const std::string step = rows.IsNull(kStep) ? "" : fmt::format(" in step {}", rows.Int(kStep));
    // Whose it was differences alone do not tell: of two hosts either may have been set.
    verdict.sentence += fmt::format(
        " A clock was set{}, by {} or more: waits between ranks, and the times of steps there, are "
        "wrong by as much (tracedb doctor).",
        step, ShownMs(std::abs(rows.Real(kJump))));
  });
}

}  // namespace tracedb
