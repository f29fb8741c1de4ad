#include <fmt/format.h>
#include <xlsxwriter.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "export/workbook.h"
#include "tracedb/base/own_module.h"
#include "tracedb/base/uninitialized_bytes.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kSheetNameMax = 31;
constexpr size_t kCellBytesMax = 4 * kCellTextMax;
constexpr int64_t kWholeMax = 999'999'999'999'999;  // 15 digits
constexpr size_t kSheetRoom = size_t{1} << 20;      // a sheet, or the names of its columns
constexpr size_t kRowRoom = size_t{64} << 10;       // beside its texts
constexpr size_t kTextTimes = 8;                // each letter may become six, &quot; and its like
constexpr size_t kCloseRoom = size_t{4} << 20;  // all sheets are packed, one after another
constexpr double kTextWidth = 44;
constexpr double kNumberWidth = 12;

// libxlsxwriter goes on where it gets no memory, and so into a null pointer: it is called only
// where there is room for what it may take.
void NeedRoom(size_t bytes) {
  UninitializedBytes room(bytes);
  static_cast<volatile char&>(room.front()) = 0;  // or the compiler leaves the room out
}

Status Checked(lxw_error code) {
  if (code == LXW_NO_ERROR) return Done{};
  return Error{ErrorKind::kOutput, fmt::format("the workbook: {}", lxw_strerror(code)),
               "it needs room in $TMPDIR, about as much as the workbook has in the end"};
}

// What a column's numbers look like: as many digits as carry meaning.
std::string NumberFormat(const QueryColumn& column) {
  if (column.type == DocType::kInteger) return column.unit == "id" ? "0" : "#,##0";
  if (column.unit == "pct") return "0.0";
  return column.type == DocType::kReal ? "#,##0.000" : "General";
}

// At most kCellTextMax characters; broken UTF-8 as U+FFFD.
std::string CellText(std::string_view text, size_t* cut) {
  std::string whole;
  size_t characters = 0;
  while (!text.empty()) {
    const Utf8Character one = ReadUtf8(text);
    // Those beyond 16 bits count twice.
    characters += one.code > 0xFFFF ? 2 : 1;
    if (characters > kCellTextMax) {
      ++*cut;
      return whole;
    }
    const bool is_shown = one.valid && one.code != 0;
    whole += is_shown ? text.substr(0, one.bytes) : std::string_view("\xEF\xBF\xBD");
    text.remove_prefix(one.bytes);
  }
  return whole;
}

class XlsxSheet;

struct Book {
  std::string file, scratch;  // the library keeps pointers
  lxw_workbook* workbook = nullptr;
  lxw_format* heading = nullptr;
  lxw_format* link = nullptr;
  std::map<std::string, lxw_format*> formats;  // by what numbers look like
  std::set<std::string> names;                 // in small letters
  std::vector<std::unique_ptr<XlsxSheet>> sheets;

  lxw_format* FormatOf(const std::string& number) {
    lxw_format*& format = formats[number];
    if (format == nullptr) {
      format = workbook_add_format(workbook);
      format_set_num_format(format, number.c_str());
    }
    return format;
  }
  std::string FreeName(std::string name);
};

// Letters of case alone do not make two names different to a spreadsheet.
std::string Book::FreeName(std::string name) {
  for (char& c : name) {
    if (std::string_view("[]:*?/\\'").find(c) != std::string_view::npos) c = '_';
  }
  name.resize(std::min(name.size(), kSheetNameMax));
  const auto is_free = [&](std::string lower) {
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return names.insert(lower).second;
  };
  std::string free = name;
  for (int number = 2; !is_free(free); ++number) {
    const std::string end = fmt::format("_{}", number);
    free = name.substr(0, kSheetNameMax - end.size()) + end;
  }
  return free;
}

class XlsxSheet : public WorkbookSheet {
 public:
  XlsxSheet(Book& book, lxw_worksheet* worksheet, std::string name,
            std::span<const QueryColumn> columns)
      : book_(book),
        worksheet_(worksheet),
        name_(std::move(name)),
        columns_(columns.begin(), columns.end()) {}

  Status Begin(std::span<const std::string> column_names) override;
  Status Row(std::span<const Cell> cells) override;
  Status End() override;

  Status LinkedRow(std::span<const Cell> cells, const std::string& sheet) override;
  const std::string& name() const override { return name_; }
  size_t texts_cut() const override { return texts_cut_; }

 private:
  Status WriteCell(uint16_t column, const Cell& cell);
  const QueryColumn* ColumnOf(const std::string& name) const;

  Book& book_;
  lxw_worksheet* worksheet_;
  std::string name_;
  std::vector<QueryColumn> columns_;
  std::vector<lxw_format*> formats_;  // of the result's columns
  uint32_t row_ = 0;
  size_t texts_cut_ = 0;
};

const QueryColumn* XlsxSheet::ColumnOf(const std::string& name) const {
  const auto at = std::find_if(columns_.begin(), columns_.end(),
                               [&](const QueryColumn& column) { return column.name == name; });
  return at == columns_.end() ? nullptr : &*at;
}

