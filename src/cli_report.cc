#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "cli_commands.h"
#include "cli_functions.h"
#include "cli_progress.h"
#include "tracedb/base/cores.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/run/gathered_notes.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/report/report_page.h"
#include "tracedb/text/output_file.h"
#include "tracedb/text/quoted_word.h"
#include "tracedb/text/result_text.h"

namespace tracedb {

namespace {

// Of a database that is read in a moment more than two would be opened for nothing. Those that
// replay take a third of all work, one after the other: a fifth would wait for them.
constexpr unsigned kWorkersMax = 4;
constexpr uintmax_t kBytesForMoreThanTwo = 64 << 20;

size_t WorkersFor(const std::filesystem::path& database) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(database, error);
  if (error || bytes < kBytesForMoreThanTwo) return 2;
  return std::clamp(CoresToUse(), 2u, kWorkersMax);
}

// What one query frees is for the next: each takes up to 30 MB to be prepared. Of 2.5 GB that saves
// a seventh of the page faults (122,000), and 1 to 3 % of the CPU.
void KeepFreedBlocks() {
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_TOP_PAD, 4 << 20);
}

Result<SqliteDb> Open(const GlobalOptions& global, const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(global.database));
  db.StopWhen(stop);
  TRACEDB_TRY(AddFunctions(db));
  return db;
}

Status CheckEnding(const std::filesystem::path& output) {
  if (!IsNewFileNamed(output, {".pdf", ".png", ".svg", ".csv", ".json", ".md", ".xlsx"})) {
    return Done{};
  }
  return Error{
      ErrorKind::kUsage,
      fmt::format("{}: the report is an HTML page, which is no {}", ShownText(output.string()),
                  EndingOf(output).substr(1)),
      fmt::format("write it to {}; a browser prints it as PDF",
                  QuotedWord(std::filesystem::path(output).replace_extension(".html").string()))};
}

// The page is written: it is whole but for these.
Status Verdict(const GlobalOptions& global, std::vector<std::string> failed) {
  // Of a gathered database these parts cannot be there, and the page names them at its end.
  const auto is_left_out = [](const std::string& part) {
    return part.find(kGatheredFromSummaries) != part.npos;
  };
  const auto left_out = std::count_if(failed.begin(), failed.end(), is_left_out);
  if (left_out > 0) {
    SayNote(global, fmt::format("{} parts are about single events, which are in the ranks' own "
                                "databases",
                                left_out));
  }
  std::erase_if(failed, is_left_out);
  if (failed.empty()) return Done{};
  for (const std::string& part : failed) SayNote(global, part);
  return Error{
      ErrorKind::kQuery,
      fmt::format("{} part{} of the report failed, and show{} the error in place of a result",
                  failed.size(), failed.size() == 1 ? "" : "s", failed.size() == 1 ? "s" : ""),
      ""};
}

}  // namespace

Status RunReport(const GlobalOptions& global, const ReportArguments& arguments,
                 const std::atomic<bool>& stop) {
  TRACEDB_TRY(CheckEnding(arguments.output));
  KeepFreedBlocks();
  TRACEDB_ASSIGN(db, Open(global, stop));
  ProgressLine progress(global);
  ReportOptions options;
  options.version = TRACEDB_VERSION;
  options.open_another = [&] { return Open(global, stop); };
  options.workers = WorkersFor(global.database);
  options.on_part = [&](const std::string& name, size_t number, size_t all) {
    progress.Show(
        {name, fmt::format("part {} of {}", number, all), number - 1, all, 0, 0, "parts"});
  };
  options.run = arguments.run;
  options.capture = arguments.capture;
  options.step = arguments.step;
  options.rank = arguments.rank;
  options.title = arguments.title;
  options.theme = arguments.theme;
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  OutputGuard guard{{global.database}, {}, arguments.force};
  if (arguments.output == "-") {
    DescriptorOutput output(STDOUT_FILENO, "standard output");
    TRACEDB_ASSIGN(failed, WriteReport(db, catalog, options, output));
    TRACEDB_TRY(output.Flush());
    return Verdict(global, failed);
  }
  TRACEDB_ASSIGN(file, FileOutput::Create(arguments.output, std::move(guard)));
  TRACEDB_ASSIGN(failed, WriteReport(db, catalog, options, *file));
  TRACEDB_TRY(file->Flush());
  TRACEDB_TRY(file->Commit());
  SayNote(global,
          fmt::format("{} is the report; it opens in any browser", arguments.output.string()));
  return Verdict(global, failed);
}

}  // namespace tracedb
