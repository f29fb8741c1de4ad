#include "replay/changes/late_steps.h"

#include <numeric>

namespace tracedb {
namespace {

uint32_t RootOf(std::vector<uint32_t>& roots, uint32_t place) {
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
  const Collective& collective = rows_.collectives[rows_.activities[part].collective];
  for (auto before = roots_.lower_bound(step); before != roots_.begin();) {
    --before;
    if (AreConnected(collective, before->second)) break;
    steps.push_back(before->first);
  }
  return steps;
}

// Ranks that met in a step, each other or others that both met.
void LateSteps::Connect() {
  std::map<int64_t, uint32_t> place_of_rank;
  for (const JobTrace& trace : rows_.traces) {
    const auto next = static_cast<uint32_t>(place_of_rank.size());
    places_.push_back(place_of_rank.try_emplace(trace.rank, next).first->second);
  }
  std::vector<uint32_t> apart(place_of_rank.size());
  std::iota(apart.begin(), apart.end(), 0U);
  for (const Call& call : rows_.calls) {
    if (call.kind == CallKind::kStep) roots_.try_emplace(call.step, apart);
  }
  std::map<int64_t, uint32_t> first_in_step;
  for (const Collective& collective : rows_.collectives) {
    first_in_step.clear();
    for (uint32_t p = 0; p < collective.part_count; ++p) {
      const uint32_t part = rows_.parts[collective.first_part + p];
      const auto step = roots_.find(rows_.activities[part].step);
      if (step == roots_.end()) continue;
      const uint32_t place = PlaceOf(part);
      const uint32_t first = first_in_step.try_emplace(step->first, place).first->second;
      step->second[RootOf(step->second, place)] = RootOf(step->second, first);
    }
  }
  for (auto& [step, roots] : roots_) {
    for (uint32_t place = 0; place < roots.size(); ++place) roots[place] = RootOf(roots, place);
  }
}

bool LateSteps::AreConnected(const Collective& collective,
                             const std::vector<uint32_t>& roots) const {
  const uint32_t root = roots[PlaceOf(rows_.parts[collective.first_part])];
  for (uint32_t p = 1; p < collective.part_count; ++p) {
    if (roots[PlaceOf(rows_.parts[collective.first_part + p])] != root) return false;
  }
  return true;
}

}  // namespace tracedb
