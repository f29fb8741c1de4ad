#include "query/plot/plot_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "query/plot/plot_scale.h"
#include "tracedb/query/plot/result_plot.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kKeyBytesMax = 256;
constexpr size_t kEndWidthMax = 24;
constexpr size_t kWidePlaces = 3;
constexpr size_t kLevels = 8;
constexpr std::array<std::string_view, kLevels> kMarks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, kLevels> kAsciiMarks = {"_", ".", ":", "-",
                                                               "=", "+", "*", "#"};

// As much of a text as tells it from others; what is the same to there is in no order.
std::string KeyText(std::string_view text) {
  if (text.size() <= kKeyBytesMax) return std::string(text);
  return fmt::format("{}{:x},{}", text.substr(0, kKeyBytesMax), std::hash<std::string_view>()(text),
                     text.size());
}

PlaceKey KeyOf(const Cell& cell) {
  switch (cell.type) {
    case SqlType::kNull:
      return {0, 0, ""};
    case SqlType::kInteger:
      return {1, static_cast<long double>(cell.integer), ""};
    case SqlType::kReal:
      return {1, static_cast<long double>(cell.real), ""};
    case SqlType::kText:
      return {2, 0, KeyText(cell.text)};
    case SqlType::kBlob:
      break;
  }
  return {3, 0, KeyText(cell.text)};
}

// A size that differences of all values of a plot can be taken at.
double Shrunk(double value) { return value / 4; }

std::string EndText(const PlotStyle& style, const Shown& shown) {
  std::string text = shown.type == SqlType::kNull ? "NULL" : shown.text;
  if (!style.unicode) text = AsciiText(text);
  return CutToWidth(text, kEndWidthMax, style.unicode ? "…" : "...");
}

}  // namespace

PlotSeries::PlotSeries(std::vector<std::string> by, std::string over, std::string value)
    : by_(std::move(by)), over_(std::move(over)), value_(std::move(value)) {}

void PlotSeries::Add(std::span<const Cell> by, const Cell& over, const Cell& value) {
  std::vector<PlaceKey> key;
  for (const Cell& cell : by) key.push_back(KeyOf(cell));
  auto found = series_by_key_.find(key);
  if (found == series_by_key_.end() && series_.size() < kSeriesMax) {
    Series series;
    for (size_t i = 0; i < by.size(); ++i) series.labels.push_back(ShowPlotCell(by[i], by_[i]));
    found = series_by_key_.emplace(std::move(key), series_.size()).first;
    series_.push_back(std::move(series));
  }
  if (found == series_by_key_.end() || points_.size() == kPointsMax) {
    ++left_out_;
    return;
  }
  PlaceKey place = KeyOf(over);
  const auto [at, is_new] = places_.emplace(place, places_.size());
  if (is_new) AddPlace(place, over);
  const std::optional<double> number = FiniteNumber(value);
  if (!number.has_value()) return;  // a gap
  points_.push_back({found->second, at->second, *number});
  Series& series = series_[found->second];
  const bool first = !std::exchange(series.has_point, true);
  if (first || *number < series.lowest) {
    series.lowest = *number;
    series.lowest_text = ShowPlotCell(value, value_);
  }
  if (first || *number > series.highest) {
    series.highest = *number;
    series.highest_text = ShowPlotCell(value, value_);
  }
  if (first || !(place < series.last_place)) {
    series.last_place = std::move(place);
    series.last_text = ShowPlotCell(value, value_);
  }
}

void PlotSeries::AddPlace(const PlaceKey& key, const Cell& over) {
  const bool only = places_.size() == 1;
  if (only || key < first_.key) first_ = {key, ShowPlotCell(over, over_)};
  if (only || last_.key < key) last_ = {key, ShowPlotCell(over, over_)};
}

