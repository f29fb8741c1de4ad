#include "report/report_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

#include "report/report_result.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// What gains less of its step is not worth the first sentence.
constexpr double kGainPctMin = 2;

constexpr const char* kNoGpuActivity =
    "No GPU activity was recorded: where the GPUs' time went cannot be told.";

std::string Time(double ms) {
  if (ms >= 1000) return fmt::format("{:.2f} s", ms / 1000);
  if (ms >= 100) return fmt::format("{:.0f} ms", ms);
  if (ms >= 10) return fmt::format("{:.1f} ms", ms);
  return ms >= 1 ? fmt::format("{:.2f} ms", ms) : fmt::format("{:.1f} us", ms * 1000);
}

using StepKey = std::pair<int64_t, std::optional<int64_t>>;  // capture, step

struct Gains {
  std::map<int64_t, std::map<StepKey, double>> step_ms;  // by the change's number; 0: as recorded
};

// One of a step by one change.
struct Gain {
  int64_t number = 0;
  StepKey key;
  double before_ms = 0;
  double after_ms = 0;
};

constexpr size_t kNumber = 1, kProblem = 2, kRank = 3, kWhatIf = 10;  // of recommendations

Result<Gains> ReadGains(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                        const VerdictFacts& facts) {
  constexpr size_t kChanges = 5;  // each is a replay of the whole job
  constexpr size_t kCapture = 1, kChange = 2, kStep = 3, kMs = 4;
  Gains gains;
  const QueryDoc* doc = catalog.Find("report/step_gains");
  if (doc == nullptr) return gains;
  std::string changes;
  std::vector<int64_t> numbers = {0};
  for (const auto& row : facts.recommendations) {
    if (row[kWhatIf].text.empty() || numbers.size() > kChanges) continue;
    if (!changes.empty()) changes += ',';
    AppendJsonText(changes, row[kWhatIf].text);
    numbers.push_back(row[kNumber].integer);
  }
  std::vector<std::string> params = ParamsOf(*doc, run);
  params.push_back(fmt::format("changes=[{}]", changes));
  TRACEDB_ASSIGN(rows, QueryRows::Open(db, catalog, doc->name, std::move(params)));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Next());
    if (!any) return gains;
    const auto change = static_cast<size_t>(rows.Int(kChange));
    if (change >= numbers.size()) continue;
    const std::optional<int64_t> step =
        rows.IsNull(kStep) ? std::nullopt : std::optional(rows.Int(kStep));
    gains.step_ms[numbers[change]][{rows.Int(kCapture), step}] = rows.Real(kMs);
  }
}

std::vector<Gain> AllGains(const Gains& gains) {
  std::vector<Gain> all;
  const auto recorded = gains.step_ms.find(0);
  if (recorded == gains.step_ms.end()) return all;
  for (const auto& [number, steps] : gains.step_ms) {
    if (number == 0) continue;
    for (const auto& [key, after_ms] : steps) {
      const auto before = recorded->second.find(key);
      if (before == recorded->second.end()) continue;
      all.push_back({number, key, before->second, after_ms});
    }
  }
  return all;
}

std::string GainsAsJson(const std::vector<Gain>& gains) {
  std::string json = "[";
  for (const Gain& gain : gains) {
    json += fmt::format(
        "{}{{\"number\":{},\"capture\":{},\"step\":{},\"before_ms\":{},"
        "\"after_ms\":{}}}",
        json.size() == 1 ? "" : ",", gain.number, gain.key.first,
        gain.key.second.has_value() ? std::to_string(*gain.key.second) : "null", gain.before_ms,
        gain.after_ms);
  }
  return json + "]";
}

std::string StepName(const StepKey& key) {
  return key.second.has_value() ? fmt::format("Step {}", *key.second) : "What was recorded";
}

