// Which rows of one side are the same thing as rows of the other, by name, and where the name has
// changed, by what they are in.
#pragma once

#include <string>
#include <vector>

#include "compare/run_samples.h"

namespace tracedb {

struct RowMatch {
  RowIn in = RowIn::kBoth;
  RowKey base;  // of kNew: empty
  RowKey now;   // of kBase: empty

  const RowKey& Key() const { return in == RowIn::kBase ? base : now; }
};

// By the whole key; annotations then without their numbers ("iteration 7"); kernels then by name
// under another operator, and at last by the operator they sit in: those of most alike names, of
// as many calls, together.
std::vector<RowMatch> MatchRows(const std::vector<RunSamples>& base,
                                const std::vector<RunSamples>& now);

}  // namespace tracedb
