#include "query/plot/plot_roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tracedb {
namespace {

constexpr size_t kLines = 18;
constexpr size_t kGutter = 8;  // of the numbers in front
constexpr size_t kCellsMin = 20;
constexpr size_t kRoofsMax = 8;
// What lies further apart is drawn at the border: no figure of a GPU does.
constexpr int kDecadesMax = 24;

bool IsPlace(double value) { return std::isfinite(value) && value > 0; }

// Decades from one power of ten to another.
struct Axis {
  int low = 0;
  int high = 1;

  void Take(double value) {
    const int below = static_cast<int>(std::floor(std::log10(value)));
    low = std::min(low, below);
    high = std::max(high, below + 1);
  }
  // The nearest of `cells` cells, from the lowest on.
  size_t CellOf(double value, size_t cells) const {
    const double share = (std::log10(value) - low) / (high - low);
    return static_cast<size_t>(
        std::llround(std::clamp(share, 0.0, 1.0) * static_cast<double>(cells - 1)));
  }
  double ValueAt(size_t cell, size_t cells) const {
    const double share = static_cast<double>(cell) / static_cast<double>(cells - 1);
    return std::pow(10.0, low + share * (high - low));
  }
};

Axis AxisOf(const std::vector<double>& values) {
  Axis axis;
  bool is_first = true;
  for (const double value : values) {
    if (!IsPlace(value)) continue;
    if (std::exchange(is_first, false)) {
      axis.low = static_cast<int>(std::floor(std::log10(value)));
      axis.high = axis.low + 1;
    }
    axis.Take(value);
  }
  axis.low = std::max(axis.low, axis.high - kDecadesMax);
  return axis;
}

using Roof = std::pair<double, double>;  // peak, gbps

std::vector<Roof> RoofsOf(const std::vector<RooflinePoint>& points) {
  std::set<Roof> roofs;
  for (const RooflinePoint& point : points) {
    if (!point.is_drawn() || !IsPlace(point.peak) || !IsPlace(point.gbps)) continue;
    if (roofs.size() < kRoofsMax) roofs.insert({point.peak, point.gbps});
  }
  return {roofs.begin(), roofs.end()};
}

double RidgeOf(const Roof& roof) { return roof.first / roof.second * 1e3; }

struct Canvas {
  size_t cells;
  Axis x, y;
  std::vector<std::vector<std::string>> lines;  // from the top

  std::string& At(double intensity, double rate) {
    return lines[kLines - 1 - y.CellOf(rate, kLines)][x.CellOf(intensity, cells)];
  }
};

void DrawRoof(const PlotStyle& style, const Roof& roof, Canvas& canvas) {
  for (size_t cell = 0; cell < canvas.cells; ++cell) {
    const double intensity = canvas.x.ValueAt(cell, canvas.cells);
    const double slope = intensity * roof.second / 1e3;
    if (std::min(slope, roof.first) < std::pow(10.0, canvas.y.low)) continue;
    const bool is_flat = slope >= roof.first;
    const std::string_view mark = is_flat ? (style.unicode ? "─" : "-") : style.unicode ? "╱" : "/";
    canvas.lines[kLines - 1 - canvas.y.CellOf(std::min(slope, roof.first), kLines)][cell] =
        Painted(style, Color::kBlue, mark);
  }
}

// Numbers of an axis stand where they belong: "0.1", "1e-07".
std::string DecadeText(int decade) { return fmt::format("{:g}", std::pow(10.0, decade)); }

std::string LineFor(const Canvas& canvas, size_t line) {
  std::string text(kGutter, ' ');
  for (int decade = canvas.y.low; decade <= canvas.y.high; ++decade) {
    if (kLines - 1 - canvas.y.CellOf(std::pow(10.0, decade), kLines) != line) continue;
    const std::string number = DecadeText(decade);
    text = std::string(kGutter - std::min(kGutter, number.size() + 1), ' ') + number + " ";
  }
  size_t last = canvas.cells;
  while (last > 0 && canvas.lines[line][last - 1] == " ") --last;
  for (size_t cell = 0; cell < last; ++cell) text += canvas.lines[line][cell];
  while (text.ends_with(' ')) text.pop_back();
  return text + "\n";
}

std::string DecadesLine(const Canvas& canvas) {
  std::string text;
  for (int decade = canvas.x.low; decade <= canvas.x.high; ++decade) {
    const std::string number = DecadeText(decade);
    const size_t cell = kGutter + canvas.x.CellOf(std::pow(10.0, decade), canvas.cells);
    // The last number ends where the drawing does.
    const size_t at = decade == canvas.x.high
                          ? kGutter + canvas.cells - std::min(number.size(), canvas.cells)
                          : cell;
    if (!text.empty() && text.size() + 1 > at) continue;
    text.append(at - text.size(), ' ');
    text += number;
  }
  return text + "\n";
}

}  // namespace

bool RooflinePoint::is_drawn() const { return IsPlace(intensity) && IsPlace(rate); }

std::vector<std::string> RooflineMarks(const std::vector<RooflinePoint>& points) {
  std::vector<std::string> marks;
  size_t next = 0;
  for (const RooflinePoint& point : points) {
    std::string& mark = marks.emplace_back();
    if (!point.is_drawn() || next == kRooflineMarks) continue;
    const size_t letter = next++;
    mark = letter < 26   ? static_cast<char>('a' + letter)
           : letter < 52 ? static_cast<char>('A' + (letter - 26))
                         : static_cast<char>('0' + (letter - 52));
  }
  return marks;
}

std::string DrawRoofline(const PlotStyle& style, const std::vector<RooflinePoint>& points) {
  std::vector<double> intensities, rates;
  for (const RooflinePoint& point : points) {
    if (!point.is_drawn()) continue;
    intensities.push_back(point.intensity);
    rates.push_back(point.rate);
  }
  if (rates.empty()) return "";
  const std::vector<Roof> roofs = RoofsOf(points);
  for (const Roof& roof : roofs) {
    intensities.push_back(RidgeOf(roof));
    rates.push_back(roof.first);
  }
  Canvas canvas{
      std::max(style.width, kGutter + kCellsMin) - kGutter, AxisOf(intensities), AxisOf(rates), {}};
  canvas.lines.assign(kLines, std::vector<std::string>(canvas.cells, " "));
  for (const Roof& roof : roofs) DrawRoof(style, roof, canvas);
  const std::vector<std::string> marks = RooflineMarks(points);
  for (size_t i = points.size(); i > 0; --i) {  // of two in one place the first is seen
    const RooflinePoint& point = points[i - 1];
    if (!marks[i - 1].empty()) canvas.At(point.intensity, point.rate) = marks[i - 1];
  }
  std::string text;
  for (size_t line = 0; line < kLines; ++line) text += LineFor(canvas, line);
  return text + DecadesLine(canvas);
}

}  // namespace tracedb
