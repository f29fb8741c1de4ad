#include "query/plot/plot_scale.h"

#include <algorithm>
#include <cmath>

namespace tracedb {

size_t BarUnits(double value, double full, size_t units) {
  if (!(value > 0) || !(full > 0)) return 0;
  if (value >= full) return units;
  return static_cast<size_t>(std::floor(value * static_cast<double>(units) / full + 0.5));
}

ZeroSplit SplitAtZero(double lowest, double highest, size_t cells) {
  ZeroSplit split;
  const double low = -lowest;
  if (!(low > 0)) {
    split.above = cells;
  } else if (!(highest > 0)) {
    split.below = cells;
  } else {
    const size_t fair = BarUnits(low, low + highest, cells);
    split.below = std::clamp<size_t>(fair, 1, cells - 1);
    split.above = cells - split.below;
  }
  const auto below = static_cast<double>(split.below);
  const auto above = static_cast<double>(split.above);
  const double a_cell =
      std::max(split.below > 0 ? low / below : 0, split.above > 0 ? highest / above : 0);
  split.full_below = a_cell * below;
  split.full_above = a_cell * above;
  return split;
}

std::vector<size_t> ShareCells(std::span<const double> parts, size_t cells) {
  double sum = 0;
  for (double part : parts) sum += std::max(part, 0.0);
  std::vector<size_t> shares;
  double so_far = 0;
  size_t given = 0;
  for (double part : parts) {
    so_far += std::max(part, 0.0);
    const size_t border = BarUnits(so_far, sum, cells);
    shares.push_back(border - given);
    given = border;
  }
  return shares;
}

size_t LevelOf(double value, double lowest, double highest, size_t levels) {
  if (!(highest > lowest)) return levels / 2;
  const double share = (value - lowest) / (highest - lowest) * static_cast<double>(levels);
  return std::min(static_cast<size_t>(std::max(share, 0.0)), levels - 1);
}

size_t CellOfPlace(size_t index, size_t count, size_t cells) {
  return count <= cells ? index : index * cells / count;
}

}  // namespace tracedb
