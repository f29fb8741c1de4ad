#include "report/report_outlier.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/verdict_words.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr double kTimesMin = 1.5;  // the median: what is less is the spread of most jobs
constexpr size_t kStepsMin = 3;

// What a step has more of, by report/step_excess.
struct Excess {
  std::string kind;
  std::string name;
  double least_ms = 0;  // of the rank that has least more of it
  double most_ms = 0;
  int64_t most_rank = 0;
};

// Whether all ranks have about as much more of it.
bool IsOnAll(const Excess& excess) { return excess.least_ms * 5 >= excess.most_ms * 4; }

Result<std::vector<Excess>> ReadExcess(SqliteDb& db, const QueryCatalog& catalog,
                                       const ShownRun& run, const StepKey& key, const char* of) {
  constexpr size_t kKind = 3, kName = 4, kLeast = 6, kMost = 7, kMostRank = 8;
  std::vector<Excess> found;
  const QueryDoc* doc = catalog.Find("report/step_excess");
  if (doc == nullptr || !key.second.has_value()) return found;
  TRACEDB_ASSIGN(
      rows, QueryRows::Open(db, catalog, doc->name,
                            {fmt::format("run={}", run.name), fmt::format("capture={}", key.first),
                             fmt::format("step={}", *key.second), fmt::format("of={}", of)}));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Next());
    if (!any) return found;
    found.push_back({rows.Text(kKind), rows.Text(kName), rows.Real(kLeast), rows.Real(kMost),
                     rows.Int(kMostRank)});
  }
}

// Of whom it is said that they have more.
enum class Whose { kAll, kOneOfAll, kOnly };

// "14.2 ms more of bwd_gemm and 7.09 ms more of fwd_gemm": what is a tenth of `more_ms` and longer,
// where all of that is half of it.
std::string MoreOf(std::vector<Excess> found, double more_ms, Whose whose, size_t names_max) {
  const auto ms_of = [&](const Excess& excess) {
    return whose == Whose::kAll ? excess.least_ms : excess.most_ms;
  };
  std::erase_if(found, [&](const Excess& excess) {
    // On a rank that is not late it waits for the others.
    const bool is_waiting = whose == Whose::kOneOfAll && excess.kind == "communication";
    return excess.kind == "step" || is_waiting || ms_of(excess) * 10 < more_ms;
  });
  std::stable_sort(found.begin(), found.end(), [&](const Excess& one, const Excess& other) {
    return ms_of(one) > ms_of(other);
  });
  std::string text;
  double sum_ms = 0;
  for (const Excess& excess : found) {
    sum_ms += ms_of(excess);
    if (names_max == 0) continue;
    --names_max;
    text += fmt::format("{}{} more of {}", text.empty() ? "" : " and ", ShownMs(ms_of(excess)),
                        ShownText(excess.name.substr(0, 120)));
    if (whose != Whose::kOneOfAll) continue;
    text += IsOnAll(excess) ? " on all ranks" : fmt::format(" on rank {}", excess.most_rank);
  }
  return 2 * sum_ms < more_ms ? "" : text;
}

enum class Waiting { kNobody, kLittle, kSome, kUnknown };

// Whether a rank made others wait for a part of the step that counts.
Waiting WaitingIn(const VerdictFacts& facts, const Outlier& outlier, int64_t ranks) {
  constexpr size_t kCapture = 1, kStep = 2, kStepRanks = 3, kSlowest = 5, kLateMs = 6, kWaitMs = 7;
  const FactRows& rows = facts.straggler_steps;
  if (ranks < 2) return Waiting::kUnknown;
  for (const auto& row : rows) {
    if (row[kCapture].integer != outlier.key.first || row[kStep].type == SqlType::kNull ||
        row[kStep].integer != outlier.key.second) {
      continue;
    }
    if (row[kSlowest].type == SqlType::kNull) return Waiting::kNobody;  // the schedule's
    const auto others = static_cast<double>(std::max<int64_t>(row[kStepRanks].integer - 1, 1));
    const double late_ms = std::max(row[kLateMs].real, row[kWaitMs].real / others);
    if (late_ms * 10 >= outlier.more_ms()) return Waiting::kSome;
    return late_ms * 100 < outlier.more_ms() ? Waiting::kNobody : Waiting::kLittle;
  }
  return rows.size() < KeptRows::kRowsMax ? Waiting::kNobody : Waiting::kUnknown;
}

bool IsExplained(const Outlier& outlier, const Gain* best) {
  return best != nullptr && best->key == outlier.key && 2 * best->ms() >= outlier.more_ms();
}

// The profiler is held up in the first step more than in others: that is no warming up.
bool IsOfRecorder(const VerdictFacts& facts, const Gain& gain) {
  return std::any_of(facts.recommendations.begin(), facts.recommendations.end(),
                     [&](const auto& row) {
                       return row[kNumber].integer == gain.number &&
                              row[kWhatIf].text.starts_with(R"([{"recorder")");
                     });
}

bool IsAlike(const std::vector<Excess>& found) {
  return !found.empty() && found.front().kind == "step" && IsOnAll(found.front());
}

std::string TimesTheMedian(const Outlier& outlier) {
  const double times = outlier.ms / outlier.median_ms;
  return fmt::format("{:.{}f} times the median ({})", times, times < 10 ? 1 : 0,
                     ShownMs(outlier.median_ms));
}

