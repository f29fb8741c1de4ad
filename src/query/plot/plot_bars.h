// Rows drawn as bars: one value each, or several that share a bar.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracedb/query/plot/plot_frame.h"

namespace tracedb {

struct PlotRows {
  std::vector<PlotColumn> labels;
  std::vector<PlotColumn> values;
  // As many as `values`, one for each row: NaN for what is no finite number.
  std::vector<std::vector<double>> numbers;
};

// Each a header line and a line a row. Of `values` DrawBars takes the first.
std::string DrawBars(const PlotStyle& style, const PlotRows& rows);
std::string DrawShares(const PlotStyle& style, const PlotRows& rows);

}  // namespace tracedb
