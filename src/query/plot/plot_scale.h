// The arithmetic of plots: from values to cells of a terminal and parts of cells. No value is
// infinite, NaN or beyond 1e300, where sums would end: who has such makes all smaller alike.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tracedb {

// value / full * units, rounded to the nearest (half a unit: up). 0 for what is not above zero;
// `units` for what is beyond `full`.
size_t BarUnits(double value, double full, size_t units);

// Where bars of both signs begin: cells left of zero and right of it. Lengths on both sides are
// to the same scale; each sign that occurs has a cell.
struct ZeroSplit {
  size_t below = 0;
  size_t above = 0;
  double full_below = 0;  // the value (without its sign) that fills the cells below, and
  double full_above = 0;  // above; 0 where there are none
};
// lowest <= 0 <= highest; of 2 cells and more.
ZeroSplit SplitAtZero(double lowest, double highest, size_t cells);

// Cells of each part of a whole: they add up to `cells`, and no border between two parts is more
// than half a cell from where it belongs. Nothing for a part that is not above zero; nothing at all
// when none is.
std::vector<size_t> ShareCells(std::span<const double> parts, size_t cells);

// 0 to levels - 1, for values from lowest to highest; the middle when all are the same.
size_t LevelOf(double value, double lowest, double highest, size_t levels);

// Which of `cells` cells the index-th of `count` places has. Each has one of its own when there are
// cells enough; else a cell has as many as any other, or one less.
size_t CellOfPlace(size_t index, size_t count, size_t cells);

}  // namespace tracedb
