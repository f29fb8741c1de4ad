#include "tracedb/query/run/query_command.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "query/doc/query_explain.h"
#include "query/doc/query_file.h"
#include "query/plot/plot_settings.h"
#include "query/plot/result_plot.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/schema/schema_doc.h"
#include "tracedb/text/output_file.h"
#include "tracedb/text/result_text.h"
#include "tracedb/text/same_runs.h"

namespace tracedb {
namespace {

bool WritesToStdout(const QueryOptions& options) {
  return options.output.empty() || options.output == "-";
}

bool IsForPerson(const QueryOptions& options) {
  return WritesToStdout(options) && isatty(STDOUT_FILENO) == 1;
}

Format FormatOf(const QueryOptions& options) {
  const bool as_table = IsForPerson(options) && !options.safe_csv;
  return options.format.value_or(as_table ? Format::kTable : Format::kCsv);
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

std::unique_ptr<RowSink> SinkFor(const QueryOptions& options, OutputStream& output) {
  SinkOptions sink;
  sink.header = options.header;
  sink.safe_text = options.safe_csv;
  sink.terminal = IsForPerson(options);
  winsize size{};
  if (sink.terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    sink.terminal_width = size.ws_col;
  }
  return MakeSink(FormatOf(options), sink, output);
}

// Lets `write` write to where the options say. A file is put in place only when the result is whole
// (which it is when only an assertion did not hold).
template <typename WriteResult>
Result<QueryOutcome> ToOutput(const QueryOptions& options,
                              std::vector<std::filesystem::path> inputs, WriteResult write) {
  if (WritesToStdout(options)) {
    DescriptorOutput output(STDOUT_FILENO, "standard output");
    Result<QueryOutcome> outcome = write(output);
    Status flushed = output.Flush();
    // An error of the query says more than that its first rows could not be written either.
    const bool keep = !outcome.ok() && outcome.error().kind != ErrorKind::kAssert;
    if (flushed.ok() || keep) return outcome;
    return std::move(flushed).error();
  }
  TRACEDB_ASSIGN(file, FileOutput::Create(options.output,
                                          {options.database, std::move(inputs), options.force}));
  Result<QueryOutcome> outcome = write(*file);
  if (!outcome.ok() && outcome.error().kind != ErrorKind::kAssert) return outcome;
  TRACEDB_TRY(file->Commit());
  return outcome;
}

Result<QueryOutcome> ListQueries(const QueryOptions& options, const QueryCatalog& catalog) {
  return ToOutput(options, {}, [&](OutputStream& output) -> Result<QueryOutcome> {
    const std::unique_ptr<RowSink> sink = SinkFor(options, output);
    const std::vector<std::string> names = {"query", "title"};
    TRACEDB_TRY(sink->Begin(names));
    QueryOutcome outcome;
    size_t checks = 0;
    for (const QueryDoc& doc : catalog.queries()) {
      if (doc.name.starts_with("doctor/")) ++checks;
      if (doc.IsInFolder()) continue;
      const std::vector<Cell> cells = {{SqlType::kText, 0, 0, doc.name},
                                       {SqlType::kText, 0, 0, doc.title}};
      TRACEDB_TRY(sink->Row(cells));
      ++outcome.rows;
    }
    TRACEDB_TRY(sink->End());
    if (checks > 0 && !options.quiet) {
      outcome.note = fmt::format(
          "{} checks of tracedb doctor are queries too: tracedb query "
          "doctor/NAME",
          checks);
    }
    return outcome;
  });
}

// A line a table or view, and one for each of its columns. Needs no database.
Result<QueryOutcome> ListSchema(const QueryOptions& options) {
  TRACEDB_ASSIGN(relations, ReadSchemaDoc());
  return ToOutput(options, {}, [&](OutputStream& output) -> Result<QueryOutcome> {
    const std::unique_ptr<RowSink> sink = SinkFor(options, output);
    const std::vector<std::string> names = {"table", "column", "meaning"};
    TRACEDB_TRY(sink->Begin(names));
    QueryOutcome outcome;
    const auto row = [&](std::string_view table, const Cell& column, std::string_view text) {
      const std::vector<Cell> cells = {
          {SqlType::kText, 0, 0, table}, column, {SqlType::kText, 0, 0, text}};
      ++outcome.rows;
      return sink->Row(cells);
    };
    for (const RelationDoc& relation : relations) {
      TRACEDB_TRY(row(relation.name, Cell{}, relation.text));
      for (const RelationDoc::Column& column : relation.columns) {
        TRACEDB_TRY(row(relation.name, {SqlType::kText, 0, 0, column.name}, column.text));
      }
    }
    TRACEDB_TRY(sink->End());
    return outcome;
  });
}

Result<QueryDoc> FindSource(const std::string& source, const QueryCatalog& catalog) {
  if (source == "-") {
    TRACEDB_ASSIGN(text, ReadQueryDescriptor(STDIN_FILENO, "standard input"));
    return ParseQueryDoc("standard input", text);
  }
  if (const QueryDoc* doc = catalog.Find(source); doc != nullptr) return *doc;
  std::error_code code;
  if (std::filesystem::exists(source, code)) {
    TRACEDB_ASSIGN(text, ReadQueryFile(source));
    return ParseQueryDoc(source, text);
  }
  auto found = catalog.Get(source);
  Error error = std::move(found).error();
  if (source.find('/') != std::string::npos) {
    error.what = fmt::format("{}: there is no such file", ShownText(source));
  } else if (source.find_first_of(" ;(") != std::string::npos) {
    error.advice = "SQL text is given with -c: tracedb query -c \"SELECT ...\"";
  } else if (source.ends_with(".sql")) {
    error.what += fmt::format(", and no file '{}'", ShownText(source));
  }
  return error;
}

// Keeps on_close's promise on every way out; must be gone before the connection is.
class Opened {
 public:
  explicit Opened(const QueryOptions& options) : options_(options) {}
  ~Opened() {
    if (options_.on_close) options_.on_close();
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

 private:
  const QueryOptions& options_;
};

Result<QueryOutcome> RunOn(const QueryOptions& options, const QueryDoc& doc, bool is_canned) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(options.database));
  const Opened opened(options);
  if (options.on_open) TRACEDB_TRY(options.on_open(db));
  TRACEDB_ASSIGN(query,
                 PreparedQuery::Prepare(db, doc, {options.params, options.assert_expression}));
  TRACEDB_ASSIGN(inputs, TraceFiles(db, options.output));
  if (!is_canned && options.command.empty()) inputs.emplace_back(options.source);
  return ToOutput(options, std::move(inputs), [&](OutputStream& output) {
    const std::unique_ptr<RowSink> sink =
        options.plot ? PlotSinkFor(options, doc, output) : SinkFor(options, output);
    // Whoever wrote the SQL asked for the columns that it has.
    const bool is_for_people =
        options.header && (options.plot || FormatOf(options) == Format::kTable);
    if (!is_canned || !is_for_people) return query.Run(*sink);
    SameRuns for_people(*sink);
    return query.Run(for_people);
  });
}

Status CheckPlotOptions(const QueryOptions& options) {
  if (!options.plot) return Done{};
  if (options.source.empty() && options.command.empty()) {
    return Error{ErrorKind::kUsage, "--plot needs a query",
                 "for example: tracedb query kernels_top --plot"};
  }
  const std::string_view other = options.format.has_value() ? "--format"
                                 : options.safe_csv         ? "--safe-csv"
                                 : options.explain          ? "--explain"
                                                            : "";
  if (other.empty()) return Done{};
  return Error{ErrorKind::kUsage, fmt::format("both --plot and {} are given", other),
               "give one of them"};
}

Status CheckOptions(const QueryOptions& options) {
  TRACEDB_TRY(CheckPlotOptions(options));
  const bool has_query = !options.source.empty() || !options.command.empty();
  if (!options.source.empty() && !options.command.empty()) {
    return Error{
        ErrorKind::kUsage,
        fmt::format("both a query ('{}') and --command are given", ShownText(options.source)),
        "give one of them"};
  }
  if (options.schema && (has_query || options.plot || options.explain)) {
    return Error{ErrorKind::kUsage, "--schema shows the tables, and takes no query",
                 "see: tracedb query --help"};
  }
  const Format format = options.format.value_or(Format::kCsv);
  if (options.safe_csv && format != Format::kCsv && format != Format::kTsv) {
    return Error{ErrorKind::kUsage, "--safe-csv is for --format csv and tsv", ""};
  }
  if (options.explain && options.source.empty()) {
    return Error{ErrorKind::kUsage, "--explain needs a query",
                 "for example: tracedb query overlap --explain"};
  }
  if (!has_query && (!options.params.empty() || !options.assert_expression.empty())) {
    return Error{ErrorKind::kUsage, "--param and --assert need a query",
                 "list the queries there are with: tracedb query"};
  }
  return Done{};
}

}  // namespace

Result<QueryOutcome> RunQueryCommand(const QueryOptions& options, const QueryCatalog& catalog) {
  TRACEDB_TRY(CheckOptions(options));
  if (options.schema) return ListSchema(options);
  if (options.source.empty() && options.command.empty()) return ListQueries(options, catalog);
  TRACEDB_ASSIGN(doc, options.command.empty() ? FindSource(options.source, catalog)
                                              : ParseQueryDoc("--command", options.command));
  if (options.explain) {
    return ToOutput(options, {}, [&](OutputStream& output) -> Result<QueryOutcome> {
      TRACEDB_TRY(output.Write(ExplainQuery(doc)));
      return QueryOutcome{};
    });
  }
  auto outcome = RunOn(options, doc, catalog.Find(options.source) != nullptr);
  if (outcome.ok() && options.quiet) outcome.value().note.clear();
  return outcome;
}

}  // namespace tracedb
