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

size_t LinesIn(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
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
  Status Write(const std::string& text);
  Status WriteHeld(bool is_all);
  Status WriteRow(const std::vector<Shown>& row);
  void LimitRows(bool is_all);
  std::string RowText(std::span<const Shown> row) const;
  std::string Across(std::span<const Shown> row, bool is_title) const;
  std::string Down(std::span<const Shown> row) const;
  std::string OthersAre(size_t columns) const;
  std::string Footer(size_t rows, size_t written) const;

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
  size_t lines_ = 0;      // of all results together
  size_t lines_max_ = 0;  // that rows of this result may reach; 0: any number
  bool is_full_ = false;
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
  is_full_ = false;
  if (std::exchange(begun_, true)) TRACEDB_TRY(Write("\n"));
  const std::string caption = std::exchange(caption_, {});
  return caption.empty() ? Status(Done{}) : Write(caption + "\n");
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
  return WriteHeld(false);
}

Status TableSink::End() {
  if (rows_ == 0 && options_.table.silent_when_empty) return Done{};
  if (is_held_) TRACEDB_TRY(WriteHeld(true));
  return Write(Footer(rows_, written_));
}

Status TableSink::Write(const std::string& text) {
  lines_ += LinesIn(text);
  return text.empty() ? Status(Done{}) : output_.Write(text);
}

// Where the columns that are left out are.
std::string TableSink::OthersAre(size_t columns) const {
  constexpr std::string_view kThem = "them";
  std::string others(options_.table.others);
  if (columns == 1 && others.ends_with(kThem)) {
    others.replace(others.size() - kThem.size(), kThem.size(), "it");
  }
  return others;
}

// "(480 rows, 40 shown: a pager or --format csv has all)", "(8 rows; 3 columns not shown: a, b, c;
// --wide or --format csv has them)"
std::string TableSink::Footer(size_t rows, size_t written) const {
  constexpr size_t kNamedMax = 6;
  std::string text = options_.terminal ? Counted(rows, "row") : "";
  if (written < rows) {
    text += fmt::format(", {} shown: a pager or --format csv has all", written);
  }
  if (!columns_.left_out.empty()) {
    const std::span<const std::string> all(columns_.left_out);
    text += fmt::format("{}{} not shown: {}{}; {}", text.empty() ? "" : "; ",
                        Counted(all.size(), "column"),
                        JoinNames(all.first(std::min(all.size(), kNamedMax))),
                        all.size() > kNamedMax ? ", ..." : "", OthersAre(all.size()));
  }
  if (text.empty()) return text;
  std::string lines;
  const auto width = static_cast<size_t>(std::max(0, options_.table.width));
  for (const std::string& line : WrapText("(" + text + ")", width == 0 ? text.size() + 2 : width)) {
    lines += line + "\n";
  }
  return lines;
}

Status TableSink::WriteHeld(bool is_all) {
  is_held_ = false;
  columns_ = ChooseColumns(names_, titles_, held_, options_);
  if (options_.header && !columns_.is_vertical) {
    TRACEDB_TRY(Write(Across(titles_, true)));
    std::vector<Shown> rule(names_.size());
    for (const TableColumn& column : columns_.shown) {
      rule[column.index].text = std::string(column.width, '-');
    }
    TRACEDB_TRY(Write(Across(rule, false)));
  }
  LimitRows(is_all);
  for (const std::vector<Shown>& row : held_) TRACEDB_TRY(WriteRow(row));
  held_.clear();
  held_.shrink_to_fit();
  return Done{};
}

// Names, rows and what is said below them are to be on one screen.
void TableSink::LimitRows(bool is_all) {
  constexpr size_t kRowsLikely = 999'999;
  constexpr size_t kWrittenLikely = 99;
  lines_max_ = 0;
  const size_t screen = options_.table.lines_max;
  if (screen == 0) return;
  if (is_all && held_.size() <= screen) {
    size_t lines = lines_ + LinesIn(Footer(rows_, rows_));
    for (const std::vector<Shown>& row : held_) lines += LinesIn(RowText(row));
    if (lines <= screen) return;
  }
  const size_t footer =
      LinesIn(Footer(is_all ? rows_ : kRowsLikely, std::min(kWrittenLikely, rows_ - 1)));
  lines_max_ = screen - std::min(footer, screen - 1);
}

Status TableSink::WriteRow(const std::vector<Shown>& row) {
  if (is_full_) return Done{};
  const std::string text = RowText(row);
  // A person has at least one row of each result.
  is_full_ = lines_max_ > 0 && written_ > 0 && lines_ + LinesIn(text) > lines_max_;
  if (is_full_) return Done{};
  ++written_;
  return Write(text);
}

std::string TableSink::RowText(std::span<const Shown> row) const {
  return columns_.is_vertical ? Down(row) : Across(row, false);
}

// A line, or as many as the longest of its wrapped texts has.
std::string TableSink::Across(std::span<const Shown> row, bool is_title) const {
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
  std::string text;
  std::string line;
  for (size_t i = 0; i < lines; ++i) {
    line.clear();
    for (size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) line += kColumnGap;
      const std::string_view cell = i < cells[c].size() ? std::string_view(cells[c][i]) : "";
      AppendAligned(line, cell, columns_.shown[c].width, columns_.shown[c].is_right);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    const bool is_bold = is_title && options_.table.color;
    text += is_bold ? std::string(kBold) + line + std::string(kPlain) : line;
    text += '\n';
  }
  return text;
}

// A line for each value, or more where it is long.
std::string TableSink::Down(std::span<const Shown> row) const {
  constexpr size_t kLineMin = 20;
  std::string text = fmt::format("-[ row {} ]", written_ + 1);
  const size_t width = options_.table.width > 0 ? static_cast<size_t>(options_.table.width) : 0;
  if (width == 0 || text.size() < width) {
    text.append(width == 0 ? title_width_ : std::min(width, size_t{60}) - text.size(), '-');
  }
  text += '\n';
  const size_t begin = title_width_ + kColumnGap.size();
  for (const TableColumn& column : columns_.shown) {
    const std::string& value = row[column.index].text;
    const size_t room = width > begin + kLineMin ? width - begin : kLineMin;
    const std::vector<std::string> lines =
        width == 0 ? std::vector<std::string>{value} : WrapText(value, room);
    if (options_.table.color) text += kBold;
    AppendAligned(text, titles_[column.index].text, title_width_, false);
    if (options_.table.color) text += kPlain;
    for (size_t i = 0; i < lines.size(); ++i) {
      text += i == 0 ? std::string(kColumnGap) : std::string(begin, ' ');
      text += lines[i];
      text.erase(text.find_last_not_of(' ') + 1);
      text += '\n';
    }
  }
  return text;
}

}  // namespace

std::unique_ptr<RowSink> MakeTableSink(const SinkOptions& options, OutputStream& output) {
  return std::make_unique<TableSink>(options, output);
}

}  // namespace tracedb
