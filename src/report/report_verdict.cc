#include "report/report_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "report/report_doubts.h"
#include "report/report_gains.h"
#include "report/report_late.h"
#include "report/report_outlier.h"
#include "report/report_result.h"
#include "report/verdict_words.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// Whether a recommendation is about a rank that is late, or one group's slow transfers.
bool NamesWhoIsAtFault(const VerdictFacts& facts, int64_t number) {
  return std::any_of(facts.recommendations.begin(), facts.recommendations.end(),
                     [&](const auto& row) {
                       const std::string& change = row[kWhatIf].text;
                       return row[kNumber].integer == number &&
                              (change.starts_with(R"([{"rank_late")") ||
                               (change.starts_with(R"([{"transfers")") &&
                                change.find(R"("factor")") != std::string::npos));
                     });
}

const std::vector<RowValue>& RowOf(const VerdictFacts& facts, int64_t number) {
  return *std::find_if(facts.recommendations.begin(), facts.recommendations.end(),
                       [&](const auto& row) { return row[kNumber].integer == number; });
}

// Those of the steps that are asked about, where they are worth a word; the first of the largest.
const Gain* Largest(const VerdictFacts& facts, const std::vector<Gain>& all,
                    const std::function<bool(const Gain&)>& is_meant) {
  const Gain* best = nullptr;
  for (const Gain& gain : all) {
    if (facts.step.has_value() && gain.key.second != facts.step) continue;
    if (gain.ms() * 100 < kGainPctMin * gain.before_ms || !is_meant(gain)) continue;
    if (best == nullptr || gain.ms() > best->ms()) best = &gain;
  }
  return best;
}

// A gain that does not explain why its step takes so much longer than others is told of a step like
// most, where that gains about as much.
const Gain* InUsualStep(const VerdictFacts& facts, const Gains& gains, const std::vector<Gain>& all,
                        const Gain* best) {
  if (best == nullptr || facts.step.has_value()) return best;
  const std::optional<Outlier> outlier = OutlierAt(gains, best->key);
  if (!outlier.has_value() || 2 * best->ms() >= outlier->more_ms()) return best;
  const std::set<StepKey> outliers = OutliersOf(gains);
  const Gain* usual = Largest(facts, all, [&](const Gain& gain) {
    return gain.number == best->number && !outliers.contains(gain.key);
  });
  return usual != nullptr && 2 * usual->ms() >= best->ms() ? usual : best;
}

// Whether it gains less than half as much in most other steps: there is more in this one that it
// would hide.
bool IsOfOneStep(const std::vector<Gain>& all, const Gain& best) {
  size_t less = 0;
  size_t others = 0;
  for (const Gain& gain : all) {
    if (gain.number != best.number || gain.key == best.key) continue;
    ++others;
    less += 2 * gain.ms() < best.ms() ? 1 : 0;
  }
  return others > 1 && 2 * less > others;
}

const Gain* BestGain(const VerdictFacts& facts, const std::vector<Gain>& all) {
  // A hidden rank's gain is also that of the one that hides it, which mostly has its own.
  const Gain* best =
      Largest(facts, all, [&](const Gain& gain) { return !IsOfHidden(RowOf(facts, gain.number)); });
  if (best == nullptr) best = Largest(facts, all, [](const Gain&) { return true; });
  if (best == nullptr || NamesWhoIsAtFault(facts, best->number)) return best;
  // The bubble is that of a pipeline in which all is well too, and its gain that of a pipeline
  // without any: whoever is at fault comes before it, however little that gains.
  if (RowOf(facts, best->number)[kWhatIf].text == R"([{"waits":"pipeline"}])") {
    const Gain* fault = Largest(
        facts, all, [&](const Gain& gain) { return NamesWhoIsAtFault(facts, gain.number); });
    return fault != nullptr ? fault : best;
  }
  // Else where that gains half as much and is recommended before: what gains most alone may be a
  // remedy for all of the job. Or where that is why this step is not like the others.
  const bool is_of_one_step = IsOfOneStep(all, *best);
  for (const Gain& gain : all) {
    if (gain.key != best->key || (gain.number >= best->number && !is_of_one_step)) continue;
    if (!NamesWhoIsAtFault(facts, gain.number) || NamesWhoIsAtFault(facts, best->number)) continue;
    if (2 * gain.ms() >= best->ms()) best = &gain;
  }
  return best;
}

