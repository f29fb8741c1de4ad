#include "export/workbook_export.h"

#include <fmt/format.h>

#include <utility>

#include "export/workbook.h"
#include "tracedb/base/file_bytes.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/text/output_file.h"

namespace tracedb {
namespace {

struct Answered {
  const QueryDoc* doc = nullptr;
  const WorkbookSheet* sheet = nullptr;  // none: it has no row
  QueryOutcome outcome;
};

// Makes the sheet when the first row comes.
class SheetWhenNeeded : public RowSink {
 public:
  SheetWhenNeeded(Workbook& workbook, const QueryDoc& doc) : workbook_(workbook), doc_(doc) {}

  Status Begin(std::span<const std::string> column_names) override {
    names_.assign(column_names.begin(), column_names.end());
    return Done{};
  }
  Status Row(std::span<const Cell> cells) override {
    if (sheet_ == nullptr) {
      TRACEDB_ASSIGN(sheet, workbook_.AddSheet(doc_.name, doc_.columns));
      sheet_ = sheet;
      TRACEDB_TRY(sheet_->Begin(names_));
    }
    return sheet_->Row(cells);
  }
  Status End() override { return sheet_ == nullptr ? Status(Done{}) : sheet_->End(); }

  const WorkbookSheet* sheet() const { return sheet_; }

 private:
  Workbook& workbook_;
  const QueryDoc& doc_;
  std::vector<std::string> names_;
  WorkbookSheet* sheet_ = nullptr;
};

Cell Text(std::string_view text) { return {SqlType::kText, 0, 0, text}; }

// What a reader of a sheet should know: nothing is left out in silence.
std::string NoteOf(const Answered& answer) {
  std::string note = answer.sheet == nullptr ? answer.outcome.note : "";
  if (answer.outcome.cut) {
    note = fmt::format("only its first {} rows: a sheet has no room for more", kSheetRowsMax);
  }
  if (answer.sheet != nullptr && answer.sheet->texts_cut() > 0) {
    note += fmt::format("{}{} texts cut to the {} characters of a cell", note.empty() ? "" : "; ",
                        answer.sheet->texts_cut(), kCellTextMax);
  }
  return note;
}

Status WriteContents(WorkbookSheet& contents, const std::vector<Answered>& answers) {
  const std::vector<std::string> names = {"query", "rows", "what it answers", "note"};
  TRACEDB_TRY(contents.Begin(names));
  for (const Answered& answer : answers) {
    const std::string note = NoteOf(answer);
    const std::vector<Cell> cells = {Text(answer.doc->name),
                                     {SqlType::kInteger, answer.outcome.rows, 0, {}},
                                     Text(answer.doc->title),
                                     note.empty() ? Cell{} : Text(note)};
    TRACEDB_TRY(answer.sheet == nullptr ? contents.Row(cells)
                                        : contents.LinkedRow(cells, answer.sheet->name()));
  }
  return contents.End();
}

Status WriteColumns(Workbook& workbook, const std::vector<Answered>& answers) {
  TRACEDB_ASSIGN(sheet, workbook.AddSheet("columns", {}));
  const std::vector<std::string> names = {"query", "column", "unit", "meaning"};
  TRACEDB_TRY(sheet->Begin(names));
  for (const Answered& answer : answers) {
    if (answer.sheet == nullptr) continue;
    for (const QueryColumn& column : answer.doc->columns) {
      const std::vector<Cell> cells = {Text(answer.doc->name), Text(column.name),
                                       column.unit.empty() ? Cell{} : Text(column.unit),
                                       Text(column.text)};
      TRACEDB_TRY(sheet->Row(cells));
    }
  }
  return sheet->End();
}

Result<Answered> Answer(SqliteDb& db, Workbook& workbook, const AskedQuery& asked) {
  TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db, *asked.doc, {asked.params, ""}));
  SheetWhenNeeded sheet(workbook, *asked.doc);
  TRACEDB_ASSIGN(outcome, query.Run(sheet, kSheetRowsMax));
  return Answered{asked.doc, sheet.sheet(), std::move(outcome)};
}

// As it is, to where it was asked for: whole or not at all.
Status PutInPlace(const std::filesystem::path& made, FileOutput& output) {
  std::string piece(1 << 18, '\0');
  for (int64_t at = 0;;) {
    const std::optional<size_t> got = ReadFileAt(made, at, piece);
    if (!got.has_value()) {
      return Error{ErrorKind::kOutput, made.string() + ": cannot be read back", ""};
    }
    if (*got == 0) break;
    TRACEDB_TRY(output.Write(std::string_view(piece.data(), *got)));
    at += static_cast<int64_t>(*got);
  }
  TRACEDB_TRY(output.Flush());
  return output.Commit();
}

}  // namespace

Result<ExportOutcome> ExportWorkbook(SqliteDb& db, const ExportOptions& options,
                                     const std::vector<AskedQuery>& asked) {
  TRACEDB_ASSIGN(output,
                 FileOutput::Create(options.output, {{options.database}, {}, options.force}));
  const std::filesystem::path made = options.scratch / "workbook.xlsx";
  TRACEDB_ASSIGN(workbook, Workbook::Create(made, options.scratch));
  TRACEDB_ASSIGN(contents, workbook->AddSheet("contents", {}));
  ExportOutcome done;
  std::vector<Answered> answers;
  for (const AskedQuery& query : asked) {
    if (options.on_query) options.on_query(query.doc->name, answers.size() + 1, asked.size());
    TRACEDB_ASSIGN(answer, Answer(db, *workbook, query));
    done.rows += answer.outcome.rows;
    if (answer.sheet != nullptr) {
      ++done.answers;
      const std::string note = NoteOf(answer);
      if (!note.empty()) done.notes.push_back(fmt::format("{}: {}", query.doc->name, note));
    }
    answers.push_back(std::move(answer));
  }
  TRACEDB_TRY(WriteContents(*contents, answers));
  TRACEDB_TRY(WriteColumns(*workbook, answers));
  TRACEDB_TRY(workbook->Close());
  TRACEDB_TRY(PutInPlace(made, *output));
  return done;
}

}  // namespace tracedb
