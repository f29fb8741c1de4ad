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

// Rows of results, below a frozen line with their names.
class WorkbookSheet : public RowSink {
 public:
  // As Row; the first cell, a text, is a link to another sheet.
  virtual Status LinkedRow(std::span<const Cell> cells, const std::string& sheet) = 0;
  virtual const std::string& name() const = 0;
  virtual size_t texts_cut() const = 0;
};

class Workbook {
 public:
  // `scratch` is a folder for what is on the way.
  static Result<std::unique_ptr<Workbook>> Create(const std::filesystem::path& file,
                                                  const std::filesystem::path& scratch);
  virtual ~Workbook() = default;

  // The name is cut to what a sheet may be called, and made another than all before. Columns are
  // as wide as their names and `columns` suggest. Lives as long as the workbook.
  virtual Result<WorkbookSheet*> AddSheet(const std::string& name,
                                          std::span<const QueryColumn> columns) = 0;
  // Writes the file. Once.
  virtual Status Close() = 0;
};

}  // namespace tracedb

// With libxlsxwriter, which brings OpenSSL along. Null: there is no memory for it. The caller
// deletes what it gets.
extern "C" tracedb::Workbook* tracedb_xlsx_workbook(const char* file, const char* scratch);
