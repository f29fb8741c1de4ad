#include "report/report_late.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "report/verdict_words.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

using Row = std::vector<RowValue>;
using Rows = std::vector<const Row*>;

// Columns of report/late_ranks.
constexpr size_t kLateRank = 1, kLateStep = 2, kCause = 3, kName = 4, kDur = 6, kLateMs = 8,
                 kWaitMs = 9, kHeldStep = 10;
constexpr size_t kRowsMax = 40;  // the query's limit: what was little is not among them

bool IsOfPieces(const Row& row) { return row[kDur].type == SqlType::kNull; }

// By how much the rank was late; of pieces in the whole step: before each collective a little.
double LateMs(const Row& row, int64_t ranks) {
  const double each = row[kWaitMs].real / static_cast<double>(std::max<int64_t>(ranks - 1, 1));
  return IsOfPieces(row) ? std::max(row[kLateMs].real, each) : row[kLateMs].real;
}

bool IsIn(const Row& row, size_t column, std::optional<int64_t> step) {
  return !step.has_value() || (row[column].type != SqlType::kNull && row[column].integer == *step);
}

bool Begins(const Row& row, std::optional<int64_t> step) {
  return IsIn(row, row[kHeldStep].type == SqlType::kNull ? kLateStep : kHeldStep, step);
}

// What began in the step and what a collective of it waited for: at the end of a step something
// makes the next one's wait.
Rows RowsOf(const VerdictFacts& facts, int64_t rank, std::optional<int64_t> step) {
  Rows found;
  for (const Row& row : facts.late_ranks) {
    if (row[kLateRank].integer != rank) continue;
    if (IsIn(row, kHeldStep, step) || IsIn(row, kLateStep, step)) found.push_back(&row);
  }
  return found;
}

// The one that explains at least half of the gain, what began in the step before others; null: none
// does.
const Row* Explaining(const Rows& rows, const Gain& gain, int64_t ranks) {
  const Row* best = nullptr;
  for (const Row* row : rows) {
    if (2 * LateMs(*row, ranks) < gain.ms()) continue;
    const auto weight = [&](const Row& one) {
      return std::pair(Begins(one, gain.key.second), std::min(LateMs(one, ranks), gain.ms()));
    };
    if (best == nullptr || weight(*row) > weight(*best)) best = row;
  }
  return best;
}

std::string CauseText(const Row& row, int64_t ranks) {
  const int64_t rank = row[kLateRank].integer;
  const std::string name = ShownText(row[kName].text.substr(0, 120));
  if (IsOfPieces(row)) {
    return fmt::format("rank {}'s host is slower than the others' ({})", rank, name);
  }
  const std::string length = ShownMs(row[kDur].real);
  const double late_ms = LateMs(row, ranks);
  if (row[kCause].text == "host" && 2 * row[kDur].real < late_ms) {
    // It may be one of many.
    return fmt::format("rank {}'s host was held up for {}; the longest slice in that is {} of {}",
                       rank, ShownMs(late_ms), length, name);
  }
  return row[kCause].text == "host"
             ? fmt::format("rank {}'s host was held up for {} ({})", rank, length, name)
             : fmt::format("rank {}'s GPU took longer than the others' ({}: {})", rank, name,
                           length);
}

// Late by little before each of many collectives: no one slice explains what that costs, all of
// them do. Empty where they do not either.
std::string AgainAndAgain(const VerdictFacts& facts, const Rows& rows, const Gain& gain,
                          int64_t ranks) {
  if (rows.size() < 2) return "";
  double all_ms = 0;
  const Row* most = rows.front();
  for (const Row* row : rows) {
    all_ms += LateMs(*row, ranks);
    if (LateMs(*row, ranks) > LateMs(*most, ranks)) most = row;
  }
  if (2 * all_ms < gain.ms() && facts.late_ranks.size() < kRowsMax) return "";
  return fmt::format("rank {} came late again and again, by {} at most (its {}: {})",
                     (*most)[kLateRank].integer, ShownMs((*most)[kLateMs].real),
                     (*most)[kCause].text == "host" ? "host" : "GPU",
                     ShownText((*most)[kName].text.substr(0, 120)));
}