std::optional<Outlier> Told(const VerdictFacts& facts, const Gains& gains,
                            const PageVerdict& verdict, const Gain* best) {
  std::optional<Outlier> own;
  if (best != nullptr) {
    own = OutlierAt(gains, best->key);
  } else if (facts.step.has_value()) {
    for (const auto& [key, ms] : gains.step_ms.at(0)) {
      if (key.second == facts.step && !own.has_value()) own = OutlierAt(gains, key);
    }
  }
  const bool is_told = own.has_value() && IsExplained(*own, best) &&
                       (verdict.kind == "late" || IsOfRecorder(facts, *best));
  if (facts.step.has_value() || (own.has_value() && !is_told)) {
    return is_told ? std::nullopt : own;
  }
  std::optional<Outlier> longest = LongestOutlier(gains);
  if (is_told && longest.has_value() && longest->ms < kTimesMin * own->ms) return std::nullopt;
  return longest;
}

// What the steps of a capture are compared with.
struct CaptureSteps {
  CaptureSteps(const Gains& gains, int64_t of_capture) : capture(of_capture) {
    std::vector<double> lengths;
    for (const auto& [key, ms] : gains.step_ms.at(0)) {
      if (key.first != capture || !key.second.has_value()) continue;
      if (lengths.empty()) first = key.second;
      lengths.push_back(ms);
    }
    if (lengths.size() < kStepsMin) return;
    const auto middle = lengths.begin() + static_cast<ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    median_ms = *middle;
  }

  int64_t capture;
  std::optional<int64_t> first;
  std::optional<double> median_ms;  // of too few steps there is none
};

std::optional<Outlier> OutlierOf(const CaptureSteps& steps, const StepKey& key, double ms) {
  if (!key.second.has_value() || !steps.median_ms.has_value()) return std::nullopt;
  if (ms < kTimesMin * *steps.median_ms) return std::nullopt;
  return Outlier{key, ms, *steps.median_ms, key.second == steps.first};
}

}  // namespace

std::optional<Outlier> OutlierAt(const Gains& gains, const StepKey& key) {
  const auto& recorded = gains.step_ms.at(0);
  const auto at = recorded.find(key);
  if (at == recorded.end()) return std::nullopt;
  return OutlierOf(CaptureSteps(gains, key.first), key, at->second);
}

std::set<StepKey> OutliersOf(const Gains& gains) {
  std::set<StepKey> found;
  std::optional<CaptureSteps> steps;  // of the capture of the last one: they come in its order
  for (const auto& [key, ms] : gains.step_ms.at(0)) {
    if (!steps.has_value() || steps->capture != key.first) steps.emplace(gains, key.first);
    if (OutlierOf(*steps, key, ms).has_value()) found.insert(key);
  }
  return found;
}

std::optional<Outlier> LongestOutlier(const Gains& gains) {
  const auto& recorded = gains.step_ms.at(0);
  const auto longest = std::max_element(
      recorded.begin(), recorded.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  return longest == recorded.end() ? std::nullopt : OutlierAt(gains, longest->first);
}

Status AddOutlier(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                  const VerdictFacts& facts, const Gains& gains, const Gain* best,
                  PageVerdict& verdict) {
  constexpr size_t kRanks = 1, kWorldSize = 2;  // of report/recorded
  const std::optional<Outlier> outlier = Told(facts, gains, verdict, best);
  if (!outlier.has_value() || outlier->median_ms <= 0) return Done{};
  const int64_t ranks = facts.recorded[0][kRanks].integer;
  const bool are_all = facts.recorded[0][kWorldSize].integer <= ranks;
  TRACEDB_ASSIGN(kernels, ReadExcess(db, catalog, run, outlier->key, "kernel"));
  const Waiting waiting = WaitingIn(facts, *outlier, ranks);
  const bool is_alike =
      IsAlike(kernels) && (waiting == Waiting::kNobody || waiting == Waiting::kLittle);
  const Whose whose = is_alike ? Whose::kAll : ranks == 1 ? Whose::kOnly : Whose::kOneOfAll;
  std::string more = MoreOf(kernels, outlier->more_ms(), whose, 2);
  if (more.empty()) {  // of slices of the host one: others may be within it
    TRACEDB_ASSIGN(host, ReadExcess(db, catalog, run, outlier->key, "host"));
    more = MoreOf(host, outlier->more_ms(), whose, 1);
  }
  const bool is_same = best != nullptr && best->key == outlier->key;
  const bool is_warm_up = outlier->is_first && whose != Whose::kOneOfAll;
  const std::string times = TimesTheMedian(*outlier);
  const std::string on = !is_alike ? ""
                         : are_all ? ", on all ranks alike"
                                   : ", on these ranks alike";
  const std::string took =
      fmt::format("{} took {}, ", StepName(outlier->key), ShownMs(outlier->ms));
  if (is_warm_up) {
    const std::string said =
        fmt::format("{}{}{}: it is the first that was recorded, and may be warming up{}.", took,
                    times, on, more.empty() ? "" : " (" + more + ")");
    if (!is_same || more.empty()) {  // without a name what could be saved is the only one
      verdict.sentence += " " + said;
    } else {
      verdict.sentence = said;
      verdict.kind = "problem";
      verdict.rank.reset();
    }
    return Done{};
  }
  verdict.sentence += fmt::format(" {}{}{}: {}{}.", is_same ? "That is " : took, times, on,
                                  more.empty() ? "what took longer cannot be told" : more,
                                  !is_alike || !are_all         ? ""
                                  : waiting == Waiting::kNobody ? ", and nobody made others wait"
                                                                : ", and nobody made others wait "
                                                                  "for long");
  return Done{};
}

}  // namespace tracedb
