#include "tracedb/query/run/query_command.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "query/doc/query_json.h"
#include "query/run/detail_run.h"
#include "query/run/query_output.h"
#include "tracedb/base/database_files.h"
#include "tracedb/query/doc/query_explain.h"
#include "tracedb/query/doc/query_file.h"
#include "tracedb/query/run/gathered_notes.h"
#include "tracedb/query/run/output_ending.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/schema/schema_doc.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/output_file.h"
#include "tracedb/text/quoted_word.h"
#include "tracedb/text/result_text.h"
#include "tracedb/text/same_runs.h"

namespace tracedb {
namespace {

bool IsExplainedAsJson(const QueryOptions& options) {
  const auto format = AskedFormat(options);
  return format == Format::kJson || format == Format::kNdjson;
}

Result<QueryOutcome> ListQueries(const QueryOptions& options, const QueryCatalog& catalog) {
  return ToOutput(options, {}, [&](OutputStream& output) -> Result<QueryOutcome> {
    QueryDoc list;
    list.wrap = "title";
    const std::unique_ptr<RowSink> sink = SinkFor(options, list, output);
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

// Tables and views whose name is `source` or fits it as a pattern (*, ?); all where it is empty.
Result<std::vector<RelationDoc>> FindRelations(const std::string& source) {
  TRACEDB_ASSIGN(relations, ReadSchemaDoc());
  std::vector<std::string> names;
  for (const RelationDoc& relation : relations) names.push_back(relation.name);
  if (source.empty()) return relations;
  std::erase_if(relations, [&](const RelationDoc& relation) {
    return fnmatch(source.c_str(), relation.name.c_str(), FNM_CASEFOLD) != 0;
  });
  if (!relations.empty()) return relations;
  const auto near = NearNames(source, names);
  return Error{ErrorKind::kUsage, fmt::format("there is no table '{}'", ShownText(source)),
               near.empty() ? "see: tracedb query --schema" : DidYouMean(near)};
}

// A line a table or view, and one for each of its columns. Needs no database.
Result<QueryOutcome> ListSchema(const QueryOptions& options) {
  TRACEDB_ASSIGN(relations, FindRelations(options.source));
  return ToOutput(options, {}, [&](OutputStream& output) -> Result<QueryOutcome> {
    QueryDoc list;
    list.wrap = "meaning";
    const std::unique_ptr<RowSink> sink = SinkFor(options, list, output);
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
      if (options.schema_names) continue;
      for (const RelationDoc::Column& column : relation.columns) {
        TRACEDB_TRY(row(relation.name, {SqlType::kText, 0, 0, column.name}, column.text));
      }
    }
    TRACEDB_TRY(sink->End());
    return outcome;
  });
}

std::filesystem::path SqlFile(const QueryOptions& options, bool is_canned) {
  return is_canned || !options.command.empty() ? "" : options.source;
}

// For people as a page, for programs as an object; of none in particular each on a line.
Result<QueryOutcome> ExplainQueries(const QueryOptions& options, const QueryCatalog& catalog,
                                    const QueryDoc* doc) {
  const bool is_canned = doc == nullptr || catalog.Find(options.source) != nullptr;
  const auto write = [&](OutputStream& output) -> Result<QueryOutcome> {
    if (doc == nullptr) {
      for (const QueryDoc& each : catalog.queries()) {
        TRACEDB_TRY(output.Write(QueryAsJson(each) + '\n'));
      }
    } else if (IsExplainedAsJson(options)) {
      TRACEDB_TRY(output.Write(QueryAsJson(*doc) + '\n'));
    } else {
      const bool is_shown = options.stream == nullptr && IsForPerson(options);
      TRACEDB_TRY(output.Write(ExplainQuery(*doc, is_shown ? ProseWidth() : 0)));
    }
    return QueryOutcome{};
  };
  return ToOutput(options, {{}, SqlFile(options, is_canned)}, write);
}

std::vector<std::string> PublicTables() {
  std::vector<std::string> names;
  const auto relations = ReadSchemaDoc();
  if (!relations.ok()) return names;
  for (const RelationDoc& relation : relations.value()) names.push_back(relation.name);
  return names;
}

Result<QueryDoc> FindSource(const std::string& source, const QueryCatalog& catalog) {
  if (source == "-") {
    TRACEDB_ASSIGN(text, ReadQueryDescriptor(STDIN_FILENO, "standard input"));
    return ParseQueryDoc("standard input", text);
  }
  if (const QueryDoc* doc = catalog.Find(source); doc != nullptr) return *doc;
  std::error_code code;
  if (IsSqliteFile(source)) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{}: this is a database, not a query", ShownText(source)),
                 fmt::format("tracedb query NAME --db {}", QuotedWord(source))};
  }
  if (std::filesystem::exists(source, code)) {
    TRACEDB_ASSIGN(text, ReadQueryFile(source));
    return ParseQueryDoc(source, text);
  }
  const bool is_path = source.find('/') != std::string::npos;
  const bool is_file = source.ends_with(".sql");
  // Of a file's path its name is what may be mistyped; "doctor/NAME" is a query's.
  const std::string name =
      is_path && is_file ? std::filesystem::path(source).filename().string() : source;
  Error error = catalog.Get(name).error();
  if (is_file) {
    error.what =
        fmt::format("{}: there is no such file, nor a query of that name", ShownText(source));
  } else if (is_path) {
    error.what = fmt::format("{}: there is no such file or query", ShownText(source));
  } else if (source.find_first_of(" ;(") != std::string::npos) {
    error.advice = "SQL text is given with -c: tracedb query -c \"SELECT ...\"";
  } else if (const std::string select = SelectOfTable(source); !select.empty()) {
    error.what += ", but a table of that name";
    error.advice = fmt::format("tracedb query -c \"{}\"", select);
  } else if (!error.advice.starts_with("did you mean")) {
    const std::vector<std::string> near = NearNames(source, PublicTables());
    if (!near.empty()) {
      error.advice = fmt::format("of tables, {} tracedb query -c \"SELECT * FROM {} LIMIT 10\"",
                                 DidYouMean(near), near[0]);
    }
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

Result<QueryOutcome> RunOnRanks(const QueryOptions& options, const QueryDoc& doc, SqliteDb& db) {
  TRACEDB_ASSIGN(places, PlacesOfDetail(db, doc, options.params));
  BesideOutput beside;
  for (const RankPlace& place : places) beside.others.push_back(place.database);
  return ToOutput(options, beside, [&](OutputStream& output) {
    const std::unique_ptr<RowSink> sink =
        options.plot ? PlotSinkFor(options, doc, output) : SinkFor(options, doc, output);
    return RunDetail(options, doc, places, *sink);
  });
}

Result<QueryOutcome> RunOn(const QueryOptions& options, const QueryDoc& doc, bool is_canned) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(options.database));
  const Opened opened(options);
  if (options.on_open) TRACEDB_TRY(options.on_open(db));
  if (options.detail) {
    TRACEDB_ASSIGN(needs_ranks_own, NeedsRanksOwn(db, doc));
    if (needs_ranks_own) return RunOnRanks(options, doc, db);
  }
  TRACEDB_ASSIGN(query,
                 PreparedQuery::Prepare(db, doc, {options.params, options.assert_expression}));
  return ToOutput(options, {{}, SqlFile(options, is_canned)}, [&](OutputStream& output) {
    const std::unique_ptr<RowSink> sink =
        options.plot ? PlotSinkFor(options, doc, output) : SinkFor(options, doc, output);
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

// Who names the format may call the file what they like.
Status CheckIsNoPage(const std::filesystem::path& output, std::optional<Format> format) {
  if (format.has_value()) return Done{};
  const std::string ending = EndingOf(output);
  for (const std::string_view page : {".html", ".htm", ".pdf", ".png", ".svg"}) {
    if (ending != page) continue;
    return Error{ErrorKind::kUsage,
                 fmt::format("{}: {} is not among the formats that are written",
                             ShownText(output.string()), ending),
                 "a page with charts is written by: tracedb report -o report.html"};
  }
  return Done{};
}

Status CheckOptions(const QueryOptions& options) {
  TRACEDB_TRY(CheckIsNoPage(options.output, options.format));
  TRACEDB_TRY(CheckEnding(options.output, options.format, options.source, IsForPerson(options)));
  TRACEDB_TRY(CheckPlotOptions(options));
  const bool has_query = !options.source.empty() || !options.command.empty();
  if (!options.source.empty() && !options.command.empty()) {
    return Error{
        ErrorKind::kUsage,
        fmt::format("both a query ('{}') and --command are given", ShownText(options.source)),
        "give one of them"};
  }
  if (options.schema && (!options.command.empty() || options.plot || options.explain)) {
    return Error{ErrorKind::kUsage,
                 "--schema shows the tables, or the one that is named, and runs no query",
                 "see: tracedb query --help"};
  }
  const Format format = FormatOf(options);
  if ((options.explain || options.plot) && IsBinary(format)) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{} is text, which {} is not", options.plot ? "--plot" : "--explain",
                             FormatName(format)),
                 "write it to another file, or ask for the rows alone"};
  }
  const Format asked = AskedFormat(options).value_or(Format::kCsv);
  if (options.safe_csv && asked != Format::kCsv && asked != Format::kTsv) {
    return Error{ErrorKind::kUsage, "--safe-csv is for --format csv and tsv", ""};
  }
  if ((options.wide || options.vertical) && format != Format::kTable) {
    return Error{ErrorKind::kUsage, "--wide and --vertical are for --format table", ""};
  }
  const bool explains_all = AskedFormat(options) == Format::kNdjson && options.command.empty();
  if (options.explain && options.source.empty() && !explains_all) {
    return Error{ErrorKind::kUsage, "--explain needs a query",
                 "for example: tracedb query overlap --explain; with --format ndjson all of them "
                 "are explained, for programs"};
  }
  if (!has_query && (!options.params.empty() || !options.assert_expression.empty())) {
    return Error{ErrorKind::kUsage, "--param and --assert need a query",
                 "list the queries there are with: tracedb query"};
  }
  return Done{};
}

}  // namespace

std::string SelectOfTable(const std::string& name) {
  const std::vector<std::string> names = PublicTables();
  const bool is_there = std::find(names.begin(), names.end(), name) != names.end();
  return is_there ? fmt::format("SELECT * FROM {} LIMIT 10", name) : "";
}

Result<QueryOutcome> RunQueryCommand(const QueryOptions& options, const QueryCatalog& catalog) {
  TRACEDB_TRY(CheckOptions(options));
  if (options.schema) return ListSchema(options);
  if (options.source.empty() && options.command.empty()) {
    return options.explain ? ExplainQueries(options, catalog, nullptr)
                           : ListQueries(options, catalog);
  }
  TRACEDB_ASSIGN(doc, options.command.empty() ? FindSource(options.source, catalog)
                                              : ParseQueryDoc("--command", options.command));
  if (options.explain) {
    return ExplainQueries(options, catalog, &doc);
  }
  auto outcome = RunOn(options, doc, catalog.Find(options.source) != nullptr);
  if (outcome.ok() && options.quiet) outcome.value().note.clear();
  return outcome;
}

}  // namespace tracedb
