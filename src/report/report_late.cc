#include "report/report_late.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/verdict_words.h"
#include "tracedb/text/result_text.h"

namespace tracedb {

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
                                ShownMs(row[kDur].real), name)
                  : fmt::format("rank {}'s GPU took longer than the others' ({}: {})", rank, name,
                                ShownMs(row[kDur].real));
    // Late by little before each of many collectives: no one slice explains what that costs.
    const auto times =
        std::count_if(facts.late_ranks.begin(), facts.late_ranks.end(), [&](const auto& other) {
          return other[kLateRank].integer == rank &&
                 (!step.has_value() || other[kLateStep].integer == *step);
        });
    if (times > 1 && row[kDur].type != SqlType::kNull &&
        row[kLateMs].real * 2 < gain.before_ms - gain.after_ms) {
      text = fmt::format("rank {} came late again and again, by {} at most (its {}: {})", rank,
                         ShownMs(row[kLateMs].real), is_host ? "host" : "GPU", name);
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

std::optional<int64_t> LatestOf(const VerdictFacts& facts, std::optional<int64_t> step,
                                const std::string& change) {
  constexpr size_t kLateRank = 1, kLateStep = 2, kWaitMs = 9;
  std::optional<int64_t> latest;
  double most_ms = 0;
  for (const auto& row : facts.late_ranks) {
    const int64_t rank = row[kLateRank].integer;
    const bool is_of_change =
        change.find(fmt::format("{{\"rank_late\":{}}}", rank)) != std::string::npos;
    if (!is_of_change || !step.has_value() || row[kLateStep].integer != *step) continue;
    if (latest.has_value() && row[kWaitMs].real <= most_ms) continue;
    latest = rank;
    most_ms = row[kWaitMs].real;
  }
  return latest;
}

}  // namespace tracedb
