#include "report/report_verdict_summaries.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/verdict_words.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// By how much the step of this row of straggler_steps would be shorter without the lateness of its
// rank; nothing where summaries do not tell.
Result<std::optional<double>> GainMs(SqliteDb& db, const QueryCatalog& catalog,
                                     const std::vector<RowValue>& row, int64_t rank) {
  constexpr size_t kRun = 0, kCapture = 1, kStep = 2;  // of straggler_steps
  constexpr size_t kGainMs = 5;                        // of what_if
  const auto ask = [&]() -> Result<std::optional<double>> {
    TRACEDB_ASSIGN(steps, QueryRows::Open(db, catalog, "what_if",
                                          {fmt::format("changes=[{{\"rank_late\":{}}}]", rank),
                                           "run=" + row[kRun].text, "capture=" + row[kCapture].text,
                                           "step=" + row[kStep].text}));
    TRACEDB_ASSIGN(any, steps.Next());
    return any ? std::optional(steps.Real(kGainMs)) : std::nullopt;
  };
  Result<std::optional<double>> asked = ask();
  if (asked.ok() || !FailsAlone(asked.error())) return asked;
  return std::optional<double>();
}

std::string CauseWords(const std::string& cause) {
  return cause == "host" ? "its host: " : cause == "device" ? "its GPU: " : "";
}

std::string OfGain(std::optional<double> gain_ms) {
  if (!gain_ms.has_value()) {
    return " How much shorter the step would be without that, only a database of all ranks' traces "
           "tells.";
  }
  if (*gain_ms <= 0) {
    return " Without that it would be no shorter, by a replay of collectives alone.";
  }
  return fmt::format(" Without that it would be {} shorter, by a replay of collectives alone.",
                     ShownMs(*gain_ms));
}

}  // namespace

Result<PageVerdict> VerdictOfSummaries(SqliteDb& db, const QueryCatalog& catalog,
                                       const VerdictFacts& facts) {
  constexpr size_t kRanks = 1, kWorldSize = 2;  // of report/recorded
  constexpr size_t kStep = 2, kStepRanks = 3, kStepMs = 4, kSlowest = 5, kLateMs = 6, kWaitMs = 7,
                   kSharePct = 8, kCause = 9, kName = 10;  // of straggler_steps
  constexpr double kShareMin = 20;                         // of all waits in the step
  PageVerdict verdict;
  verdict.kind = "unknown";
  if (facts.recorded.empty()) {
    verdict.sentence = "No trace is in the database.";
    return verdict;
  }
  if (facts.host_only) {
    verdict.sentence = kNoGpuActivity;
    return verdict;
  }
  // Late by little in every layer costs as much as late by much once.
  const auto each_ms = [&](const std::vector<RowValue>& row) {
    const auto others = static_cast<double>(std::max<int64_t>(row[kStepRanks].integer - 1, 1));
    return std::max(row[kLateMs].real, row[kWaitMs].real / others);
  };
  const std::vector<RowValue>* latest = nullptr;
  bool has_step = false;
  for (const auto& row : facts.straggler_steps) {
    const bool is_step = row[kStep].type != SqlType::kNull && row[kStepMs].type != SqlType::kNull;
    if (!is_step || (facts.step.has_value() && row[kStep].integer != *facts.step)) continue;
    has_step = true;
    if (row[kSlowest].type == SqlType::kNull || row[kSharePct].real < kShareMin ||
        each_ms(row) * 100 < kGainPctMin * row[kStepMs].real) {
      continue;
    }
    if (latest == nullptr || each_ms(row) > each_ms(*latest)) latest = &row;
  }
  if (latest != nullptr) {
    verdict.kind = "late";
    verdict.step = (*latest)[kStep].integer;
    verdict.rank = (*latest)[kSlowest].integer;
    const std::string name = ShownText((*latest)[kName].text.substr(0, 120));
    const std::string cause = CauseWords((*latest)[kCause].text);
    verdict.sentence = fmt::format(
        "Step {} took {}: the others waited {} for rank {}, summed over ranks, at most {} at "
        "once{}.",
        *verdict.step, ShownMs((*latest)[kStepMs].real), ShownMs((*latest)[kWaitMs].real),
        *verdict.rank, ShownMs((*latest)[kLateMs].real),
        name.empty() ? "" : " (mostly " + cause + name + ")");
  } else if (has_step) {
    verdict.kind = "nothing";
    verdict.sentence = fmt::format(
        "No rank stands out: in no step did the rank that others waited for most make them wait "
        "{:.0f} % of it and have a fifth of all waits.",
        kGainPctMin);
  } else if (facts.step.has_value()) {
    verdict.sentence =
        fmt::format("Of step {} no wait of one rank for another is known.", *facts.step);
  } else if (facts.straggler_steps.empty()) {
    verdict.sentence = "No wait of one rank for another is known in what was gathered.";
  } else {
    verdict.sentence = "No steps are marked in what was gathered.";
  }
  if (latest != nullptr) {
    TRACEDB_ASSIGN(gain_ms, GainMs(db, catalog, *latest, *verdict.rank));
    verdict.sentence += OfGain(gain_ms);
  } else {
    verdict.sentence += " What makes a step long, only the ranks' own databases tell.";
  }
  verdict.sentence +=
      MissingRanks(facts.recorded[0][kRanks].integer, facts.recorded[0][kWorldSize].integer);
  return verdict;
}

}  // namespace tracedb
