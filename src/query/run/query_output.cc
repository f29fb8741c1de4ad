#include "query/run/query_output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "query/doc/doc_words.h"
#include "query/plot/plot_settings.h"
#include "tracedb/query/plot/result_plot.h"
#include "tracedb/query/run/output_ending.h"
#include "tracedb/text/output_file.h"
#include "tracedb/text/pager_output.h"

namespace tracedb {

bool WritesToStdout(const QueryOptions& options) {
  return options.output.empty() || options.output == "-";
}

std::optional<Format> AskedFormat(const QueryOptions& options) {
  return options.format.has_value() ? options.format : FormatByEnding(options.output);
}

bool IsForPerson(const QueryOptions& options) {
  return WritesToStdout(options) && isatty(STDOUT_FILENO) == 1;
}

Format FormatOf(const QueryOptions& options) {
  const bool is_asked = options.wide || options.vertical;
  const bool as_table = is_asked || (IsForPerson(options) && !options.safe_csv);
  return AskedFormat(options).value_or(as_table ? Format::kTable : Format::kCsv);
}

std::unique_ptr<RowSink> PlotSinkFor(const QueryOptions& options, const QueryDoc& doc,
                                     OutputStream& output) {
  PlotOptions plot;
  plot.spec = doc.plot;
  plot.file = doc.file;
  plot.style.width = WritesToStdout(options) ? LineWidth(STDOUT_FILENO) : LineWidth(-1);
  plot.style.unicode = ShowsUnicode();
  plot.style.color = options.color;
  plot.style.header = options.header;
  return MakePlotSink(std::move(plot), output);
}

namespace {

// Of a table that nobody watches.
constexpr int kTableWidthMax = 200;

constexpr size_t kScreenLinesDefault = 40;
constexpr size_t kScreenLinesLeft = 1;  // for the next prompt

// What is more than a screen goes there; nothing: no pager.
std::optional<Pager> PagerFor(const QueryOptions& options) {
  return options.pager && IsForPerson(options) ? FindPager() : std::nullopt;
}

TableLayout TableLayoutFor(const QueryOptions& options, const QueryDoc& doc) {
  TableLayout table;
  table.lead = WordsOf("run, capture, " + doc.lead);  // of which run a row is comes first
  table.wrap = WordsOf(doc.wrap);
  table.vertical = options.vertical;
  table.color = options.color;
  table.silent_when_empty = IsForPerson(options) && !options.quiet && !doc.when_empty.empty();
  winsize size{};
  const bool is_known = IsForPerson(options) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  table.width = is_known && size.ws_col > 0 ? size.ws_col : kTableWidthMax;
  if (options.wide) table.width = 0;
  if (options.by_screen && IsForPerson(options) && !PagerFor(options).has_value()) {
    const size_t lines = ScreenLines().value_or(kScreenLinesDefault);
    table.lines_max = lines - std::min(kScreenLinesLeft, lines - 1);
  }
  return table;
}

// An error of the query says more than that its first rows could not be written either.
Result<QueryOutcome> AsWritten(Result<QueryOutcome> outcome, Status written) {
  const bool keep = !outcome.ok() && outcome.error().kind != ErrorKind::kAssert;
  if (written.ok() || keep) return outcome;
  return std::move(written).error();
}

}  // namespace

std::unique_ptr<RowSink> SinkFor(const QueryOptions& options, const QueryDoc& doc,
                                 OutputStream& output) {
  SinkOptions sink;
  sink.header = options.header;
  sink.safe_text = options.safe_csv;
  sink.terminal = IsForPerson(options);
  sink.table = TableLayoutFor(options, doc);
  sink.types = ColumnTypes(doc);
  return MakeSink(FormatOf(options), sink, output);
}

Result<QueryOutcome> ToOutput(const QueryOptions& options, const BesideOutput& beside,
                              const std::function<Result<QueryOutcome>(OutputStream&)>& write) {
  if (options.stream != nullptr) return write(*options.stream);
  if (const auto pager = PagerFor(options); pager.has_value()) {
    const bool is_table = !options.explain && !options.plot && FormatOf(options) == Format::kTable;
    PagerOutput output(*pager, ScreenLines().value_or(kScreenLinesDefault),
                       is_table ? ScreenColumns() : 0);
    Result<QueryOutcome> outcome = write(output);
    return AsWritten(std::move(outcome), output.Finish());
  }
  if (WritesToStdout(options)) {
    DescriptorOutput output(STDOUT_FILENO, "standard output");
    Result<QueryOutcome> outcome = write(output);
    return AsWritten(std::move(outcome), output.Flush());
  }
  OutputGuard guard{beside.others, {}, options.force};
  guard.databases.push_back(options.database);
  if (!beside.sql_file.empty()) guard.inputs = {beside.sql_file};
  TRACEDB_ASSIGN(file, FileOutput::Create(options.output, std::move(guard)));
  Result<QueryOutcome> outcome = write(*file);
  if (!outcome.ok() && outcome.error().kind != ErrorKind::kAssert) return outcome;
  TRACEDB_TRY(file->Commit());
  return outcome;
}

// Longer lines of prose are hard to read, on whatever terminal.
size_t ProseWidth() {
  constexpr int kProseWidthMax = 100;
  return static_cast<size_t>(std::min(ScreenColumns(), kProseWidthMax));
}

}  // namespace tracedb
