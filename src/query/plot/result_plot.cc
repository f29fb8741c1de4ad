#include "tracedb/query/plot/result_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "query/plot/plot_bars.h"
#include "query/plot/plot_roofline.h"
#include "query/plot/plot_series.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kBarsMax = 64;
constexpr size_t kTextBytesMax = 4096;     // of a text that is shown
constexpr size_t kGuessedColumnsMax = 32;  // the first of a result that says not what to draw
constexpr size_t kGuessedLabelsMax = 4;

// The start of a text, cut between characters.
std::string_view StartOf(std::string_view text) {
  if (text.size() <= kTextBytesMax) return text;
  size_t end = kTextBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80) --end;
  return text.substr(0, end);
}

// Which columns of a result are drawn, by their place in it.
struct Chosen {
  PlotKind kind = PlotKind::kBar;
  std::vector<size_t> values;
  size_t over = 0;
  std::vector<size_t> by;
};

class PlotSink : public RowSink {
 public:
  PlotSink(PlotOptions options, OutputStream& output)
      : options_(std::move(options)), output_(output) {}

  Status Caption(std::string_view text) override;
  Status Begin(std::span<const std::string> column_names) override;
  Status Row(std::span<const Cell> cells) override;
  Status End() override;

 private:
  struct Held {
    Shown shown;
    double number = 0;  // NaN: none
  };

  Result<size_t> Find(const std::string& name) const;
  Status Choose(const PlotSpec& spec);
  Status Guess();
  bool IsNumeric(size_t column) const;
  bool IsReal(size_t column) const;
  bool MayLabel(size_t column) const;
  bool Holds(size_t column, SqlType type) const;
  std::ptrdiff_t Count(size_t column, SqlType type) const;
  PlotColumn ColumnAt(size_t column) const;
  PlotRows ChosenRows() const;
  std::string Bars() const;
  std::string Roofline() const;
  std::string Lines();

  const PlotOptions options_;
  OutputStream& output_;
  bool begun_ = false;
  std::string caption_;  // of the next result
  std::vector<std::string> names_;
  std::optional<Chosen> chosen_;         // nothing: once rows are held
  std::vector<std::vector<Held>> held_;  // of bars; the columns that may be drawn
  std::optional<PlotSeries> series_;     // of lines
  std::vector<Cell> by_;
  int64_t rows_ = 0;
};

Status PlotSink::Caption(std::string_view text) {
  caption_ = ShownText(text) + "\n";
  return Done{};
}

Status PlotSink::Begin(std::span<const std::string> column_names) {
  names_.assign(column_names.begin(), column_names.end());
  chosen_.reset();
  held_.clear();
  series_.reset();
  rows_ = 0;
  if (options_.spec.has_value()) TRACEDB_TRY(Choose(*options_.spec));
  const std::string caption = std::exchange(caption_, {});
  return output_.Write((std::exchange(begun_, true) ? "\n" : "") + caption);
}

Result<size_t> PlotSink::Find(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<size_t>(found - names_.begin());
  std::vector<std::string> shown;
  for (const std::string& known : names_) shown.push_back(ShowPlotName(known));
  return Error{
      ErrorKind::kQuery,
      fmt::format("{}: plot: the result has no column '{}'", options_.file, ShowPlotName(name)),
      "its columns are " + JoinNames(shown)};
}

