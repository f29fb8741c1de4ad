// One number by step, of all runs of both sides: its change, and whether that is more than noise.
#pragma once

#include <functional>
#include <vector>

#include "compare/run_samples.h"
#include "compare/series_noise.h"

namespace tracedb {

struct Sides {
  const std::vector<RunSamples>& base;
  const std::vector<RunSamples>& now;
  // The time of a step in further runs that are alike, as `tracedb baseline` keeps them.
  std::vector<double> spread;
  double effect_min = 0.01;

  // With two runs or more on a side, or further ones, a run is the unit.
  bool BetweenRuns() const { return base.size() > 1 || now.size() > 1 || spread.size() > 1; }
};

// Of a run, by step and all ranks together; nullptr: it has none of it.
using SeriesOfRun = std::function<const std::vector<double>*(const RunSamples&)>;

// Means of the middle steps and the ranks.
double MiddleOf(const RunSamples& run, const std::vector<double>* series);
// The same over the runs of a side.
double MiddleOf(const std::vector<RunSamples>& runs, const SeriesOfRun& series);

// `least_ns`: a smaller change is the same, whatever it is in percent.
Judgement JudgeSides(const Sides& sides, const SeriesOfRun& series, double least_ns);

Finding FindingOf(const Judgement& judgement);

}  // namespace tracedb