// "ranks 1, 2 and 5"
std::string RanksText(const std::vector<int64_t>& ranks) {
  std::string text = fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", ranks.front());
  for (size_t i = 1; i < ranks.size(); ++i) {
    text += fmt::format("{}{}", i + 1 == ranks.size() ? " and " : ", ", ranks[i]);
  }
  return text;
}

// The rank of a recommendation; -1: it has none.
int64_t RankOf(const VerdictFacts& facts, const Gain& gain) {
  for (const Row& row : facts.recommendations) {
    if (row[kNumber].integer != gain.number) continue;
    return row[kRank].type == SqlType::kNull ? -1 : row[kRank].integer;
  }
  return -1;
}

// ", and everyone else waited"
std::string WhoWaited(const LaneShares& lanes, int64_t rank, int64_t ranks) {
  std::set<int64_t> waiting;
  for (const auto& [root, waited] : lanes.waiting) {
    if (root.first == rank) waiting.insert(waited.begin(), waited.end());
  }
  const auto others = static_cast<int64_t>(waiting.size());
  if (others == 0) return "";
  if (ranks > 2 && others == ranks - 1) return ", and everyone else waited";
  return fmt::format(", and {} rank{} waited", others, others == 1 ? "" : "s");
}

}  // namespace

Status ReadLateRanks(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                     const StepKey& key, FactRows& late_ranks, LaneShares& lanes) {
  constexpr const char* kLateRanks = "report/late_ranks";
  constexpr const char* kWaits = "report/root_waits";
  constexpr size_t kRoot = 1, kWaiting = 2;
  if (CaptureOf(kLateRanks, run).value_or(key.first) == key.first) return Done{};
  const std::string capture = fmt::format("capture={}", key.first);
  const std::string of_run = "run=" + run.name;
  TRACEDB_ASSIGN(late, QueryRows::Open(db, catalog, kLateRanks, {of_run, capture}));
  late_ranks.clear();
  for (;;) {
    TRACEDB_ASSIGN(any, late.Next());
    if (!any) break;
    late_ranks.push_back(late.values());
  }
  TRACEDB_ASSIGN(waits, QueryRows::Open(db, catalog, kWaits, {of_run, capture}));
  lanes.waiting.clear();
  for (;;) {
    TRACEDB_ASSIGN(any, waits.Next());
    if (!any) return Done{};
    if (waits.IsNull(kRoot) || waits.Int(kRoot) == waits.Int(kWaiting)) continue;
    lanes.waiting[{waits.Int(kRoot), ""}].insert(waits.Int(kWaiting));
  }
}

std::string LateCause(const VerdictFacts& facts, const LaneShares& lanes, int64_t rank,
                      const Gain& gain, int64_t ranks) {
  const Rows rows = RowsOf(facts, rank, gain.key.second);
  const std::string waited = WhoWaited(lanes, rank, ranks);
  if (const Row* row = Explaining(rows, gain, ranks)) return CauseText(*row, ranks) + waited;
  const std::string often = AgainAndAgain(facts, rows, gain, ranks);
  if (!often.empty()) return often + waited;
  return fmt::format("rank {} came late{} (what held it up cannot be told)", rank,
                     waited.empty() ? ", and others waited" : waited);
}

std::optional<int64_t> LatestOf(const VerdictFacts& facts, std::optional<int64_t> step,
                                const std::string& change) {
  const std::vector<int64_t> named = LateRanksOf(change);
  const Row* latest = nullptr;
  const auto weight = [&](const Row& row) {
    return std::pair(Begins(row, step), row[kWaitMs].real);
  };
  for (const Row& row : facts.late_ranks) {
    if (!step.has_value() || !(IsIn(row, kHeldStep, step) || IsIn(row, kLateStep, step))) continue;
    if (std::find(named.begin(), named.end(), row[kLateRank].integer) == named.end()) continue;
    if (latest == nullptr || weight(row) > weight(*latest)) latest = &row;
  }
  return latest == nullptr ? std::nullopt : std::optional((*latest)[kLateRank].integer);
}

