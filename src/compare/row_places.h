// Where a row's work was launched, and what is in a part of the step, as text for people.
#pragma once

#include <string>

#include "tracedb/compare/comparison.h"

namespace tracedb {

// "aten::mm in LinearFunction in nn.Module: MLP_0": the innermost first, as that is what is left of
// a text that is cut. Of an operator what it is in, without itself; empty: in nothing.
std::string PlaceText(const RowChange& row);

// "aten::mm +2.139, aten::add +1.600": in ms, the two rows that changed a part most, of those that
// go its way by a tenth of its change at least. Empty where nothing tells.
std::string MostOfPart(const Comparison& comparison, const PartChange& part);

}  // namespace tracedb
