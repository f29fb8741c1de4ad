// Aligned columns for people. The first rows are held back to choose columns and widths; later rows
// keep to them, and stand out where they do not fit.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "text/table_columns.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_columns.h"
#include "tracedb/text/result_sinks.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kHeldRowsMax = 1000;
constexpr size_t kHeldBytesMax = 8u << 20;
constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kPlain = "\033[0m";

std::string Counted(size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

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
  Status WriteHeld();
  Status WriteRow(const std::vector<Shown>& row);
  Status WriteAcross(std::span<const Shown> row, bool is_title);
  Status WriteDown(std::span<const Shown> row);
  std::string Footer() const;

  const SinkOptions options_;
  OutputStream& output_;
  bool begun_ = false;
  std::vector<std::string> names_;
  std::string caption_;
  std::vector<Shown> titles_;
  bool is_held_ = true;
  std::vector<std::vector<Shown>> held_;
  size_t held_bytes_ = 0;
  TableColumns columns_;
  size_t title_width_ = 0;  // of rows that are read downwards
  size_t rows_ = 0;
  size_t written_ = 0;
  size_t lines_ = 0;  // of all results together
  std::string line_;
};

Status TableSink::Begin(std::span<const std::string> column_names) {
  names_.assign(column_names.begin(), column_names.end());
  titles_.clear();
  title_width_ = 0;
  for (const std::string& name : names_) {
    titles_.push_back({ShownText(name), SqlType::kText});
    title_width_ = std::max(title_width_, DisplayWidth(titles_.back().text));
  }
  is_held_ = true;
  held_.clear();
  held_bytes_ = 0;
  rows_ = 0;
  written_ = 0;
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
  if (!is_held_) return WriteRow(row);
  held_.push_back(std::move(row));
  if (held_.size() < kHeldRowsMax && held_bytes_ < kHeldBytesMax) return Done{};
  return WriteHeld();
}

Status TableSink::End() {
  if (is_held_) TRACEDB_TRY(WriteHeld());
  const std::string footer = Footer();
  return footer.empty() ? Status(Done{}) : output_.Write(footer);
}

// "(480 rows, 40 shown: a pager or --format csv has all)", "(8 rows; 3 columns not shown: a, b, c;
// --wide or --format csv has them)"
std::string TableSink::Footer() const {
  constexpr size_t kNamedMax = 6;
  std::string text = options_.terminal ? Counted(rows_, "row") : "";
  if (written_ < rows_)
    text += fmt::format(", {} shown: a pager or --format csv has all", written_);
  if (!columns_.left_out.empty()) {
    const std::span<const std::string> all(columns_.left_out);
    text += fmt::format("{}{} not shown: {}{}; {}", text.empty() ? "" : "; ",
                        Counted(all.size(), "column"),
                        JoinNames(all.first(std::min(all.size(), kNamedMax))),
                        all.size() > kNamedMax ? ", ..." : "", options_.table.others);
  }
  if (text.empty()) return text;
  std::string lines;
  const auto width = static_cast<size_t>(std::max(0, options_.table.width));
  for (const std::string& line : WrapText("(" + text + ")", width == 0 ? text.size() + 2 : width)) {
    lines += line + "\n";
  }
  return lines;
}

Status TableSink::WriteHeld() {
  is_held_ = false;
  columns_ = ChooseColumns(names_, titles_, held_, options_);
  if (options_.header && !columns_.is_vertical) {
    TRACEDB_TRY(WriteAcross(titles_, true));
    std::vector<Shown> rule(names_.size());
    for (const TableColumn& column : columns_.shown) {
      rule[column.index].text = std::string(column.width, '-');
    }
    TRACEDB_TRY(WriteAcross(rule, false));
  }
  for (const std::vector<Shown>& row : held_) TRACEDB_TRY(WriteRow(row));
  held_.clear();
  held_.shrink_to_fit();
  return Done{};
}

Status TableSink::WriteRow(const std::vector<Shown>& row) {
  // A person has at least one row of each result.
  const size_t lines_max = options_.table.lines_max;
  if (lines_max > 0 && lines_ >= lines_max && written_ > 0) return Done{};
  ++written_;
  return columns_.is_vertical ? WriteDown(row) : WriteAcross(row, false);
}

// A line, or as many as the longest of its wrapped texts has.
Status TableSink::WriteAcross(std::span<const Shown> row, bool is_title) {
  std::vector<std::vector<std::string>> cells;
  size_t lines = 1;
  for (const TableColumn& column : columns_.shown) {
    const Shown& cell = row[column.index];
    if (column.is_wrapped && !is_title) {
      cells.push_back(WrapText(cell.text, column.width));
    } else {
      const bool is_cut = column.is_cut && (is_title || cell.type == SqlType::kText);
      const bool is_path = !is_title && names_[column.index].ends_with("path");
      cells.push_back({!is_cut   ? cell.text
                       : is_path ? CutFrontToWidth(cell.text, column.width)
                                 : CutToWidth(cell.text, column.width)});
    }
    lines = std::max(lines, cells.back().size());
  }
  for (size_t i = 0; i < lines; ++i) {
    line_.clear();
    for (size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) line_ += kColumnGap;
      const std::string_view text = i < cells[c].size() ? std::string_view(cells[c][i]) : "";
      AppendAligned(line_, text, columns_.shown[c].width, columns_.shown[c].is_right);
    }
    line_.erase(line_.find_last_not_of(' ') + 1);
    if (is_title && options_.table.color) {
      line_.insert(0, kBold);
      line_ += kPlain;
    }
    line_ += '\n';
    ++lines_;
    TRACEDB_TRY(output_.Write(line_));
  }
  return Done{};
}

// A line for each value, or more where it is long.
Status TableSink::WriteDown(std::span<const Shown> row) {
  constexpr size_t kLineMin = 20;
  line_ = fmt::format("-[ row {} ]", written_);
  const size_t width = options_.table.width > 0 ? static_cast<size_t>(options_.table.width) : 0;
  if (width == 0 || line_.size() < width) {
    line_.append(width == 0 ? title_width_ : std::min(width, size_t{60}) - line_.size(), '-');
  }
  line_ += '\n';
  const size_t begin = title_width_ + kColumnGap.size();
  for (const TableColumn& column : columns_.shown) {
    const std::string& text = row[column.index].text;
    const size_t room = width > begin + kLineMin ? width - begin : kLineMin;
    const std::vector<std::string> lines =
        width == 0 ? std::vector<std::string>{text} : WrapText(text, room);
    if (options_.table.color) line_ += kBold;
    AppendAligned(line_, titles_[column.index].text, title_width_, false);
    if (options_.table.color) line_ += kPlain;
    for (size_t i = 0; i < lines.size(); ++i) {
      line_ += i == 0 ? std::string(kColumnGap) : std::string(begin, ' ');
      line_ += lines[i];
      line_.erase(line_.find_last_not_of(' ') + 1);
      line_ += '\n';
    }
  }
  lines_ += static_cast<size_t>(std::count(line_.begin(), line_.end(), '\n'));
  return output_.Write(line_);
}

}  // namespace

std::unique_ptr<RowSink> MakeTableSink(const SinkOptions& options, OutputStream& output) {
  return std::make_unique<TableSink>(options, output);
}

}  // namespace tracedb
