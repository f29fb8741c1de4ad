// The lines of a plot: columns of text in front, and after them room for a drawing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/text/result_columns.h"

namespace tracedb {

struct PlotStyle {
  size_t width = 80;     // columns of a line
  bool unicode = false;  // false: ASCII and nothing else is written
  bool color = false;
  bool header = true;
};

inline constexpr size_t kDrawingCellsMin = 10;

struct PlotColumn {
  std::string title;  // ShownText of the column's name
  std::vector<Shown> cells;
};

// SGR codes of colours that dark and light terminals show.
enum class Color { kRed = 31, kGreen = 32, kYellow = 33, kBlue = 34, kMagenta = 35, kCyan = 36 };

// The text in that colour, where the style has colours.
std::string Painted(const PlotStyle& style, Color color, std::string_view text);

// A piece of a line; its text may hold colours, which take no columns.
struct PlotPiece {
  std::string text;
  size_t width = 0;
};

// The pieces one after another, in as many lines as the style's width makes of them.
std::string PieceLines(const PlotStyle& style, const std::vector<PlotPiece>& pieces);

// "… 7 more rows"
std::string LeftOutLine(const PlotStyle& style, int64_t rows);

// Widths are chosen once. Texts give way until the drawing has a third of the line; when they
// have no more to give, the drawing does, to a quarter; then the titles of numbers. Numbers are
// never cut: where they leave less than kDrawingCellsMin, lines are longer than the style's width.
class PlotFrame {
 public:
  PlotFrame(const PlotStyle& style, std::vector<PlotColumn> columns);

  size_t cells() const { return cells_; }  // of the drawing
  bool fits() const { return fits_; }      // the lines are no longer than the style's width

  // The titles, and text at both ends of the drawing's place: what does not fit there is left out.
  std::string HeaderLine(std::string_view left, std::string_view right) const;
  std::string RowLine(size_t row, std::string_view drawing) const;

 private:
  void ChooseWidths();
  std::string Fitted(const std::string& text, size_t column) const;

  PlotStyle style_;
  std::vector<PlotColumn> columns_;
  std::vector<size_t> widths_;
  std::vector<bool> right_;  // columns of numbers
  size_t cells_ = 0;
  bool fits_ = true;
};

}  // namespace tracedb