// By how much the longest of the others is longer than the shortest, those apart that are much
// longer; 0 of fewer than three.
double SpreadOfOthers(const Gains& gains, const std::set<StepKey>& outliers, const StepKey& key) {
  std::vector<double> lengths;
  for (const auto& [other, ms] : gains.step_ms.at(0)) {
    if (other.first == key.first && other != key && !outliers.contains(other)) {
      lengths.push_back(ms);
    }
  }
  if (lengths.size() < 3) return 0;
  const auto [least, most] = std::minmax_element(lengths.begin(), lengths.end());
  return *most - *least;
}

constexpr double kOfChanceMax = 0.1;  // of a step: what chance costs is less

// Whether recommendations say so of the ranks that it is about.
bool MayBeChance(const VerdictFacts& facts, const Gain& gain) {
  return RowOf(facts, gain.number)[kProblem].text.ends_with("which may be chance");
}

// Whether it is about several ranks whose GPUs come late, of which by chance one or another is the
// last, and costs little.
bool IsOfSeveralGpus(const VerdictFacts& facts, const std::string& change, const Gain& gain) {
  const std::vector<int64_t> ranks = LateRanksOf(change);
  return ranks.size() > 1 && gain.ms() < kOfChanceMax * gain.before_ms &&
         AreLateByGpu(facts, ranks);
}

// Those that chance does not explain. Of ranks that compute by chance now longer, now shorter one
// is always the last: evened out, a step gains less than steps differ anyway, and another much
// less. Without the lateness of several GPUs it gains little, and another step next to nothing.
std::vector<Gain> BeyondChance(const VerdictFacts& facts, const Gains& gains,
                               const std::vector<Gain>& all) {
  const std::set<StepKey> outliers = OutliersOf(gains);
  std::map<int64_t, double> least_ms;  // of a usual step, by the change
  for (const Gain& gain : all) {
    if (outliers.contains(gain.key)) continue;
    const auto [at, is_new] = least_ms.emplace(gain.number, gain.ms());
    at->second = std::min(at->second, gain.ms());
  }
  std::vector<Gain> found;
  for (const Gain& gain : all) {
    const std::string& change = RowOf(facts, gain.number)[kWhatIf].text;
    if (MayBeChance(facts, gain) && gain.ms() < kOfChanceMax * gain.before_ms) continue;
    const auto least = least_ms.find(gain.number);
    const double usual_ms = least == least_ms.end() ? gain.ms() : least->second;
    const bool is_chance =
        change == R"([{"balance":"ranks"}])"
            ? 2 * usual_ms < gain.ms() && gain.ms() < SpreadOfOthers(gains, outliers, gain.key)
            : 4 * usual_ms < gain.ms() && IsOfSeveralGpus(facts, change, gain);
    if (!is_chance) found.push_back(gain);
  }
  return found;
}

PageVerdict NothingFound(const VerdictFacts& facts, const Gains& gains, bool by_chance) {
  PageVerdict verdict;
  std::vector<double> steps;
  bool has_steps = false;
  for (const auto& [key, ms] : gains.step_ms.at(0)) {
    has_steps = has_steps || key.second.has_value();
    if (!facts.step.has_value() || key.second == facts.step) steps.push_back(ms);
  }
  std::sort(steps.begin(), steps.end());
  verdict.kind = steps.empty() ? "unknown" : "nothing";
  if (steps.empty()) {
    verdict.sentence = fmt::format("There is no step {}.", facts.step.value_or(0));
    return verdict;
  }
  const std::string what = fmt::format("{} ({}{})", has_steps ? "a step" : "what was recorded",
                                       ShownMs(steps[steps.size() / 2]),
                                       has_steps && steps.size() > 1 ? " in the median" : "");
  if (const double pct = UnexplainedPct(facts, gains); pct >= kUnexplainedPctMin) {
    verdict.kind = "unknown";
    verdict.sentence = fmt::format(
        "What makes {} long cannot be told: of its critical path nothing that was recorded "
        "explains {:.0f} %.",
        what, pct);
    return verdict;
  }
  verdict.sentence =
      fmt::format("Nothing stands out: no cause that is known here would make {} {}.", what,
                  by_chance ? "shorter by more than the steps differ by chance"
                            : fmt::format("{:.0f} % shorter", kGainPctMin));
  return verdict;
}

// Where ranks were not recorded, waits for them are not known apart from transfers.
std::string MayBeWaiting(const std::string& change, bool are_missing) {
  const bool is_communication =
      change.starts_with(R"([{"transfers")") && change.find(R"("factor")") == std::string::npos;
  if (!are_missing || !is_communication) return "";
  return " (how much of that is waiting for ranks that were not recorded cannot be told)";
}

