// An .xlsx file, row by row, in bounded memory. Numbers stay numbers where a spreadsheet keeps them
// whole; integers of more than 15 digits, which it would round, are texts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/query/doc/query_doc.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

inline constexpr int64_t kSheetRowsMax = 1'048'576 - 1;  // below the names
inline constexpr size_t kCellTextMax = 32'767;           // characters

class Workbook {
 public:
  class Sheet;

  // `scratch` is a folder for what is on the way.
  static Result<std::unique_ptr<Workbook>> Create(const std::filesystem::path& file,
                                                  const std::filesystem::path& scratch);
  ~Workbook();
  Workbook(const Workbook&) = delete;
  Workbook& operator=(const Workbook&) = delete;

  // The name is cut to what a sheet may be called, and made another than all before. Columns are
  // as wide as their names and `columns` suggest. Lives as long as the workbook.
  Result<Sheet*> AddSheet(const std::string& name, std::span<const QueryColumn> columns);
  // Writes the file. Once.
  Status Close();

 private:
  struct Book;
  explicit Workbook(std::unique_ptr<Book> book);
  std::unique_ptr<Book> book_;
};

// Rows of results, below a frozen line with their names.
class Workbook::Sheet : public RowSink {
 public:
  Sheet(Book& book, void* worksheet, std::string name, std::span<const QueryColumn> columns);

  Status Begin(std::span<const std::string> column_names) override;
  Status Row(std::span<const Cell> cells) override;
  Status End() override;

  const std::string& name() const { return name_; }
  size_t texts_cut() const { return texts_cut_; }
  // As Row; the first cell, a text, is a link to another sheet.
  Status LinkedRow(std::span<const Cell> cells, const std::string& sheet);

 private:
  Status WriteCell(uint16_t column, const Cell& cell);
  const QueryColumn* ColumnOf(const std::string& name) const;

  Book& book_;
  void* worksheet_;  // the library's
  std::string name_;
  std::vector<QueryColumn> columns_;
  std::vector<void*> formats_;  // of the result's columns
  uint32_t row_ = 0;
  size_t texts_cut_ = 0;
};

}  // namespace tracedb