Status PlotSink::Choose(const PlotSpec& spec) {
  Chosen chosen;
  chosen.kind = spec.kind;
  for (const std::string& name : spec.values) {
    TRACEDB_ASSIGN(column, Find(name));
    chosen.values.push_back(column);
  }
  std::vector<std::string> by;
  for (const std::string& name : spec.by) {
    // Left out of a result for people where it is the same in all rows (SameRuns).
    const bool is_place = name == "run" || name == "capture";
    if (is_place && std::find(names_.begin(), names_.end(), name) == names_.end()) continue;
    TRACEDB_ASSIGN(column, Find(name));
    chosen.by.push_back(column);
    by.push_back(name);
  }
  if (spec.kind == PlotKind::kRoofline) {
    TRACEDB_ASSIGN(over, Find(spec.over));
    chosen.values.push_back(over);
  }
  if (spec.kind == PlotKind::kLine) {
    TRACEDB_ASSIGN(over, Find(spec.over));
    chosen.over = over;
    series_.emplace(std::move(by), spec.over, spec.values[0]);
  }
  chosen_ = std::move(chosen);
  return Done{};
}

Status PlotSink::Row(std::span<const Cell> cells) {
  ++rows_;
  if (series_.has_value()) {
    by_.clear();
    for (size_t column : chosen_->by) by_.push_back(cells[column]);
    series_->Add(by_, cells[chosen_->over], cells[chosen_->values[0]]);
    return Done{};
  }
  if (held_.size() == kBarsMax) return Done{};
  std::vector<Held>& row = held_.emplace_back();
  const size_t columns =
      chosen_.has_value() ? cells.size() : std::min(cells.size(), kGuessedColumnsMax);
  for (size_t i = 0; i < columns; ++i) {
    const bool drawn = !chosen_.has_value() ||
                       std::count(chosen_->by.begin(), chosen_->by.end(), i) ||
                       std::count(chosen_->values.begin(), chosen_->values.end(), i);
    Held& cell = row.emplace_back();
    if (!drawn) continue;
    cell.shown = ShowPlotCell(cells[i], names_[i]);
    cell.number = FiniteNumber(cells[i]).value_or(std::numeric_limits<double>::quiet_NaN());
  }
  return Done{};
}

bool PlotSink::Holds(size_t column, SqlType type) const { return Count(column, type) > 0; }

std::ptrdiff_t PlotSink::Count(size_t column, SqlType type) const {
  return std::count_if(held_.begin(), held_.end(), [&](const std::vector<Held>& row) {
    return row[column].shown.type == type;
  });
}

// A text among its numbers does not make a column one of texts.
bool PlotSink::IsNumeric(size_t column) const {
  return Count(column, SqlType::kInteger) + Count(column, SqlType::kReal) >
         Count(column, SqlType::kText) + Count(column, SqlType::kBlob);
}

bool PlotSink::IsReal(size_t column) const {
  return IsNumeric(column) && Holds(column, SqlType::kReal);
}

bool PlotSink::MayLabel(size_t column) const {
  return !IsReal(column) && (Holds(column, SqlType::kText) || Holds(column, SqlType::kInteger));
}

Status PlotSink::Guess() {
  const size_t columns = std::min(names_.size(), kGuessedColumnsMax);
  std::optional<size_t> value;
  for (size_t i = 0; i < columns && !value.has_value(); ++i) {
    if (IsReal(i)) value = i;
  }
  for (size_t i = columns; i > 0 && !value.has_value(); --i) {
    if (IsNumeric(i - 1)) value = i - 1;
  }
  if (!value.has_value()) {
    return Error{ErrorKind::kQuery,
                 fmt::format("{}: nothing to plot: no column holds numbers", options_.file),
                 "what to draw is said in the SQL's first line: -- plot: bar COLUMN by COLUMN"};
  }
  Chosen chosen;
  chosen.values = {*value};
  for (size_t i = 0; i < *value && chosen.by.size() < kGuessedLabelsMax; ++i) {
    if (MayLabel(i)) chosen.by.push_back(i);
  }
  for (size_t i = *value + 1; i < columns && chosen.by.empty(); ++i) {
    if (MayLabel(i)) chosen.by.push_back(i);
  }
  chosen_ = std::move(chosen);
  return Done{};
}

PlotColumn PlotSink::ColumnAt(size_t column) const {
  PlotColumn shown{ShowPlotName(names_[column]), {}};
  for (const std::vector<Held>& row : held_) shown.cells.push_back(row[column].shown);
  return shown;
}