PageVerdict FromGains(const VerdictFacts& facts, const LaneShares& lanes,
                      const std::vector<Gain>& all, const Gain* best, int64_t ranks,
                      bool are_missing) {
  PageVerdict verdict;
  const std::vector<RowValue>& row = RowOf(facts, best->number);
  verdict.step = best->key.second;
  if (row[kRank].type != SqlType::kNull) verdict.rank = row[kRank].integer;
  const bool is_late =
      row[kWhatIf].text.find("\"rank_late\"") != std::string::npos && !MayBeChance(facts, *best);
  verdict.kind = is_late ? "late" : "problem";
  const bool are_several = is_late && LateRanksOf(row[kWhatIf].text).size() > 1;
  if (are_several) {
    const std::optional<int64_t> latest = LatestOf(facts, best->key.second, row[kWhatIf].text);
    if (latest.has_value()) verdict.rank = latest;
  }
  if (is_late && verdict.rank.has_value()) {
    verdict.sentence = fmt::format(
        "{} took {}; {} would do: {}{}{}.", StepName(best->key), ShownMs(best->before_ms),
        ShownMs(best->after_ms), LateCause(facts, lanes, *verdict.rank, *best, ranks),
        are_several ? AndTheOthers(row[kWhatIf].text, *verdict.rank)
                    : InOtherSteps(facts, all, *best) + AndTheHidden(facts, all, *best),
        are_missing ? "; part of the waits may be for ranks that were not recorded" : "");
  } else {
    verdict.sentence = fmt::format(
        "{} took {}; up to {} of it could be saved: {}{}.", StepName(best->key),
        ShownMs(best->before_ms), ShownMs(best->before_ms - best->after_ms),
        WithinSentence(row[kProblem].text), MayBeWaiting(row[kWhatIf].text, are_missing));
  }
  return verdict;
}

}  // namespace

Result<PageVerdict> MakeVerdict(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                                const VerdictFacts& facts, const LaneShares& lanes) {
  constexpr size_t kRanks = 1, kWorldSize = 2;
  PageVerdict verdict;
  verdict.kind = "unknown";
  if (facts.recorded.empty()) {
    verdict.sentence = "No trace is in the database.";
    return verdict;
  }
  const int64_t ranks = facts.recorded[0][kRanks].integer;
  const std::string incomplete = MissingRanks(ranks, facts.recorded[0][kWorldSize].integer);
  if (facts.host_only) {
    verdict.sentence = kNoGpuActivity;
    return verdict;
  }
  TRACEDB_ASSIGN(gains, ReadGains(db, catalog, run, facts.recommendations));
  if (gains.step_ms.empty()) {
    verdict.sentence = "No step could be replayed: what makes it long cannot be told." + incomplete;
    return verdict;
  }
  const std::vector<Gain> all = AllGains(gains);
  const std::vector<Gain> sound = BeyondChance(facts, gains, all);
  const Gain* best = InUsualStep(facts, gains, sound, BestGain(facts, sound));
  const bool by_chance = best == nullptr && BestGain(facts, all) != nullptr;
  if (best == nullptr) {
    verdict = NothingFound(facts, gains, by_chance);
  } else {
    VerdictFacts of_step = facts;
    LaneShares waits{"", lanes.waiting};
    TRACEDB_TRY(ReadLateRanks(db, catalog, run, best->key, of_step.late_ranks, waits));
    verdict = FromGains(of_step, waits, sound, best, ranks, !incomplete.empty());
  }
  TRACEDB_TRY(AddOutlier(db, catalog, run, facts, gains, best, verdict));
  if (verdict.kind == "nothing") TRACEDB_TRY(AddDoubtOfLaunches(db, catalog, run, facts, verdict));
  verdict.sentence += incomplete;
  verdict.gains_json = GainsAsJson(all);
  return verdict;
}

std::string VerdictAsJson(const PageVerdict& verdict) {
  std::string json = "{";
  AppendJsonField(json, "kind", verdict.kind);
  AppendJsonField(json, "sentence", verdict.sentence);
  if (verdict.step.has_value()) json += fmt::format(",\"step\":{}", *verdict.step);
  if (verdict.rank.has_value()) json += fmt::format(",\"rank\":{}", *verdict.rank);
  return WithoutTags(json + ",\"gains\":" + verdict.gains_json + "}");
}

}  // namespace tracedb
