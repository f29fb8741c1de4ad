// The noise of series of step times, and whether two of them differ by more than it. Pure
// functions of the numbers, the same whenever they are asked. DECISION-noise.md has why.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tracedb/compare/comparison.h"

namespace tracedb {

// The mean of the middle half of the values: little moved by a few odd ones, as the median, and
// smoother. 0 of none.
double MiddleMean(std::span<const double> values);

// The steps that are in that half, by their places in rising order.
std::vector<size_t> MiddlePlaces(std::span<const double> values);

// Steps that follow each other and go on alike: all of them where they neither grow nor shrink,
// else the longest stretch that does not, if that is three quarters of them and 12 at least.
struct SteadyPart {
  size_t first = 0;
  size_t count = 0;  // 0: there is none
};
SteadyPart FindSteadyPart(std::span<const double> steps, double effect_min);

// Why nothing can be told of a run with that part: there is none, or it has fewer than 12 steps.
// Empty: something can.
std::string_view WhyUnfit(const SteadyPart& part);

// How far apart the medians of its four quarters lie: what the run does by itself, so two runs may
// be as far apart.
double Drift(std::span<const double> steps);

// Steps that are drawn together: as many as hang together, and the root of their number at least.
size_t BlockLength(std::span<const double> steps);

struct Judgement {
  Verdict verdict = Verdict::kCannotTell;
  double base = 0;
  double change = 0;  // new less base
  double low = 0;     // of the change: where it is with 95 %
  double high = 0;
  double p = 1;
  bool between_runs = false;  // the unit is a run; else a step
  double effect_min = 0;
  double margin = 0;                    // a change is one where all of the interval is beyond it
  std::optional<double> least_visible;  // nothing: no change could have been seen
  std::string_view reason;              // why it cannot be told; else empty
};

struct Margins {
  double effect_min = 0;   // in the unit of the values: less is the same
  std::string_view unfit;  // as WhyUnfit says of one of the runs; empty: of none
};

// Steps of one run against those of another.
Judgement JudgeSteps(std::span<const double> base, std::span<const double> now,
                     const Margins& margins);

// Runs against runs, each by one value. `spread` are further runs that are known to be alike: they
// tell of the noise alone. Fewer than two alike tell nothing, nor do such that are equal: the noise
// is then not known, not none.
Judgement JudgeRuns(std::span<const double> base, std::span<const double> now,
                    std::span<const double> spread, const Margins& margins);

// Where several rows are judged, Holm's way raises each p: the verdict that goes with it then.
void SetAdjustedP(Judgement& judgement, double p);

}  // namespace tracedb
