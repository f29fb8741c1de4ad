// Activations that one side computes again in its backward pass.
#pragma once

#include <optional>

#include "compare/side_judge.h"

namespace tracedb {

// Operators of the forward pass that run more often on one side, within its backward pass, while
// their backward runs as often: what checkpointing does, whatever calls it. Nothing: there are
// none.
std::optional<RowChange> FindRecomputation(const Sides& sides, double least_ns);

}  // namespace tracedb
