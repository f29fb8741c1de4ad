#include "replay/changes/late_steps.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

namespace tracedb {
namespace {

// A part of a collective, and the first of its parts in that step.
struct PartInStep {
  int64_t step;
  uint32_t first, place;  // ranks, among all
};

uint32_t JoinedRoot(std::vector<uint32_t>& roots, uint32_t place) {
  while (roots[place] != place) {
    roots[place] = roots[roots[place]];
    place = roots[place];
  }
  return place;
}

}  // namespace

std::vector<int64_t> LateSteps::Of(uint32_t part, int64_t step) {
  std::vector<int64_t> steps = {step};
  if (step == kNoStep) return steps;
  if (places_.empty()) Connect();
  const Collective& collective = rows_.collectives[rows_.PartOf(rows_.activities[part]).collective];
  for (auto before = met_.lower_bound(step); before != met_.begin();) {
    --before;
    if (AreConnected(collective, before->second)) break;
    steps.push_back(before->first);
  }
  return steps;
}

std::optional<int64_t> LateSteps::EndedLate(uint32_t part, int64_t first_step) {
  const Activity& activity = rows_.activities[part];
  if (rows_.StepOf(activity) == kNoStep || first_step == kNoStep) return std::nullopt;
  if (places_.empty()) Connect();
  const auto own = parts_.find({rows_.TraceOf(activity), rows_.StepOf(activity)});
  const bool is_first = own != parts_.end() && own->second.first_start_ns == activity.start_ns;
  const auto step = met_.lower_bound(first_step);
  if (!is_first || step == met_.begin()) return std::nullopt;
  return std::prev(step)->first;
}

std::optional<int64_t> LateSteps::LastMet(uint32_t trace, int64_t step) {
  if (places_.empty()) Connect();
  const auto found = parts_.find({trace, step});
  if (found == parts_.end()) return std::nullopt;
  return found->second.last_met_ns;
}

void LateSteps::FindParts() {
  for (const Collective& collective : rows_.collectives) {
    int64_t met_ns = std::numeric_limits<int64_t>::min();
    for (uint32_t p = 0; p < collective.part_count; ++p) {
      met_ns = std::max(met_ns, rows_.activities[rows_.parts[collective.first_part + p]].start_ns);
    }
    for (uint32_t p = 0; p < collective.part_count; ++p) {
      const Activity& part = rows_.activities[rows_.parts[collective.first_part + p]];
      if (rows_.StepOf(part) == kNoStep) continue;
      Parts& of_step =
          parts_
              .try_emplace({rows_.TraceOf(part), rows_.StepOf(part)}, Parts{part.start_ns, met_ns})
              .first->second;
      of_step.first_start_ns = std::min(of_step.first_start_ns, part.start_ns);
      of_step.last_met_ns = std::max(of_step.last_met_ns, met_ns);
    }
  }
}

// Ranks that met in a step, each other or others that both met.
void LateSteps::Connect() {
  FindParts();
  std::map<int64_t, uint32_t> place_of_rank;
  for (const JobTrace& trace : rows_.traces) {
    const auto next = static_cast<uint32_t>(place_of_rank.size());
    places_.push_back(place_of_rank.try_emplace(trace.rank, next).first->second);
  }
  for (const JobStep& here : rows_.steps) met_.try_emplace(here.step);
  std::vector<PartInStep> parts;
  std::map<int64_t, uint32_t> first_in_step;
  for (const Collective& collective : rows_.collectives) {
    first_in_step.clear();
    for (uint32_t p = 0; p < collective.part_count; ++p) {
      const uint32_t part = rows_.parts[collective.first_part + p];
      const int64_t step = rows_.StepOf(rows_.activities[part]);
      if (!met_.contains(step)) continue;
      const uint32_t place = PlaceOf(part);
      parts.push_back({step, first_in_step.try_emplace(step, place).first->second, place});
    }
  }
  std::sort(parts.begin(), parts.end(),
            [](const PartInStep& a, const PartInStep& b) { return a.step < b.step; });
  std::vector<uint32_t> roots(place_of_rank.size());
  std::iota(roots.begin(), roots.end(), 0U);
  for (auto begin = parts.begin(); begin != parts.end();) {
    MetInStep& met = met_[begin->step];
    auto end = begin;
    for (; end != parts.end() && end->step == begin->step; ++end) {
      roots[JoinedRoot(roots, end->place)] = JoinedRoot(roots, end->first);
      met.push_back({end->place, 0});
    }
    const auto by_place = [](const Met& a, const Met& b) { return a.place < b.place; };
    const auto is_same = [](const Met& a, const Met& b) { return a.place == b.place; };
    std::sort(met.begin(), met.end(), by_place);
    met.erase(std::unique(met.begin(), met.end(), is_same), met.end());
    met.shrink_to_fit();
    for (Met& rank : met) rank.root = JoinedRoot(roots, rank.place);
    for (const Met& rank : met) roots[rank.place] = rank.place;  // the next step begins apart
    begin = end;
  }
}

uint32_t LateSteps::RootOf(const MetInStep& met, uint32_t place) {
  const auto found =
      std::lower_bound(met.begin(), met.end(), place,
                       [](const Met& a, uint32_t wanted) { return a.place < wanted; });
  return found != met.end() && found->place == place ? found->root : place;
}

bool LateSteps::AreConnected(const Collective& collective, const MetInStep& met) const {
  const uint32_t root = RootOf(met, PlaceOf(rows_.parts[collective.first_part]));
  for (uint32_t p = 1; p < collective.part_count; ++p) {
    if (RootOf(met, PlaceOf(rows_.parts[collective.first_part + p])) != root) return false;
  }
  return true;
}

}  // namespace tracedb
