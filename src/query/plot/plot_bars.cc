#include "query/plot/plot_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "query/plot/plot_scale.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kEighths = 8;
constexpr size_t kSharesCellsMin = 16;  // fewer than these tell nothing: the figures give way
constexpr double kLargest = 1e300;
constexpr double kSmaller = 0x1p-64;

// How each share is drawn; a plot line names no more of them.
constexpr std::array<std::string_view, 9> kShareMarks = {"█", "▓", "▒", "░", "▚",
                                                         "■", "▪", "·", "▫"};
constexpr std::array<std::string_view, 9> kAsciiShareMarks = {"#", "=", "-", ".", "+",
                                                              "o", "*", "~", "%"};
constexpr std::array<Color, 6> kShareColors = {Color::kGreen, Color::kRed,     Color::kYellow,
                                               Color::kBlue,  Color::kMagenta, Color::kCyan};

std::string Repeated(std::string_view mark, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += mark;
  return text;
}

struct Scale {
  double lowest = 0;
  double highest = 0;
  double factor = 1;         // of every value; see kLargest
  std::string highest_text;  // as its row shows it
};

Scale ScaleOf(const PlotColumn& column, const std::vector<double>& numbers) {
  Scale scale;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < scale.lowest) scale.lowest = numbers[i];
    if (!(numbers[i] > scale.highest)) continue;
    scale.highest = numbers[i];
    scale.highest_text = column.cells[i].text;
  }
  const bool all = scale.lowest == 0 && scale.highest > 0 && scale.highest <= 100;
  if (all && column.title.ends_with("_pct")) {
    scale.highest = 100;
    scale.highest_text = "100";
  }
  if (std::max(-scale.lowest, scale.highest) > kLargest) scale.factor = kSmaller;
  scale.lowest *= scale.factor;
  scale.highest *= scale.factor;
  return scale;
}

// To the right from zero, of `cells` cells.
std::string BarAbove(const PlotStyle& style, double value, double full, size_t cells) {
  if (!(value > 0)) return "";
  if (!style.unicode) {
    const size_t marks = BarUnits(value, full, cells);
    return marks == 0 ? "." : Repeated("#", marks);
  }
  constexpr std::array<std::string_view, kEighths> kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const size_t eighths = std::max<size_t>(1, BarUnits(value, full, cells * kEighths));
  return Repeated("█", eighths / kEighths).append(kParts[eighths % kEighths]);
}

// To the left from zero; there are no eighths that way, but halves.
std::string BarBelow(const PlotStyle& style, double value, double full, size_t cells) {
  size_t taken = 0;
  std::string bar;
  if (value > 0 && style.unicode) {
    const size_t halves = std::max<size_t>(1, BarUnits(value, full, cells * 2));
    taken = (halves + 1) / 2;
    bar = Repeated("▐", halves % 2) + Repeated("█", halves / 2);
  } else if (value > 0) {
    const size_t marks = BarUnits(value, full, cells);
    taken = std::max<size_t>(1, marks);
    bar = marks == 0 ? "." : Repeated("#", marks);
  }
  return std::string(cells - taken, ' ') + Painted(style, Color::kMagenta, bar);
}

// Columns of a frame: labels and then values, under other titles where some are given.
std::vector<PlotColumn> ColumnsOf(const PlotRows& rows, size_t values) {
  std::vector<PlotColumn> columns = rows.labels;
  columns.insert(columns.end(), rows.values.begin(),
                 rows.values.begin() + static_cast<std::ptrdiff_t>(values));
  return columns;
}

std::string_view ShareMark(const PlotStyle& style, size_t share) {
  return (style.unicode ? kShareMarks : kAsciiShareMarks)[share % kShareMarks.size()];
}

// "█ compute_ms  ▓ idle_ms"
std::string Legend(const PlotStyle& style, const PlotRows& rows) {
  std::vector<PlotPiece> pieces;
  for (size_t i = 0; i < rows.values.size(); ++i) {
    const std::string& title = rows.values[i].title;
    const std::string name = style.unicode ? title : AsciiText(title);
    const Color color = kShareColors[i % kShareColors.size()];
    pieces.push_back(
        {Painted(style, color, ShareMark(style, i)) + ' ' + name, 2 + DisplayWidth(name)});
  }
  return PieceLines(style, pieces);
}

std::string Shares(const PlotStyle& style, std::vector<double> parts, size_t cells) {
  double largest = 0;
  for (double& part : parts) {
    if (!std::isfinite(part)) part = 0;
    largest = std::max(largest, part);
  }
  if (largest > kLargest / 10) {
    for (double& part : parts) part *= kSmaller;
  }
  const std::vector<size_t> shares = ShareCells(parts, cells);
  std::string bar;
  for (size_t i = 0; i < shares.size(); ++i) {
    const Color color = kShareColors[i % kShareColors.size()];
    bar += Painted(style, color, Repeated(ShareMark(style, i), shares[i]));
  }
  return bar;
}

}  // namespace

std::string DrawBars(const PlotStyle& style, const PlotRows& rows) {
  const PlotFrame frame(style, ColumnsOf(rows, 1));
  const std::vector<double>& numbers = rows.numbers[0];
  const Scale scale = ScaleOf(rows.values[0], numbers);
  const bool signs = scale.lowest < 0;
  // Where there are values of both signs or below zero, a line stands at zero.
  const ZeroSplit split = SplitAtZero(scale.lowest, scale.highest, frame.cells() - (signs ? 1 : 0));
  std::string text;
  if (style.header) {
    text += signs ? frame.HeaderLine(std::string(split.below, ' ') + '0', "")
                  : frame.HeaderLine("0", scale.highest_text);
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double value = std::isfinite(numbers[i]) ? numbers[i] * scale.factor : 0;
    std::string bar;
    if (signs) {
      bar += BarBelow(style, -value, split.full_below, split.below);
      bar += style.unicode ? "│" : "|";
    }
    bar += Painted(style, Color::kCyan, BarAbove(style, value, split.full_above, split.above));
    text += frame.RowLine(i, bar);
  }
  return text;
}

std::string DrawShares(const PlotStyle& style, const PlotRows& rows) {
  PlotRows marked = rows;
  for (size_t i = 0; i < marked.values.size(); ++i) marked.values[i].title = ShareMark(style, i);
  PlotFrame frame(style, ColumnsOf(marked, marked.values.size()));
  if (!frame.fits() || frame.cells() < kSharesCellsMin) frame = PlotFrame(style, rows.labels);
  std::string text = Legend(style, rows);
  if (style.header) text += frame.HeaderLine("0%", "100%");
  const size_t lines = rows.numbers[0].size();
  for (size_t i = 0; i < lines; ++i) {
    std::vector<double> parts;
    for (const std::vector<double>& numbers : rows.numbers) parts.push_back(numbers[i]);
    text += frame.RowLine(i, Shares(style, std::move(parts), frame.cells()));
  }
  return text;
}

}  // namespace tracedb