// What is in front of the drawing.
std::vector<PlotColumn> PlotSeries::Columns() const {
  std::vector<PlotColumn> columns;
  for (size_t i = 0; i < by_.size(); ++i) {
    PlotColumn& column = columns.emplace_back();
    column.title = ShowPlotName(by_[i]);
    for (const Series& series : series_) column.cells.push_back(series.labels[i]);
  }
  PlotColumn lowest{"min", {}};
  PlotColumn highest{"max", {}};
  PlotColumn last{"last", {}};
  for (const Series& series : series_) {
    lowest.cells.push_back(series.lowest_text);
    highest.cells.push_back(series.highest_text);
    last.cells.push_back(series.last_text);
  }
  for (PlotColumn* column : {&lowest, &highest, &last}) columns.push_back(std::move(*column));
  return columns;
}

// The how-manieth each place is, by when it was met.
std::vector<size_t> PlotSeries::PlaceOrder() const {
  std::vector<size_t> order(places_.size());
  size_t next = 0;
  for (const auto& [key, met] : places_) order[met] = next++;
  return order;
}

// "step_ms over step, 3 to 6  ▁ 65.442 to █ 101.314"
std::string PlotSeries::Caption(const PlotStyle& style, size_t cells) const {
  const Series* lowest = nullptr;
  const Series* highest = nullptr;
  for (const Series& series : series_) {
    if (!series.has_point) continue;
    if (lowest == nullptr || series.lowest < lowest->lowest) lowest = &series;
    if (highest == nullptr || series.highest > highest->highest) highest = &series;
  }
  std::string what = fmt::format("{} over {}", ShowPlotName(value_), ShowPlotName(over_));
  if (!style.unicode) what = AsciiText(what);
  what += ", " + EndText(style, first_.text);
  if (places_.size() > 1) what += " to " + EndText(style, last_.text);
  std::vector<std::string> texts = {what};
  if (lowest != nullptr && lowest->lowest < highest->highest) {
    const auto& marks = style.unicode ? kMarks : kAsciiMarks;
    texts.push_back(fmt::format("{} {} to {} {}", marks.front(), lowest->lowest_text.text,
                                marks.back(), highest->highest_text.text));
  }
  if (places_.size() > cells) {
    texts.push_back(
        fmt::format("{} to a place, the largest is drawn", (places_.size() + cells - 1) / cells));
  }
  std::vector<PlotPiece> pieces;
  for (const std::string& text : texts) pieces.push_back({text, DisplayWidth(text)});
  return PieceLines(style, pieces);
}

std::string PlotSeries::Draw(const PlotStyle& style) const {
  const PlotFrame frame(style, Columns());
  const std::vector<size_t> order = PlaceOrder();
  const size_t cells = frame.cells();
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  // The largest value of each cell; of a series without a point there, nothing.
  std::vector<std::vector<double>> drawn(series_.size(), std::vector<double>(cells, nothing));
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (const Point& point : points_) {
    double& cell = drawn[point.series][CellOfPlace(order[point.place], order.size(), cells)];
    cell = std::isnan(cell) ? point.value : std::max(cell, point.value);
    lowest = std::min(lowest, point.value);
    highest = std::max(highest, point.value);
  }
  const auto& marks = style.unicode ? kMarks : kAsciiMarks;
  // Few places are drawn wider, to be seen at all.
  const size_t wide = std::clamp<size_t>(cells / order.size(), 1, kWidePlaces);
  std::string text = Caption(style, cells);
  if (style.header) text += frame.HeaderLine("", "");
  for (size_t i = 0; i < series_.size(); ++i) {
    std::string line;
    for (size_t cell = 0; cell < std::min(cells, order.size()); ++cell) {
      const double value = drawn[i][cell];
      const std::string_view mark =
          std::isnan(value)
              ? " "
              : marks[LevelOf(Shrunk(value), Shrunk(lowest), Shrunk(highest), kLevels)];
      for (size_t times = 0; times < wide; ++times) line += mark;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += frame.RowLine(i, Painted(style, Color::kCyan, line));
  }
  return text;
}

}  // namespace tracedb
