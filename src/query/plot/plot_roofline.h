// Rows drawn as points under roofs: operations a second over operations a byte, both logarithmic.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "query/plot/plot_bars.h"
#include "tracedb/query/plot/plot_frame.h"

namespace tracedb {

// What a row says: achieved TFLOP/s at so many operations a byte, under a roof of peak TFLOP/s and
// of gbps (1e9 bytes a second). NaN for what it does not say.
struct RooflinePoint {
  double intensity = 0;
  double rate = 0;
  double peak = 0;
  double gbps = 0;

  bool is_drawn() const;  // it has a place: intensity and rate are above zero, and finite
};

// Points that are drawn beside each other; further ones have bars alone.
inline constexpr size_t kRooflineMarks = 62;

// Which marks points have, in their order: a to z, A to Z, 0 to 9; nothing for those that have no
// place, or come after the last mark.
std::vector<std::string> RooflineMarks(const std::vector<RooflinePoint>& points);

// The drawing: lines of the style's width, then a caption of both axes. Empty without a point.
std::string DrawRoofline(const PlotStyle& style, const std::vector<RooflinePoint>& points);

}  // namespace tracedb
