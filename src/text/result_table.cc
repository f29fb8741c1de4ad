// Aligned columns for people. The first rows are held back to choose the widths; later rows keep
// to them, and stand out where they do not fit.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tracedb/text/result_columns.h"
#include "tracedb/text/result_sinks.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kHeldRowsMax = 1000;
constexpr size_t kHeldBytesMax = 8u << 20;

class TableSink : public RowSink {
 public:
  TableSink(const SinkOptions& options, OutputStream& output)
      : options_(options), output_(output) {}

  Status Begin(std::span<const std::string> column_names) override;
  Status Row(std::span<const Cell> cells) override;
  Status End() override;
  Status Caption(std::string_view text) override {
    caption_ = ShownText(text);
    return Done{};
  }

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
  std::string caption_;
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
  if (std::exchange(begun_, true)) TRACEDB_TRY(output_.Write("\n"));
  const std::string caption = std::exchange(caption_, {});
  return caption.empty() ? Status(Done{}) : output_.Write(caption + "\n");
}

Status TableSink::Row(std::span<const Cell> cells) {
  ++rows_;
  std::vector<Shown> row;
  row.reserve(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    row.push_back(ShowCell(cells[i], names_[i]));
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

void TableSink::FitTerminal() {
  cuts_ = false;
  if (!options_.terminal || options_.terminal_width <= 0) return;
  std::vector<size_t> floors = widths_;
  for (size_t i = 0; i < floors.size(); ++i) {
    if (!right_[i]) floors[i] = std::min(floors[i], kCutWidthMin);
  }
  cuts_ = NarrowColumns(widths_, floors, static_cast<size_t>(options_.terminal_width));
}

Status TableSink::WriteLine(std::span<const Shown> row) {
  line_.clear();
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0) line_ += kColumnGap;
    // Only what a person watches is cut, and numbers never: half a number is a wrong one.
    const bool cut = cuts_ && row[i].type == SqlType::kText && !right_[i];
    const std::string text = cut ? CutToWidth(row[i].text, widths_[i]) : row[i].text;
    AppendAligned(line_, text, widths_[i], right_[i]);
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
