#include "export/parquet_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "tracedb/query/run/query_database.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/text/output_file.h"
#include "tracedb/text/result_sink.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

// The folder of the files, and those of them that are made and not yet in place.
class ParquetFolder {
 public:
  explicit ParquetFolder(const ExportOptions& options) : options_(options) {}
  ~ParquetFolder() {
    files_.clear();
    if (!is_new_ || is_done_) return;
    std::error_code code;
    for (size_t i = 0; i < in_place_; ++i) fs::remove(names_[i], code);
    fs::remove(options_.output, code);  // empty, else it stays
  }
  ParquetFolder(const ParquetFolder&) = delete;
  ParquetFolder& operator=(const ParquetFolder&) = delete;

  Status Make() {
    TRACEDB_TRY((OutputGuard{{options_.database}, {}, options_.force}.Check(options_.output)));
    std::error_code code;
    is_new_ = fs::create_directory(options_.output, code);
    if (is_new_ || fs::is_directory(options_.output)) return Done{};
    const std::string shown = ShownText(options_.output.string());
    if (!code || code == std::errc::file_exists) {
      code = std::make_error_code(std::errc::not_a_directory);
    }
    return Error{ErrorKind::kOutput, fmt::format("{}: {}", shown, code.message()),
                 "-o names a folder for the Parquet files"};
  }

  // The file is there once Commit() is through.
  Result<OutputStream*> Add(const std::string& name) {
    names_.push_back(options_.output / (name + ".parquet"));
    TRACEDB_ASSIGN(file,
                   FileOutput::Create(names_.back(), {{options_.database}, {}, options_.force}));
    files_.push_back(std::move(file));
    return static_cast<OutputStream*>(files_.back().get());
  }

  Status Commit() {
    for (const std::unique_ptr<FileOutput>& file : files_) {
      TRACEDB_TRY(file->Commit());
      ++in_place_;
    }
    is_done_ = true;
    return Done{};
  }

 private:
  const ExportOptions& options_;
  std::vector<fs::path> names_;
  std::vector<std::unique_ptr<FileOutput>> files_;
  size_t in_place_ = 0;  // so many of them, from the first on
  bool is_new_ = false;
  bool is_done_ = false;
};

struct Answered {
  const QueryDoc* doc = nullptr;
  QueryOutcome outcome;
};

// "doctor/clocks" -> "doctor_clocks".
std::string FileOf(const QueryDoc& doc) {
  std::string name = doc.name;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

Cell Text(std::string_view text) {
  return text.empty() ? Cell{} : Cell{SqlType::kText, 0, 0, text};
}

std::unique_ptr<RowSink> SinkFor(OutputStream& output, std::vector<SqlType> types) {
  SinkOptions options;
  options.types = std::move(types);
  return MakeSink(Format::kParquet, options, output);
}

Result<Answered> Answer(SqliteDb& db, ParquetFolder& folder, const AskedQuery& asked) {
  TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db, *asked.doc, {asked.params, ""}));
  TRACEDB_ASSIGN(file, folder.Add(FileOf(*asked.doc)));
  TRACEDB_ASSIGN(outcome, query.Run(*SinkFor(*file, ColumnTypes(*asked.doc))));
  TRACEDB_TRY(file->Flush());
  return Answered{asked.doc, std::move(outcome)};
}

Status WriteContents(ParquetFolder& folder, const std::vector<Answered>& answers) {
  TRACEDB_ASSIGN(file, folder.Add("contents"));
  const auto sink =
      SinkFor(*file, {SqlType::kText, SqlType::kInteger, SqlType::kText, SqlType::kText});
  const std::vector<std::string> names = {"query", "rows", "what_it_answers", "note"};
  TRACEDB_TRY(sink->Begin(names));
  for (const Answered& answer : answers) {
    const std::vector<Cell> cells = {Text(answer.doc->name),
                                     {SqlType::kInteger, answer.outcome.rows, 0, {}},
                                     Text(answer.doc->title),
                                     Text(answer.outcome.note)};
    TRACEDB_TRY(sink->Row(cells));
  }
  return sink->End();
}

Status WriteColumns(ParquetFolder& folder, const std::vector<Answered>& answers) {
  TRACEDB_ASSIGN(file, folder.Add("columns"));
  const auto sink = SinkFor(*file, std::vector<SqlType>(4, SqlType::kText));
  const std::vector<std::string> names = {"query", "column", "unit", "meaning"};
  TRACEDB_TRY(sink->Begin(names));
  for (const Answered& answer : answers) {
    for (const QueryColumn& column : answer.doc->columns) {
      const std::vector<Cell> cells = {Text(answer.doc->name), Text(column.name), Text(column.unit),
                                       Text(column.text)};
      TRACEDB_TRY(sink->Row(cells));
    }
  }
  return sink->End();
}

}  // namespace

Result<ExportOutcome> ExportParquet(SqliteDb& db, const ExportOptions& options,
                                    const std::vector<AskedQuery>& asked) {
  ParquetFolder folder(options);
  TRACEDB_TRY(folder.Make());
  ExportOutcome done;
  std::vector<Answered> answers;
  for (const AskedQuery& query : asked) {
    if (options.on_query) options.on_query(query.doc->name, answers.size() + 1, asked.size());
    TRACEDB_ASSIGN(answer, Answer(db, folder, query));
    done.rows += answer.outcome.rows;
    ++done.answers;
    answers.push_back(std::move(answer));
  }
  TRACEDB_TRY(WriteContents(folder, answers));
  TRACEDB_TRY(WriteColumns(folder, answers));
  TRACEDB_TRY(folder.Commit());
  return done;
}

}  // namespace tracedb