std::string InOtherSteps(const VerdictFacts& facts, const std::vector<Gain>& all,
                         const Gain& best) {
  std::map<StepKey, double> own;
  double own_ms = 0;
  for (const Gain& gain : all) {
    if (gain.number != best.number) continue;
    own[gain.key] = gain.ms();
    own_ms += gain.ms();
  }
  std::vector<int64_t> ranks;
  for (const Row& row : facts.recommendations) {
    const int64_t number = row[kNumber].integer;
    if (number == best.number || row[kRank].type == SqlType::kNull ||
        !row[kWhatIf].text.starts_with(R"([{"rank_late")") || IsOfHidden(row)) {
      continue;
    }
    double apart_ms = 0;  // in steps in which the rank of `best` is not who is late
    for (const Gain& gain : all) {
      if (gain.number == number && gain.ms() > 2 * own[gain.key]) apart_ms += gain.ms();
    }
    if (2 * apart_ms >= own_ms) ranks.push_back(row[kRank].integer);
  }
  if (ranks.empty()) return "";
  std::sort(ranks.begin(), ranks.end());
  return fmt::format("; in other steps {} came late", RanksText(ranks));
}

std::string AndTheHidden(const VerdictFacts& facts, const std::vector<Gain>& all,
                         const Gain& best) {
  std::vector<int64_t> hidden;  // of the row with the most of them: it gains most
  double after_ms = 0;
  for (const Row& row : facts.recommendations) {
    if (!IsOfHidden(row)) continue;
    std::vector<int64_t> ranks = LateRanksOf(row[kWhatIf].text);
    const int64_t head = RankOf(facts, best);
    if (head >= 0 && ranks.front() != head) continue;  // hidden by another one
    std::erase(ranks, head);
    for (const Gain& with : all) {
      if (with.number != row[kNumber].integer || with.key != best.key) continue;
      if ((with.ms() - best.ms()) * 100 < kGainPctMin * best.before_ms) continue;
      if (ranks.size() <= hidden.size()) continue;
      hidden = ranks;
      after_ms = with.after_ms;
    }
  }
  if (hidden.empty()) return "";
  return fmt::format("; were {}, which that hides, not late either: {}", RanksText(hidden),
                     ShownMs(after_ms));
}

bool IsOfHidden(const std::vector<RowValue>& row) {
  return row[kRank].type != SqlType::kNull && LateRanksOf(row[kWhatIf].text).size() > 1;
}

std::vector<int64_t> LateRanksOf(const std::string& change) {
  constexpr std::string_view kKey = "{\"rank_late\":";
  std::vector<int64_t> ranks;
  for (size_t at = change.find(kKey); at != change.npos; at = change.find(kKey, at)) {
    at += kKey.size();
    int64_t rank = 0;
    std::from_chars(change.data() + at, change.data() + change.size(), rank);
    ranks.push_back(rank);
  }
  return ranks;
}

bool AreLateByGpu(const VerdictFacts& facts, const std::vector<int64_t>& ranks) {
  return std::all_of(facts.late_ranks.begin(), facts.late_ranks.end(), [&](const Row& row) {
    const int64_t rank = row[kLateRank].integer;
    return std::find(ranks.begin(), ranks.end(), rank) == ranks.end() ||
           row[kCause].text == "device";
  });
}

std::string AndTheOthers(const std::string& change, int64_t named) {
  constexpr size_t kNamedMax = 4;
  std::vector<int64_t> others = LateRanksOf(change);
  std::erase(others, named);
  if (others.empty()) return "";
  const char* const where = " came late too, in this step or in others";
  if (others.size() > kNamedMax) return fmt::format("; {} other ranks{}", others.size(), where);
  return fmt::format("; rank{} {}{}", others.size() == 1 ? "" : "s", fmt::join(others, ", "),
                     where);
}

}  // namespace tracedb
