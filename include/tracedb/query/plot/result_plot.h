// The sink that draws a result: bars, shares or lines.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tracedb/query/doc/query_plot.h"
#include "tracedb/query/plot/plot_frame.h"
#include "tracedb/text/output_stream.h"
#include "tracedb/text/result_columns.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

struct PlotOptions {
  // Nothing: bars of the first column of real numbers, else of the last one of
  // integers; by up to four of texts and integers in front of it, else after it.
  std::optional<PlotSpec> spec;
  std::string file;  // what errors call the query
  PlotStyle style;
};

// Of bars the first 64 rows are drawn; a line says how many there were beyond. An Error names a
// column that the result does not have, or says that there is nothing to draw.
std::unique_ptr<RowSink> MakePlotSink(PlotOptions options, OutputStream& output);

// As ShowCell, but no longer than a line can show.
Shown ShowPlotCell(const Cell& cell, std::string_view column_name);
std::string ShowPlotName(std::string_view column_name);

// Nothing for NULL, texts and what is infinite.
std::optional<double> FiniteNumber(const Cell& cell);

}  // namespace tracedb
