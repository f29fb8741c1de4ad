// How `tracedb query --plot` draws a result: what the `plot:` line of a query's header says.
// The line's format is described in queries/README.md; this is its only parser.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"

namespace tracedb {

struct QueryColumn;

enum class PlotKind {
  kBar,      // a bar for each row
  kStacked,  // a bar for each row, cut into shares of their sum
  kLine,     // a line for each series of rows
  kRoofline  // a point for each row, under its roof
};

struct PlotSpec {
  PlotKind kind = PlotKind::kBar;
  // Columns; one, or the shares of kStacked; of kRoofline what was achieved, its peak, and gbps.
  std::vector<std::string> values;
  std::string over;  // of kLine: the column that orders the values; of kRoofline: the intensity
  std::vector<std::string> by;  // columns that name a bar, or part the rows into series
};

// "bar COLUMN [by COLUMN...]", "stacked COLUMN, COLUMN... [by ...]", "line COLUMN over COLUMN
// [by ...]", "roofline COLUMN, COLUMN, COLUMN over COLUMN [by ...]". Where `columns` are known,
// those named must be among them, and the values numbers. An Error has no place in it: "there is no
// column 'x'".
Result<PlotSpec> ParsePlot(std::string_view text, std::span<const QueryColumn> columns);

// As it is written, after "plot:".
std::string DescribePlot(const PlotSpec& plot);

}  // namespace tracedb