PlotRows PlotSink::ChosenRows() const {
  PlotRows rows;
  for (size_t column : chosen_->by) rows.labels.push_back(ColumnAt(column));
  for (size_t column : chosen_->values) {
    rows.values.push_back(ColumnAt(column));
    std::vector<double>& numbers = rows.numbers.emplace_back();
    for (const std::vector<Held>& row : held_) numbers.push_back(row[column].number);
  }
  return rows;
}

// The points, and below them a bar for each, which says whose it is. Rows without a point (nothing
// is multiplied) have neither.
std::string PlotSink::Roofline() const {
  const PlotRows all = ChosenRows();
  std::vector<RooflinePoint> points;
  PlotRows rows;
  rows.labels.push_back({"", {}});
  for (const PlotColumn& label : all.labels) rows.labels.push_back({label.title, {}});
  rows.values.push_back({all.values[0].title, {}});
  rows.numbers.emplace_back();
  for (size_t i = 0; i < held_.size(); ++i) {
    const RooflinePoint point{all.numbers[3][i], all.numbers[0][i], all.numbers[1][i],
                              all.numbers[2][i]};
    if (!point.is_drawn()) continue;
    points.push_back(point);
    for (size_t j = 0; j < all.labels.size(); ++j) {
      rows.labels[j + 1].cells.push_back(all.labels[j].cells[i]);
    }
    rows.values[0].cells.push_back(all.values[0].cells[i]);
    rows.numbers[0].push_back(point.rate);
  }
  if (points.empty()) return "(no row has both figures)\n";
  for (const std::string& mark : RooflineMarks(points)) {
    rows.labels[0].cells.push_back({mark, SqlType::kText});
  }
  std::string text = DrawRoofline(options_.style, points) + DrawBars(options_.style, rows);
  const auto left_out = rows_ - static_cast<int64_t>(points.size());
  return left_out > 0 ? text + LeftOutLine(options_.style, left_out) : text;
}

std::string PlotSink::Bars() const {
  if (chosen_->kind == PlotKind::kRoofline) return Roofline();
  const PlotRows rows = ChosenRows();
  const auto left_out = rows_ - static_cast<int64_t>(held_.size());
  std::string text = chosen_->kind == PlotKind::kStacked ? DrawShares(options_.style, rows)
                                                         : DrawBars(options_.style, rows);
  return left_out > 0 ? text + LeftOutLine(options_.style, left_out) : text;
}

std::string PlotSink::Lines() {
  std::string text = series_->Draw(options_.style);
  const int64_t left_out = series_->left_out();
  return left_out > 0 ? text + LeftOutLine(options_.style, left_out) : text;
}

Status PlotSink::End() {
  if (rows_ == 0) return output_.Write("(0 rows)\n");
  if (!chosen_.has_value()) TRACEDB_TRY(Guess());
  return output_.Write(series_.has_value() ? Lines() : Bars());
}

}  // namespace

Shown ShowPlotCell(const Cell& cell, std::string_view column_name) {
  if (cell.type != SqlType::kText && cell.type != SqlType::kBlob) {
    return ShowCell(cell, column_name);
  }
  Cell start = cell;
  start.text = StartOf(cell.text);
  return ShowCell(start, column_name);
}

std::string ShowPlotName(std::string_view column_name) { return ShownText(StartOf(column_name)); }

std::optional<double> FiniteNumber(const Cell& cell) {
  if (cell.type == SqlType::kInteger) return static_cast<double>(cell.integer);
  if (cell.type == SqlType::kReal && std::isfinite(cell.real)) return cell.real;
  return std::nullopt;
}

std::unique_ptr<RowSink> MakePlotSink(PlotOptions options, OutputStream& output) {
  return std::make_unique<PlotSink>(std::move(options), output);
}

}  // namespace tracedb
