// Where a row's work was launched, as text for people.
#pragma once

#include <string>

#include "tracedb/compare/comparison.h"

namespace tracedb {

// "aten::mm in LinearFunction in nn.Module: MLP_0": the innermost first, as that is what is left of
// a text that is cut. Of an operator what it is in, without itself; empty: in nothing.
std::string PlaceText(const RowChange& row);

}  // namespace tracedb
