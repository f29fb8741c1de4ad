// Aligned columns for people. The first rows are held back to choose the widths; later rows keep
// to them, and stand out where they do not fit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "query/result_sinks.h"
#include "query/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kHeldRowsMax = 1000;
constexpr size_t kHeldBytesMax = 8u << 20;
constexpr size_t kCutWidthMin = 8;  // text columns are not made narrower than this
constexpr std::string_view kGap = "  ";

std::string ShownReal(double real, std::string_view column_name) {
  const double size = std::fabs(real);
  if (!std::isfinite(real) || size >= 1e15) return fmt::format("{:.6g}", real);
  if (column_name.ends_with("_ms")) return fmt::format("{:.3f}", real);
  if (column_name.ends_with("_pct")) return fmt::format("{:.2f}", real);
  return size >= 1e6 ? fmt::format("{:.0f}", real) : fmt::format("{:.6g}", real);
}

struct Shown {
  std::string text;
  SqlType type = SqlType::kNull;
};

class TableSink : public RowSink {
 public:
  TableSink(const SinkOptions& options, OutputStream& output)
      : options_(options), output_(output) {}

  Status Begin(std::span<const std::string> column_names) override;
  Status Row(std::span<const Cell> cells) override;
  Status End() override;

 private:
  bool IsHeld() const { return widths_.empty(); }
  Status WriteHeld();
  void ChooseWidths();
  void FitTerminal();
  Status WriteLine(std::span<const Shown> row);

  const SinkOptions options_;
  OutputStream& output_;
  bool begun_ = false;
  std::vector<std::string> names_;
  std::vector<Shown> titles_;
  std::vector<std::vector<Shown>> held_;
  size_t held_bytes_ = 0;
  std::vector<size_t> widths_;  // empty while rows are held
  std::vector<bool> right_;     // columns of numbers
  bool cuts_ = false;           // the terminal is too narrow for all of the text
  int64_t rows_ = 0;
  std::string line_;
};

Status TableSink::Begin(std::span<const std::string> column_names) {
  names_.assign(column_names.begin(), column_names.end());
  titles_.clear();
  for (const std::string& name : names_) titles_.push_back({ShownText(name), SqlType::kText});
  held_.clear();
  held_bytes_ = 0;
  widths_.clear();
  rows_ = 0;
  return std::exchange(begun_, true) ? output_.Write("\n") : Status(Done{});
}

Status TableSink::Row(std::span<const Cell> cells) {
  ++rows_;
  std::vector<Shown> row(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    row[i].type = cells[i].type;
    if (cells[i].type == SqlType::kReal) {
      row[i].text = ShownReal(cells[i].real, names_[i]);
    } else if (cells[i].type == SqlType::kText) {
      row[i].text = ShownText(cells[i].text);
    } else {
      AppendCell(row[i].text, cells[i]);
    }
    held_bytes_ += sizeof(Shown) + row[i].text.size();
  }
  if (!IsHeld()) return WriteLine(row);
  held_.push_back(std::move(row));
  if (held_.size() < kHeldRowsMax && held_bytes_ < kHeldBytesMax) return Done{};
  return WriteHeld();
}

Status TableSink::End() {
  if (IsHeld()) TRACEDB_TRY(WriteHeld());
  if (!options_.terminal) return Done{};
  return output_.Write(fmt::format("({} row{})\n", rows_, rows_ == 1 ? "" : "s"));
}

Status TableSink::WriteHeld() {
  ChooseWidths();
  if (options_.header) {
    TRACEDB_TRY(WriteLine(titles_));
    std::vector<Shown> rule;
    for (size_t width : widths_) rule.push_back({std::string(width, '-'), SqlType::kText});
    TRACEDB_TRY(WriteLine(rule));
  }
  for (const std::vector<Shown>& row : held_) TRACEDB_TRY(WriteLine(row));
  held_.clear();
  held_.shrink_to_fit();
  return Done{};
}

void TableSink::ChooseWidths() {
  const size_t columns = names_.size();
  widths_.assign(columns, 1);
  right_.assign(columns, false);
  std::vector<bool> other(columns, false);
  for (size_t i = 0; i < columns && options_.header; ++i) {
    widths_[i] = std::max<size_t>(1, DisplayWidth(titles_[i].text));
  }
  for (const std::vector<Shown>& row : held_) {
    for (size_t i = 0; i < columns; ++i) {
      widths_[i] = std::max(widths_[i], DisplayWidth(row[i].text));
      const SqlType type = row[i].type;
      if (type == SqlType::kInteger || type == SqlType::kReal) right_[i] = true;
      if (type == SqlType::kText || type == SqlType::kBlob) other[i] = true;
    }
  }
  for (size_t i = 0; i < columns; ++i) right_[i] = right_[i] && !other[i];
  FitTerminal();
}

// Narrows the widest text column, again and again, until a line fits or no column can give more.
void TableSink::FitTerminal() {
  cuts_ = false;
  if (!options_.terminal || options_.terminal_width <= 0) return;
  const auto room = static_cast<size_t>(options_.terminal_width);
  size_t total = kGap.size() * (widths_.size() - 1);
  for (size_t i = 0; i < widths_.size(); ++i) {
    if (!right_[i] && widths_[i] > std::max(room, kCutWidthMin)) {
      widths_[i] = std::max(room, kCutWidthMin);
      cuts_ = true;
    }
    total += widths_[i];
  }
  while (total > room) {
    size_t widest = widths_.size();
    for (size_t i = 0; i < widths_.size(); ++i) {
      if (right_[i] || widths_[i] <= kCutWidthMin) continue;
      if (widest == widths_.size() || widths_[i] > widths_[widest]) widest = i;
    }
    if (widest == widths_.size()) return;
    --widths_[widest];
    --total;
    cuts_ = true;
  }
}

Status TableSink::WriteLine(std::span<const Shown> row) {
  line_.clear();
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0) line_ += kGap;
    // Only what a person watches is cut, and numbers never: half a number is a wrong one.
    const bool cut = cuts_ && row[i].type == SqlType::kText && !right_[i];
    const std::string text = cut ? CutToWidth(row[i].text, widths_[i]) : row[i].text;
    const size_t width = DisplayWidth(text);
    const std::string blanks(widths_[i] > width ? widths_[i] - width : 0, ' ');
    line_ += right_[i] ? blanks + text : text + blanks;
  }
  line_.erase(line_.find_last_not_of(' ') + 1);
  line_ += '\n';
  return output_.Write(line_);
}

}  // namespace

std::unique_ptr<RowSink> MakeTableSink(const SinkOptions& options, OutputStream& output) {
  return std::make_unique<TableSink>(options, output);
}

}  // namespace tracedb
