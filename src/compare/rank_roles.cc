#include "compare/rank_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "compare/series_tests.h"

namespace tracedb {
namespace {

constexpr size_t kJudgedMax = 60;  // the largest changes

struct Axis {
  std::string_view column;
  std::string_view word;
};
constexpr std::array<Axis, 5> kAxes = {{{"tensor", "tensor"},
                                        {"context", "context"},
                                        {"pipeline", "stage"},
                                        {"data", "data"},
                                        {"expert", "expert"}}};

const std::string* RoleOf(const RunSamples& run, int64_t rank) {
  const auto at = run.roles.find(rank);
  return at == run.roles.end() ? nullptr : &at->second;
}

std::map<std::string, int64_t> RanksByRole(const RunSamples& run) {
  std::map<std::string, int64_t> ranks;
  for (const auto& [rank, role] : run.roles) ranks.emplace(role, rank);
  return ranks;
}

std::optional<int64_t> RankIn(const std::map<std::string, int64_t>& ranks,
                              const std::string& role) {
  const auto at = ranks.find(role);
  return at == ranks.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace

Status ReadRoles(const RunReader& reader, RunSamples& samples) {
  std::map<std::string, int> seen;
  samples.has_places = true;
  return reader.Each("compare/roles", [&](const NamedRow& row) {
    std::string role;
    for (const Axis& axis : kAxes) {
      if (row.IsNull(axis.column)) continue;
      role += fmt::format("{}{} {}", role.empty() ? "" : ", ", axis.word, row.Int(axis.column));
    }
    if (role.empty()) {
      samples.has_places = false;
      role = fmt::format("rank {}", row.Int("rank"));
    }
    const int alike = ++seen[role];  // where a group's description does not say what it is for
    if (alike > 1) role += fmt::format(", number {}", alike);
    samples.roles[row.Int("rank")] = std::move(role);
  });
}

void AlignRoles(std::vector<RunSamples>& base, std::vector<RunSamples>& now) {
  const auto has_places = [](const RunSamples& run) { return run.has_places; };
  if (std::all_of(base.begin(), base.end(), has_places) &&
      std::all_of(now.begin(), now.end(), has_places)) {
    return;
  }
  for (std::vector<RunSamples>* side : {&base, &now}) {
    for (RunSamples& run : *side) {
      run.has_places = false;
      for (auto& [rank, role] : run.roles) role = fmt::format("rank {}", rank);
    }
  }
}

std::vector<RankRole> RolesOf(const std::vector<RunSamples>& side,
                              const std::vector<RunSamples>& other,
                              const std::vector<int64_t>& ranks) {
  const std::map<std::string, int64_t> others = RanksByRole(other.front());
  std::vector<RankRole> roles;
  for (const int64_t rank : ranks) {
    const std::string* role = RoleOf(side.front(), rank);
    if (role == nullptr) continue;
    roles.push_back({rank, *role, RankIn(others, *role)});
  }
  return roles;
}

Status ReadCausedWaits(const RunReader& reader, const std::map<StepId, size_t>& places,
                       RunSamples& samples) {
  return reader.Each("compare/rank_waits", [&](const NamedRow& row) {
    const auto at = places.find({row.Int("capture"), row.Int("step")});
    if (at == places.end()) return;
    std::vector<double>& steps = samples.caused_ns[row.Int("rank")];
    steps.resize(places.size());
    steps[at->second] += static_cast<double>(row.Ns("caused_wait_ms"));
  });
}

std::vector<RankChange> FindRankChanges(const Sides& sides, double least_ns) {
  std::set<std::string> roles;
  std::map<const RunSamples*, std::map<std::string, std::vector<double>>> caused_ns;
  for (const std::vector<RunSamples>* side : {&sides.base, &sides.now}) {
    for (const RunSamples& run : *side) {
      for (const auto& [rank, role] : run.roles) {
        roles.insert(role);
        const auto at = run.caused_ns.find(rank);
        if (at != run.caused_ns.end()) caused_ns[&run][role] = at->second;
      }
    }
  }
  const std::map<std::string, int64_t> base_ranks = RanksByRole(sides.base.front());
  const std::map<std::string, int64_t> new_ranks = RanksByRole(sides.now.front());
  const auto series_of = [&caused_ns](const std::string& role) -> SeriesOfRun {
    return [&caused_ns, role](const RunSamples& run) -> const std::vector<double>* {
      const auto& of_run = caused_ns[&run];
      const auto at = of_run.find(role);
      return at == of_run.end() ? nullptr : &at->second;
    };
  };
  std::vector<RankChange> changes;
  for (const std::string& role : roles) {
    const SeriesOfRun series = series_of(role);
    changes.push_back({role,
                       RankIn(base_ranks, role),
                       RankIn(new_ranks, role),
                       MiddleOf(sides.base, series),
                       MiddleOf(sides.now, series),
                       {}});
  }
  const auto size = [](const RankChange& change) {
    const bool is_both = change.base_rank.has_value() && change.new_rank.has_value();
    return is_both ? std::abs(change.new_ns - change.base_ns) : -1;
  };
  std::stable_sort(changes.begin(), changes.end(),
                   [&](const auto& left, const auto& right) { return size(left) > size(right); });
  std::vector<Judgement> judgements;
  std::vector<double> ps;
  for (size_t i = 0; i < std::min(changes.size(), kJudgedMax) && size(changes[i]) >= 0; ++i) {
    judgements.push_back(JudgeSides(sides, series_of(changes[i].role), least_ns));
    ps.push_back(judgements.back().p);
  }
  const std::vector<double> adjusted = HolmAdjusted(ps);
  for (size_t i = 0; i < judgements.size(); ++i) {
    SetAdjustedP(judgements[i], adjusted[i]);
    changes[i].finding = FindingOf(judgements[i]);
  }
  return changes;
}

}  // namespace tracedb