Status XlsxSheet::Begin(std::span<const std::string> column_names) {
  NeedRoom(kSheetRoom);
  uint16_t at = 0;
  for (const std::string& name : column_names) {
    const QueryColumn* const column = ColumnOf(name);
    const bool is_text = column == nullptr || column->type == DocType::kText;
    lxw_format* const format = is_text ? nullptr : book_.FormatOf(NumberFormat(*column));
    formats_.push_back(format);
    const double least = static_cast<double>(name.size()) + 4;  // the filter's mark
    const bool is_wide = is_text && (column == nullptr || column->unit.empty()) && name != "run" &&
                         name != "device" && name != "stream";
    const double width = std::max(least, is_wide ? kTextWidth : kNumberWidth);
    TRACEDB_TRY(Checked(worksheet_set_column(worksheet_, at, at, width, format)));
    ++at;
  }
  for (at = 0; at < column_names.size(); ++at) {
    TRACEDB_TRY(Checked(
        worksheet_write_string(worksheet_, 0, at, column_names[at].c_str(), book_.heading)));
  }
  worksheet_freeze_panes(worksheet_, 1, 0);
  row_ = 1;
  return Done{};
}

Status XlsxSheet::WriteCell(uint16_t column, const Cell& cell) {
  lxw_format* const format = formats_[column];
  const auto text = [&](const std::string& value) {
    return Checked(worksheet_write_string(worksheet_, row_, column, value.c_str(), nullptr));
  };
  switch (cell.type) {
    case SqlType::kNull:
      return Done{};
    case SqlType::kInteger:
      if (cell.integer > kWholeMax || cell.integer < -kWholeMax) {
        return text(std::to_string(cell.integer));
      }
      return Checked(worksheet_write_number(worksheet_, row_, column,
                                            static_cast<double>(cell.integer), format));
    case SqlType::kReal:
      if (!std::isfinite(cell.real)) return text(cell.real > 0 ? "Infinity" : "-Infinity");
      return Checked(worksheet_write_number(worksheet_, row_, column, cell.real, format));
    case SqlType::kText:
    case SqlType::kBlob:
      return text(CellText(cell.text, &texts_cut_));
  }
  return Done{};
}

size_t RoomOf(std::span<const Cell> cells) {
  size_t bytes = 0;
  for (const Cell& cell : cells) bytes += std::min(cell.text.size(), kCellBytesMax);
  return kRowRoom + kTextTimes * bytes;
}

Status XlsxSheet::Row(std::span<const Cell> cells) {
  NeedRoom(RoomOf(cells));
  for (size_t i = 0; i < cells.size(); ++i) {
    TRACEDB_TRY(WriteCell(static_cast<uint16_t>(i), cells[i]));
  }
  ++row_;
  return Done{};
}

Status XlsxSheet::LinkedRow(std::span<const Cell> cells, const std::string& sheet) {
  NeedRoom(RoomOf(cells));
  for (size_t i = 1; i < cells.size(); ++i) {
    TRACEDB_TRY(WriteCell(static_cast<uint16_t>(i), cells[i]));
  }
  const std::string address = fmt::format("internal:'{}'!A1", sheet);
  const std::string shown = CellText(cells.front().text, &texts_cut_);
  TRACEDB_TRY(Checked(worksheet_write_url_opt(worksheet_, row_, 0, address.c_str(), book_.link,
                                              shown.c_str(), nullptr)));
  ++row_;
  return Done{};
}

Status XlsxSheet::End() {
  if (formats_.empty()) return Done{};
  NeedRoom(kRowRoom);
  const auto last = static_cast<uint16_t>(formats_.size() - 1);
  return Checked(worksheet_autofilter(worksheet_, 0, 0, std::max<uint32_t>(row_, 2) - 1, last));
}

class XlsxWorkbook : public Workbook {
 public:
  XlsxWorkbook(const char* file, const char* scratch) {
    book_.file = file;
    book_.scratch = scratch;
    NeedRoom(kSheetRoom);
    lxw_workbook_options options{};
    options.constant_memory = LXW_TRUE;
    options.tmpdir = book_.scratch.data();
    options.use_zip64 = LXW_TRUE;
    book_.workbook = workbook_new_opt(book_.file.c_str(), &options);
    if (book_.workbook == nullptr) return;
    book_.heading = workbook_add_format(book_.workbook);
    format_set_bold(book_.heading);
    format_set_bottom(book_.heading, LXW_BORDER_THIN);
    book_.link = workbook_get_default_url_format(book_.workbook);
  }
  ~XlsxWorkbook() override {
    if (book_.workbook != nullptr) lxw_workbook_free(book_.workbook);
  }
  XlsxWorkbook(const XlsxWorkbook&) = delete;
  XlsxWorkbook& operator=(const XlsxWorkbook&) = delete;

  bool is_made() const { return book_.workbook != nullptr; }

  Result<WorkbookSheet*> AddSheet(const std::string& name,
                                  std::span<const QueryColumn> columns) override {
    const std::string free = book_.FreeName(name);
    NeedRoom(kSheetRoom);
    lxw_worksheet* const worksheet = workbook_add_worksheet(book_.workbook, free.c_str());
    if (worksheet == nullptr) return Checked(LXW_ERROR_CREATING_TMPFILE).error();
    book_.sheets.push_back(std::make_unique<XlsxSheet>(book_, worksheet, free, columns));
    return book_.sheets.back().get();
  }

  Status Close() override {
    NeedRoom(kCloseRoom);
    return Checked(workbook_close(std::exchange(book_.workbook, nullptr)));
  }

 private:
  Book book_;
};

}  // namespace
}  // namespace tracedb

#ifdef TRACEDB_MODULES
const char* const tracedb_module_version = TRACEDB_VERSION;
#endif

tracedb::Workbook* tracedb_xlsx_workbook(const char* file, const char* scratch) {
  auto made = std::make_unique<tracedb::XlsxWorkbook>(file, scratch);
  return made->is_made() ? made.release() : nullptr;
}