// "The GPU waits" -> "the GPU waits"; "NCCL is slow" stays.
std::string WithinSentence(std::string text) {
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

// What is known of a rank that came late in a step: of all causes that with the longest waits.
std::string LateCause(const VerdictFacts& facts, const LaneShares& lanes, int64_t rank,
                      const Gain& gain, int64_t ranks) {
  constexpr size_t kLateRank = 1, kLateStep = 2, kCause = 3, kName = 4, kDur = 6, kLateMs = 8;
  const std::optional<int64_t> step = gain.key.second;
  for (const auto& row : facts.late_ranks) {
    if (row[kLateRank].integer != rank) continue;
    if (step.has_value() && row[kLateStep].integer != *step) continue;
    const bool is_host = row[kCause].text == "host";
    const std::string name = ShownText(row[kName].text.substr(0, 120));
    std::string text =
        row[kDur].type == SqlType::kNull
            ? fmt::format("rank {}'s host is slower than the others' ({})", rank, name)
        : is_host ? fmt::format("rank {}'s host was held up for {} ({})", rank,
                                Time(row[kDur].real), name)
                  : fmt::format("rank {}'s GPU took longer than the others' ({}: {})", rank, name,
                                Time(row[kDur].real));
    // Late by little before each of many collectives: no one slice explains what that costs.
    const auto times =
        std::count_if(facts.late_ranks.begin(), facts.late_ranks.end(), [&](const auto& other) {
          return other[kLateRank].integer == rank &&
                 (!step.has_value() || other[kLateStep].integer == *step);
        });
    if (times > 1 && row[kDur].type != SqlType::kNull &&
        row[kLateMs].real * 2 < gain.before_ms - gain.after_ms) {
      text = fmt::format("rank {} came late again and again, by {} at most (its {}: {})", rank,
                         Time(row[kLateMs].real), is_host ? "host" : "GPU", name);
    }
    std::set<int64_t> waiting;
    for (const auto& [root, waited] : lanes.waiting) {
      if (root.first == rank) waiting.insert(waited.begin(), waited.end());
    }
    if (waiting.empty()) return text;
    const auto others = static_cast<int64_t>(waiting.size());
    if (ranks > 2 && others == ranks - 1) return text + ", and everyone else waited";
    return text + fmt::format(", and {} rank{} waited", others, others == 1 ? "" : "s");
  }
  return fmt::format("rank {} came late, and others waited", rank);
}

// The rank of those in `change` that others waited for longest in the step.
std::optional<int64_t> LatestOf(const VerdictFacts& facts, std::optional<int64_t> step,
                                const std::string& change) {
  constexpr size_t kLateRank = 1, kLateStep = 2, kWaitMs = 9;
  std::optional<int64_t> latest;
  double most_ms = 0;
  for (const auto& row : facts.late_ranks) {
    const int64_t rank = row[kLateRank].integer;
    const bool is_of_change = change.find(fmt::format("{{\"rank_late\":{}}}", rank)) !=
                              std::string::npos;
    if (!is_of_change || !step.has_value() || row[kLateStep].integer != *step) continue;
    if (latest.has_value() && row[kWaitMs].real <= most_ms) continue;
    latest = rank;
    most_ms = row[kWaitMs].real;
  }
  return latest;
}

std::string Incomplete(int64_t ranks, int64_t world_size) {
  if (world_size <= ranks) return "";
  return fmt::format(
      " Only {} of {} ranks {} recorded: who else waits, and for whom, cannot be "
      "told.",
      ranks, world_size, ranks == 1 ? "is" : "are");
}

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

PageVerdict FromGains(const VerdictFacts& facts, const LaneShares& lanes, const Gains& gains,
                      const std::vector<Gain>& all, int64_t ranks) {
  PageVerdict verdict;
  const Gain* best = nullptr;
  for (const Gain& gain : all) {
    const double gain_ms = gain.before_ms - gain.after_ms;
    if (facts.step.has_value() && gain.key.second != facts.step) continue;
    if (gain_ms * 100 < kGainPctMin * gain.before_ms) continue;
    if (best == nullptr || gain_ms > best->before_ms - best->after_ms) best = &gain;
  }
  // Who is at fault takes the first place where that gains half as much and is recommended before:
  // what gains most alone may be a remedy for all of the job.
  for (const Gain& gain : all) {
    if (best == nullptr || gain.key != best->key || gain.number >= best->number) continue;
    if (!NamesWhoIsAtFault(facts, gain.number) || NamesWhoIsAtFault(facts, best->number)) continue;
    if (2 * (gain.before_ms - gain.after_ms) >= best->before_ms - best->after_ms) best = &gain;
  }
  if (best == nullptr) {
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
    verdict.sentence = fmt::format(
        "Nothing stands out: no cause that is known here would make {} ({}{}) {:.0f} % shorter.",
        has_steps ? "a step" : "what was recorded", Time(steps[steps.size() / 2]),
        has_steps && steps.size() > 1 ? " in the median" : "", kGainPctMin);
    return verdict;
  }
  const auto row =
      std::find_if(facts.recommendations.begin(), facts.recommendations.end(),
                   [&](const auto& one) { return one[kNumber].integer == best->number; });
  verdict.step = best->key.second;
  if ((*row)[kRank].type != SqlType::kNull) verdict.rank = (*row)[kRank].integer;
  const bool is_late = (*row)[kWhatIf].text.find("\"rank_late\"") != std::string::npos;
  verdict.kind = is_late ? "late" : "problem";
  const bool in_turn = is_late && !verdict.rank.has_value();
  if (in_turn) verdict.rank = LatestOf(facts, best->key.second, (*row)[kWhatIf].text);
  if (is_late && verdict.rank.has_value()) {
    verdict.sentence =
        fmt::format("{} took {}; {} would do: {}{}.", StepName(best->key), Time(best->before_ms),
                    Time(best->after_ms), LateCause(facts, lanes, *verdict.rank, *best, ranks),
                    in_turn ? "; in other steps other ranks came late" : "");
  } else {
    verdict.sentence =
        fmt::format("{} took {}; up to {} of it could be saved: {}.", StepName(best->key),
                    Time(best->before_ms), Time(best->before_ms - best->after_ms),
                    WithinSentence((*row)[kProblem].text));
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
  const std::string incomplete = Incomplete(ranks, facts.recorded[0][kWorldSize].integer);
  if (facts.host_only) {
    verdict.sentence = kNoGpuActivity;
    return verdict;
  }
  TRACEDB_ASSIGN(gains, ReadGains(db, catalog, run, facts));
  if (gains.step_ms.empty()) {
    verdict.sentence = "No step could be replayed: what makes it long cannot be told." + incomplete;
    return verdict;
  }
  const std::vector<Gain> all = AllGains(gains);
  verdict = FromGains(facts, lanes, gains, all, ranks);
  verdict.sentence += incomplete;
  verdict.gains_json = GainsAsJson(all);
  return verdict;
}

PageVerdict VerdictOfSummaries(const VerdictFacts& facts) {
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
    const std::string cause = (*latest)[kCause].text == "host"     ? "its host: "
                              : (*latest)[kCause].text == "device" ? "its GPU: "
                                                                   : "";
    const std::string name = ShownText((*latest)[kName].text.substr(0, 120));
    verdict.sentence = fmt::format(
        "Step {} took {}: the others waited {} for rank {}, summed over ranks, at most {} at "
        "once{}.",
        *verdict.step, Time((*latest)[kStepMs].real), Time((*latest)[kWaitMs].real), *verdict.rank,
        Time((*latest)[kLateMs].real), name.empty() ? "" : " (mostly " + cause + name + ")");
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
  verdict.sentence += latest != nullptr
                          ? " How much shorter the step would be without that, only the ranks' "
                            "own databases tell."
                          : " What makes a step long, only the ranks' own databases tell.";
  verdict.sentence +=
      Incomplete(facts.recorded[0][kRanks].integer, facts.recorded[0][kWorldSize].integer);
  return verdict;
}

Status AddDoubtOfClocks(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                        PageVerdict& verdict) {
  constexpr size_t kSeverity = 0, kRun = 1, kCapture = 2;
  const QueryDoc* doc = catalog.Find("doctor/clocks_not_compared");
  if (doc == nullptr) return Done{};
  TRACEDB_ASSIGN(rows, QueryRows::Open(db, catalog, doc->name, {}));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Next());
    if (!any) return Done{};
    if (rows.Text(kSeverity) != "finding" || rows.Text(kRun) != run.name) continue;
    if (run.capture.has_value() && rows.Int(kCapture) != *run.capture) continue;
    verdict.sentence +=
        " The clocks of some hosts could not be compared: waits between these may be their clocks' "
        "difference (tracedb doctor).";
    return Done{};
  }
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
