#include "compare/fact_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

namespace tracedb {
namespace {

constexpr std::string_view kRankNumbers = "rank numbers";  // of compare/facts
constexpr std::string_view kRoles = "roles of this side alone";
constexpr double kLostPctMax = 1;  // of a rank's launches

double Number(std::string_view text) {
  double number = std::numeric_limits<double>::quiet_NaN();  // of another text: like none
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Is more of it lost than a comparison can bear?
bool IsLoss(std::string_view fact, std::string_view value) {
  if (fact == kIncompleteFact) return Number(value) > 0;
  return fact == kLostFact && Number(value) > kLostPctMax;
}

bool AreAlike(const RunSamples& run, const std::string& fact, std::string_view base,
              std::string_view now) {
  if (base == now) return true;
  const auto pct = run.alike_pct.find(fact);
  return pct != run.alike_pct.end() &&
         std::abs(Number(now) - Number(base)) <= pct->second / 100 * Number(base);
}

using Values = std::vector<ValueOfRuns>;

// The values of `fact` in the runs of a side, those that are alike as one. What is not known of a
// run is no value; but an argument that its log does not have is "".
Values ValuesOf(const std::vector<RunSamples>& side, const std::string& fact) {
  Values values;
  const bool is_argument = fact.starts_with(kArgumentFact);
  for (const RunSamples& run : side) {
    const auto at = run.used.facts.find(fact);
    const bool is_known = at != run.used.facts.end();
    if (!is_known && !(is_argument && run.used.HasArguments())) continue;
    const std::string value = is_known ? at->second : "";
    const auto like = std::find_if(values.begin(), values.end(), [&](const ValueOfRuns& other) {
      return AreAlike(side.front(), fact, other.value, value);
    });
    if (like == values.end()) {
      values.push_back({value, {run.used.name}});
    } else {
      like->runs.push_back(run.used.name);
    }
  }
  return values;
}

bool AllIn(const RunSamples& run, const std::string& fact, const Values& some, const Values& all) {
  return std::all_of(some.begin(), some.end(), [&](const ValueOfRuns& one) {
    return std::any_of(all.begin(), all.end(), [&](const ValueOfRuns& other) {
      return AreAlike(run, fact, other.value, one.value);
    });
  });
}

std::string TextOf(const Values& values) {
  std::string text;
  for (const ValueOfRuns& value : values) {
    text += fmt::format("{}{}", &value == values.data() ? "" : "; ", value.value);
  }
  return text;
}

bool HavePlaces(const Sides& sides) {
  const auto has = [](const RunSamples& run) { return run.has_places; };
  return std::all_of(sides.base.begin(), sides.base.end(), has) &&
         std::all_of(sides.now.begin(), sides.now.end(), has);
}

// Of all runs. Who has which number is no matter where groups tell the ranks' roles.
std::set<std::string> FactsOf(const Sides& sides) {
  std::set<std::string> facts;
  for (const auto* side : {&sides.base, &sides.now}) {
    for (const RunSamples& run : *side) {
      for (const auto& [fact, value] : run.used.facts) facts.insert(fact);
    }
  }
  if (HavePlaces(sides)) facts.erase(std::string(kRankNumbers));
  return facts;
}

bool Decides(const Sides& sides, const std::string& fact) {
  const auto decides = [&](const RunSamples& run) { return run.used.deciding.contains(fact); };
  return std::any_of(sides.base.begin(), sides.base.end(), decides) ||
         std::any_of(sides.now.begin(), sides.now.end(), decides);
}

std::set<std::string> RolesOf(const RunSamples& run) {
  std::set<std::string> roles;
  for (const auto& [rank, role] : run.roles) roles.insert(role);
  return roles;
}

// Those of `run` that `other` has not.
std::string RolesMissing(const RunSamples& run, const RunSamples& other) {
  constexpr size_t kShown = 4;
  std::set<std::string> roles = RolesOf(run);
  for (const auto& [rank, role] : other.roles) roles.erase(role);
  std::string text;
  size_t shown = 0;
  for (const std::string& role : roles) {
    if (shown++ == kShown) return fmt::format("{}; {} more", text, roles.size() - kShown);
    text += (text.empty() ? "" : "; ") + role;
  }
  return text;
}

// What decides first, then arguments of the job: they are often the answer.
int PlaceOf(const FactDifference& difference) {
  return difference.decides ? 0 : difference.fact.starts_with(kArgumentFact) ? 1 : 2;
}

// Each run of its own, as the folder that a job writes to: that tells nothing.
bool IsOfEachRun(const Sides& sides, const std::string& fact, const Values& base,
                 const Values& now) {
  const auto is_shared = [](const ValueOfRuns& value) { return value.runs.size() > 1; };
  if (std::any_of(base.begin(), base.end(), is_shared)) return false;
  if (std::any_of(now.begin(), now.end(), is_shared)) return false;
  return std::none_of(now.begin(), now.end(), [&](const ValueOfRuns& value) {
    return AllIn(sides.base.front(), fact, {value}, base);
  });
}

}  // namespace

std::string WhyLost(const RunUsed& run) {
  for (const auto& [fact, value] : run.facts) {
    if (!IsLoss(fact, value)) continue;
    return fact == kIncompleteFact ? fmt::format("{} of its traces cut short or damaged", value)
                                   : fmt::format("a rank lost {} % of its GPU activities", value);
  }
  return "";
}

bool HasUnlaunched(const RunUsed& run) {
  const auto at = run.facts.find(std::string(kUnlaunchedFact));
  return at != run.facts.end() && Number(at->second) > kLostPctMax;
}

std::vector<FactDifference> FindDifferences(const Sides& sides) {
  std::vector<FactDifference> differences;
  const RunSamples& first = sides.base.front();
  if (HavePlaces(sides)) {
    FactDifference roles{std::string(kRoles), RolesMissing(first, sides.now.front()),
                         RolesMissing(sides.now.front(), first), true};
    if (!roles.base.empty() || !roles.now.empty()) differences.push_back(std::move(roles));
  }
  for (const std::string& fact : FactsOf(sides)) {
    const Values base = ValuesOf(sides.base, fact);
    const Values now = ValuesOf(sides.now, fact);
    const auto is_loss = [&](const ValueOfRuns& value) { return IsLoss(fact, value.value); };
    const bool has_loss = std::any_of(base.begin(), base.end(), is_loss) ||
                          std::any_of(now.begin(), now.end(), is_loss);
    const bool differ = !base.empty() && !now.empty() &&
                        !(AllIn(first, fact, base, now) && AllIn(first, fact, now, base));
    if (!differ && !has_loss) continue;
    differences.push_back(
        {fact, TextOf(base), TextOf(now), has_loss || (differ && Decides(sides, fact))});
  }
  std::stable_sort(differences.begin(), differences.end(), [](const auto& left, const auto& right) {
    return PlaceOf(left) < PlaceOf(right);
  });
  return differences;
}

std::vector<UnlikeRuns> FindUnlikeRuns(const Sides& sides) {
  std::vector<UnlikeRuns> unlike;
  const bool have_places = HavePlaces(sides);
  for (const bool in_new : {false, true}) {
    const std::vector<RunSamples>& side = in_new ? sides.now : sides.base;
    const auto other = std::find_if(side.begin(), side.end(), [&](const RunSamples& run) {
      return have_places && RolesOf(run) != RolesOf(side.front());
    });
    if (other != side.end()) {
      unlike.push_back({in_new,
                        "roles of this run alone",
                        {{RolesMissing(side.front(), *other), {side.front().used.name}},
                         {RolesMissing(*other, side.front()), {other->used.name}}},
                        true});
    }
    for (const std::string& fact : FactsOf(sides)) {
      Values values = ValuesOf(side, fact);
      if (values.size() < 2) continue;
      const bool decides = Decides(sides, fact);
      if (!decides &&
          IsOfEachRun(sides, fact, ValuesOf(sides.base, fact), ValuesOf(sides.now, fact))) {
        continue;
      }
      unlike.push_back({in_new, fact, std::move(values), decides});
    }
  }
  std::stable_sort(
      unlike.begin(), unlike.end(),
      [](const UnlikeRuns& left, const UnlikeRuns& right) { return left.decides > right.decides; });
  return unlike;
}

}  // namespace tracedb
