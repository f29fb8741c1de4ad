// Which rows of one side are the same thing as rows of the other, by name and place, and where
// these have changed, by what is alike.
#pragma once

#include <string>
#include <vector>

#include "compare/run_samples.h"

namespace tracedb {

struct RowMatch {
  RowIn in = RowIn::kBoth;
  RowKey base;  // of kNew: empty
  RowKey now;   // of kBase: empty
  // The same on the GPU at further places, which the other side has not: they count as this one.
  std::vector<RowKey> more_base;
  std::vector<RowKey> more_now;

  const RowKey& Key() const { return in == RowIn::kBase ? base : now; }
};

// By the whole key; annotations then without their numbers ("iteration 7"). What runs on the GPU
// then by name at another place, those of most alike places together, and what then is
// left of that name with the most alike of them: so "only in" is nothing that only moved. Kernels
// of another name at last by the place they were launched at: there by grid, order, neighbours,
// likeness of names and number of calls; then by the innermost operator alone; and where no
// operator is known, those that run as often and agree in name, grid or both neighbours; and at
// last, by their order, as many as there are between two kernels that are on both sides.
std::vector<RowMatch> MatchRows(const std::vector<RunSamples>& base,
                                const std::vector<RunSamples>& now);

}  // namespace tracedb
