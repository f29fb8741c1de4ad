#include "compare/side_judge.h"

#include <algorithm>
#include <string>

namespace tracedb {
namespace {

// Of the steady part, or of all steps where there is none; of a rank.
std::vector<double> SteadySteps(const RunSamples& run, const std::vector<double>* series) {
  const size_t count = run.used.steady_count == 0 ? run.used.steps : run.used.steady_count;
  std::vector<double> steps(count, 0.0);
  if (series == nullptr || run.ranks == 0) return steps;
  for (size_t i = 0; i < count; ++i) {
    steps[i] = (*series)[run.used.steady_first + i] / static_cast<double>(run.ranks);
  }
  return steps;
}

std::vector<double> EachRun(const std::vector<RunSamples>& runs, const SeriesOfRun& series) {
  std::vector<double> values;
  for (const RunSamples& run : runs) {
    const std::vector<double> steps = SteadySteps(run, series(run));
    if (!steps.empty()) values.push_back(MiddleMean(steps));
  }
  return values;
}

// As WhyUnfit says of the first run that it says something of.
std::string_view WhyUnfitSides(const Sides& sides) {
  for (const std::vector<RunSamples>* side : {&sides.base, &sides.now}) {
    for (const RunSamples& run : *side) {
      if (run.used.is_whole) return "there are no steps in the recordings, only the whole of each";
      const std::string_view why = WhyUnfit({run.used.steady_first, run.used.steady_count});
      if (!why.empty()) return why;
    }
  }
  return {};
}

}  // namespace

double MiddleOf(const RunSamples& run, const std::vector<double>* series) {
  if (series == nullptr || run.middle.empty()) return 0;
  double sum = 0;
  for (const size_t place : run.middle) sum += (*series)[place];
  return sum / static_cast<double>(run.middle.size() * run.ranks);
}

double MiddleOf(const std::vector<RunSamples>& runs, const SeriesOfRun& series) {
  if (runs.empty()) return 0;
  double sum = 0;
  for (const RunSamples& run : runs) sum += MiddleOf(run, series(run));
  return sum / static_cast<double>(runs.size());
}

Judgement JudgeSides(const Sides& sides, const SeriesOfRun& series, double least_ns) {
  Margins margins;
  margins.effect_min =
      std::max(least_ns, sides.effect_min * std::abs(MiddleOf(sides.base, series)));
  margins.unfit = WhyUnfitSides(sides);
  if (sides.BetweenRuns()) {
    return JudgeRuns(EachRun(sides.base, series), EachRun(sides.now, series), sides.spread,
                     margins);
  }
  const RunSamples& base = sides.base.front();
  const RunSamples& now = sides.now.front();
  return JudgeSteps(SteadySteps(base, series(base)), SteadySteps(now, series(now)), margins);
}

Finding FindingOf(const Judgement& judgement) {
  return {judgement.verdict,       judgement.p,
          judgement.low,           judgement.high,
          judgement.least_visible, std::string(judgement.reason)};
}

}  // namespace tracedb
