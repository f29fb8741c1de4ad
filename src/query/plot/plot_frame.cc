#include "tracedb/query/plot/plot_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kTitleWidthMin = 4;

void EndLine(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
  line += '\n';
}

}  // namespace

std::string Painted(const PlotStyle& style, Color color, std::string_view text) {
  if (!style.color || text.empty()) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", static_cast<int>(color), text);
}

std::string PieceLines(const PlotStyle& style, const std::vector<PlotPiece>& pieces) {
  std::string lines;
  size_t used = 0;
  for (const PlotPiece& piece : pieces) {
    const bool fits = used + kColumnGap.size() + piece.width <= style.width;
    if (used > 0) lines += fits ? kColumnGap : "\n";
    used = used > 0 && fits ? used + kColumnGap.size() + piece.width : piece.width;
    lines += piece.text;
  }
  return lines + '\n';
}

std::string LeftOutLine(const PlotStyle& style, int64_t rows) {
  return fmt::format("{} {} more row{}\n", style.unicode ? "…" : "...", rows, rows == 1 ? "" : "s");
}

PlotFrame::PlotFrame(const PlotStyle& style, std::vector<PlotColumn> columns)
    : style_(style), columns_(std::move(columns)) {
  if (!style_.unicode) {
    for (PlotColumn& column : columns_) {
      column.title = AsciiText(column.title);
      for (Shown& cell : column.cells) cell.text = AsciiText(cell.text);
    }
  }
  ChooseWidths();
}

void PlotFrame::ChooseWidths() {
  std::vector<size_t> floors;
  for (const PlotColumn& column : columns_) {
    size_t widest = 1;
    bool numbers = false;
    bool texts = false;
    for (const Shown& cell : column.cells) {
      widest = std::max(widest, DisplayWidth(cell.text));
      if (cell.type == SqlType::kInteger || cell.type == SqlType::kReal) numbers = true;
      if (cell.type == SqlType::kText || cell.type == SqlType::kBlob) texts = true;
    }
    right_.push_back(numbers && !texts);
    const size_t title = style_.header ? DisplayWidth(column.title) : 0;
    widths_.push_back(std::max(widest, title));
    floors.push_back(right_.back() ? std::max(widest, std::min(title, kTitleWidthMin))
                                   : std::min(widths_.back(), kCutWidthMin));
  }
  const size_t gaps = kColumnGap.size() * widths_.size();
  // The gap in front of the drawing is not one of those that NarrowColumns counts.
  const auto narrow = [&](size_t drawing, const std::vector<size_t>& to) {
    const size_t taken = drawing + (widths_.empty() ? 0 : kColumnGap.size());
    NarrowColumns(widths_, to, style_.width > taken ? style_.width - taken : 0);
  };
  std::vector<size_t> whole_titles = floors;
  for (size_t i = 0; i < floors.size(); ++i) {
    if (right_[i]) whole_titles[i] = widths_[i];
  }
  narrow(std::max(kDrawingCellsMin, style_.width / 3), whole_titles);
  narrow(std::max(kDrawingCellsMin, style_.width / 4), floors);
  const size_t text = std::accumulate(widths_.begin(), widths_.end(), gaps);
  fits_ = text + kDrawingCellsMin <= style_.width;
  cells_ = fits_ ? style_.width - text : kDrawingCellsMin;
}

std::string PlotFrame::Fitted(const std::string& text, size_t column) const {
  return CutToWidth(text, widths_[column], style_.unicode ? "…" : "...");
}

std::string PlotFrame::HeaderLine(std::string_view left, std::string_view right) const {
  std::string line;
  for (size_t i = 0; i < columns_.size(); ++i) {
    AppendAligned(line, Fitted(columns_[i].title, i), widths_[i], right_[i]);
    line += kColumnGap;
  }
  const size_t ends = DisplayWidth(left) + DisplayWidth(right);
  if (ends < cells_) {
    line += left;
    line.append(cells_ - ends, ' ');
    line += right;
  }
  EndLine(line);
  return line;
}

std::string PlotFrame::RowLine(size_t row, std::string_view drawing) const {
  std::string line;
  for (size_t i = 0; i < columns_.size(); ++i) {
    AppendAligned(line, Fitted(columns_[i].cells[row].text, i), widths_[i], right_[i]);
    line += kColumnGap;
  }
  line += drawing;
  EndLine(line);
  return line;
}

}  // namespace tracedb
