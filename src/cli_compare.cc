#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>

#include "cli_commands.h"
#include "cli_compare_sides.h"
#include "cli_functions.h"
#include "tracedb/compare/baseline.h"
#include "tracedb/compare/compare_json.h"
#include "tracedb/compare/compare_page.h"
#include "tracedb/compare/compare_table.h"
#include "tracedb/compare/compare_tables.h"
#include "tracedb/compare/compare_text.h"
#include "tracedb/compare/compare_words.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/run/output_ending.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/text/output_file.h"
#include "tracedb/text/pager_output.h"
#include "tracedb/text/result_sink.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

struct SidesGiven {
  std::vector<std::string> base;
  std::vector<std::string> now;
};

// "3%", "3 %" or "3": a share of 0.03.
Result<double> ReadPct(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double pct = std::strtod(text.c_str(), &end);
  std::string rest(end);
  rest.erase(std::remove(rest.begin(), rest.end(), ' '), rest.end());
  const bool is_pct = end != text.c_str() && (rest.empty() || rest == "%");
  if (is_pct && std::isfinite(pct) && pct >= 0) return pct / 100;
  return Error{ErrorKind::kUsage, fmt::format("{} {}: a percentage is wanted", option, text),
               "such as 3%; see: tracedb compare --help"};
}

Result<SidesGiven> FindSides(const CompareArguments& arguments) {
  const bool has_options = !arguments.base.empty() || !arguments.now.empty();
  if (has_options && arguments.inputs.empty() && !arguments.base.empty() &&
      !arguments.now.empty()) {
    return SidesGiven{arguments.base, arguments.now};
  }
  if (!has_options && arguments.inputs.size() == 2) {
    return SidesGiven{{arguments.inputs[0]}, {arguments.inputs[1]}};
  }
  return Error{ErrorKind::kUsage, "two sides are to be named: BASE NEW, or --base ... --new ...",
               "see: tracedb compare --help"};
}

Status WriteOut(const GlobalOptions& global, const std::filesystem::path& path, OutputGuard guard,
                const std::function<Status(OutputStream&)>& write) {
  if (path.empty() || path == "-") {
    TRACEDB_TRY(guard.CheckStandardOutput());
    return WriteForPerson(global, write);
  }
  TRACEDB_ASSIGN(file, FileOutput::Create(path, std::move(guard)));
  TRACEDB_TRY(write(*file));
  TRACEDB_TRY(file->Flush());
  return file->Commit();
}

// Of a terminal that is written to; 0: none is.
int WidthOf(const CompareArguments& arguments) {
  return arguments.output.empty() || arguments.output == "-" ? ScreenColumns() : 0;
}

SinkOptions SinkFor(const CompareArguments& arguments) {
  SinkOptions options;
  options.table.width = WidthOf(arguments);
  options.table.others = "--format csv has them";
  return options;
}

Status WriteComparison(const CompareArguments& arguments, const Comparison& comparison,
                       OutputStream& output) {
  if (arguments.format == "json") return output.Write(CompareJson(comparison));
  constexpr size_t kRowsUsual = 15;
  const size_t rows_max = arguments.rows_max.value_or(kRowsUsual);
  if (arguments.format == "html") {
    return output.Write(ComparePage(comparison, rows_max, TRACEDB_VERSION));
  }
  CompareTextOptions options;
  options.markdown = arguments.format == "markdown";
  options.rows_max = rows_max;
  options.width = WidthOf(arguments);
  return WriteCompareText(comparison, options, output);
}

// What the exit code says: the answer has been written.
Status Gate(const CompareArguments& arguments, double gate, const Comparison& comparison) {
  if (!comparison.comparable) {
    if (arguments.gate.empty()) return Error{ErrorKind::kFindings, "not comparable", ""};
    return Error{ErrorKind::kFindings, "the runs are not comparable", WhyNotComparable(comparison)};
  }
  if (arguments.gate.empty()) return Done{};
  const Verdict verdict = comparison.finding.verdict;
  if (verdict == Verdict::kSlower && comparison.ChangePct() > 100 * gate) {
    return Error{ErrorKind::kAssert,
                 fmt::format("{} is slower by {:.1f} %, and {} is allowed", UnitOf(comparison),
                             comparison.ChangePct(), arguments.gate),
                 ""};
  }
  if (verdict == Verdict::kCannotTell && arguments.cannot_tell != "pass") {
    return Error{ErrorKind::kUndecided,
                 fmt::format("it cannot be told whether {} is slower", UnitOf(comparison)),
                 comparison.finding.reason};
  }
  return Done{};
}

bool IsPage(const std::filesystem::path& output) {
  return EndingOf(output) == ".html" || EndingOf(output) == ".htm";
}

// Of rows: by --format, else by the ending of -o, else a table, which "text" is, too.
Result<Format> RowFormat(const CompareArguments& arguments) {
  const std::string& format = arguments.format;
  if (format.empty() && IsPage(arguments.output)) {
    return Error{ErrorKind::kUsage,
                 ShownText(arguments.output.string()) + ": --table and --command write no page",
                 "leave them out, or write to another name, such as x.csv"};
  }
  const auto named = format == "text" ? std::optional(Format::kTable) : FormatByName(format);
  if (!format.empty() && !named.has_value()) {
    return Error{ErrorKind::kUsage, "--format " + format + " is not for --table and --command",
                 "see: tracedb compare --help"};
  }
  TRACEDB_TRY(CheckEnding(arguments.output, named, "", false));
  if (named.has_value()) return *named;
  return FormatByEnding(arguments.output).value_or(Format::kTable);
}

// Of a comparison: "text", "json", "markdown" or "html", by --format, else by the ending of -o.
// The formats of rows are for --table and -c.
Result<std::string> ComparisonFormat(const CompareArguments& arguments) {
  constexpr std::string_view kAdvice =
      "a comparison is text, json, markdown or html; rows of it: -c 'SELECT * FROM compare_rows'";
  const std::string& given = arguments.format;
  if (given == "text" || given == "json" || given == "markdown" || given == "html") return given;
  if (!given.empty()) {
    return Error{ErrorKind::kUsage, "--format " + given + " is for --table and --command",
                 std::string(kAdvice)};
  }
  if (IsPage(arguments.output)) return std::string("html");
  TRACEDB_TRY(CheckEnding(arguments.output, std::nullopt, "", false));
  const auto format = FormatByEnding(arguments.output);
  if (!format.has_value()) return std::string("text");
  if (format == Format::kJson || format == Format::kMarkdown) {
    return std::string(FormatName(*format));
  }
  return Error{ErrorKind::kUsage,
               fmt::format("{}: a name of {}, which is for --table and --command",
                           ShownText(arguments.output.string()), FormatName(*format)),
               std::string(kAdvice)};
}

Result<std::vector<RunUsed>> Measure(RunInputs& inputs, const std::vector<std::string>& names) {
  TRACEDB_ASSIGN(runs, inputs.Find(names));
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  auto used = MeasureRuns(runs, catalog, {});
  inputs.EndProgress();
  return used;
}

Status ShowTable(const GlobalOptions& global, const CompareArguments& arguments,
                 const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(format, RowFormat(arguments));
  if (arguments.inputs.empty() || !arguments.base.empty() || !arguments.now.empty()) {
    return Error{ErrorKind::kUsage, "--table: name the runs, without --base and --new",
                 "such as: tracedb compare --table a.db b.db c.db"};
  }
  if (arguments.critical_path) {
    return Error{ErrorKind::kUsage, "--critical-path is of two sides, not for --table",
                 "such as: tracedb compare BASE NEW --critical-path"};
  }
  if (!arguments.gate.empty() || !arguments.baseline.empty() || arguments.command.has_value()) {
    return Error{ErrorKind::kUsage,
                 "--gate, --baseline and --command are of two sides, not for --table",
                 "such as: tracedb compare BASE NEW --gate 3%"};
  }
  if (arguments.rows_max.has_value() || !arguments.effect_min.empty()) {
    return Error{ErrorKind::kUsage,
                 "--rows and --min-effect are of two sides: --table has a row for each run, and no "
                 "verdict",
                 "such as: tracedb compare BASE NEW --rows 30"};
  }
  RunInputs inputs(global, stop);
  TRACEDB_ASSIGN(used, Measure(inputs, arguments.inputs));
  OutputGuard guard{inputs.databases(), {}, arguments.force};
  return WriteOut(global, arguments.output, std::move(guard), [&](OutputStream& output) {
    return WriteRunsTable(used, *MakeSink(format, SinkFor(arguments), output));
  });
}

Status AskComparison(const CompareArguments& arguments, Format format, const Comparison& comparison,
                     const std::vector<RunToCompare>& runs, const std::atomic<bool>& stop,
                     OutputStream& output) {
  std::vector<std::filesystem::path> base;
  std::vector<std::filesystem::path> now;
  for (const RunToCompare& run : runs) {
    (base.size() < comparison.base.size() ? base : now).push_back(run.database);
  }
  TRACEDB_ASSIGN(db, OpenComparison(comparison, base, now));
  db.StopWhen(stop);
  TRACEDB_TRY(AddFunctions(db));
  TRACEDB_ASSIGN(doc, ParseQueryDoc("command", *arguments.command));
  TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db, doc, {}));
  const auto sink = MakeSink(format, SinkFor(arguments), output);
  TRACEDB_TRY(query.Run(*sink));
  return Done{};
}

// What no answer could be made of, or one that says something else than it was asked for.
Status CheckArguments(const CompareArguments& arguments) {
  if (arguments.command.has_value() &&
      arguments.command->find_first_not_of(" \t\n;") == std::string::npos) {
    return Error{ErrorKind::kUsage, "--command: there is no SQL in it",
                 "such as: -c 'SELECT name, delta_ms FROM compare_parts'"};
  }
  if (!arguments.cannot_tell.empty() && arguments.gate.empty()) {
    return Error{ErrorKind::kUsage, "--cannot-tell is of --gate, which is not given",
                 "such as: --gate 3% --cannot-tell pass"};
  }
  return Done{};
}

// A step that is slower by less than --min-effect is the same, and would pass.
Status CheckGate(const CompareArguments& arguments, double gate, CompareOptions& options) {
  if (arguments.gate.empty() || options.effect_min <= gate) return Done{};
  if (arguments.effect_min.empty()) {  // at 0 % each step that is slower fails
    if (gate > 0) options.effect_min = gate;
    return Done{};
  }
  return Error{
      ErrorKind::kUsage,
      fmt::format("--min-effect {} is above --gate {}: steps slower by up to {} would pass",
                  arguments.effect_min, arguments.gate, arguments.effect_min),
      "give a --min-effect of the gate or less, or leave it out"};
}

// The databases are attached as they are, which matters to SQL that reads them.
void NoteWholeDatabases(const GlobalOptions& global, const std::string& sql,
                        const SidesGiven& given, const std::vector<RunToCompare>& runs) {
  const bool of_base = sql.find("base.") != std::string::npos;
  const bool of_new = sql.find("new.") != std::string::npos;
  const auto note = [&](bool is_read, std::string_view side, size_t count,
                        const RunToCompare& run) {
    if (!is_read) return;
    if (count > 1) {
      SayNote(global, fmt::format("{}. is the database of the first of {} runs, {}; compare_runs "
                                  "says where the others are",
                                  side, count, ShownText(run.name)));
    }
    if (run.runs_beside == 0) return;
    SayNote(
        global,
        fmt::format("{0}. has {1} run{2} beside {3}: {0}_kernels in place of {0}.kernels, and "
                    "so on, has the rows of what is compared alone",
                    side, run.runs_beside, run.runs_beside == 1 ? "" : "s", ShownText(run.run)));
  };
  note(of_base, "base", given.base.size(), runs.front());
  note(of_new, "new", given.now.size(), runs[given.base.size()]);
}

Result<CompareOptions> ReadOptions(const CompareArguments& arguments) {
  CompareOptions options;
  options.with_path = arguments.critical_path;
  options.with_lanes = arguments.format == "html";
  if (!arguments.effect_min.empty()) {
    TRACEDB_ASSIGN(effect_min, ReadPct("--min-effect", arguments.effect_min));
    options.effect_min = effect_min;
  }
  if (!arguments.baseline.empty()) {
    TRACEDB_ASSIGN(spread, ReadBaseline(arguments.baseline));
    options.spread = std::move(spread);
  }
  return options;
}

}  // namespace

Status RunCompare(const GlobalOptions& global, const CompareArguments& asked,
                  const std::atomic<bool>& stop) {
  if (asked.table) return ShowTable(global, asked, stop);
  CompareArguments arguments = asked;
  Format row_format = Format::kTable;  // of --command
  if (asked.command.has_value()) {
    TRACEDB_ASSIGN(format, RowFormat(asked));
    row_format = format;
  }
  TRACEDB_TRY(CheckArguments(asked));
  if (!asked.command.has_value()) {
    TRACEDB_ASSIGN(format, ComparisonFormat(asked));
    arguments.format = std::move(format);
  }
  TRACEDB_ASSIGN(options, ReadOptions(arguments));
  double gate = 0;
  if (!arguments.gate.empty()) {
    TRACEDB_ASSIGN(read, ReadPct("--gate", arguments.gate));
    gate = read;
  }
  TRACEDB_TRY(CheckGate(arguments, gate, options));
  TRACEDB_ASSIGN(given, FindSides(arguments));
  RunInputs inputs(global, stop);
  std::vector<std::string> all = given.base;
  all.insert(all.end(), given.now.begin(), given.now.end());
  TRACEDB_ASSIGN(runs, inputs.Find(all));
  const auto first_new = runs.begin() + static_cast<ptrdiff_t>(given.base.size());
  TRACEDB_ASSIGN(catalog, QueryCatalog::Load(BuiltInQueries()));
  TRACEDB_ASSIGN(comparison,
                 CompareRuns({runs.begin(), first_new}, {first_new, runs.end()}, catalog, options));
  inputs.EndProgress();
  TRACEDB_TRY(CheckSameJob(options.spread, comparison, arguments.baseline));
  if (!options.spread.empty() && options.spread.front().facts.empty()) {
    SayNote(global, fmt::format("{} does not say of what job it is, as those of older versions; "
                                "make it anew",
                                arguments.baseline.string()));
  }
  if (arguments.command.has_value()) NoteWholeDatabases(global, *arguments.command, given, runs);
  const auto write = [&](OutputStream& output) {
    if (!arguments.command.has_value()) return WriteComparison(arguments, comparison, output);
    return AskComparison(arguments, row_format, comparison, runs, stop, output);
  };
  OutputGuard guard{inputs.databases(), {}, arguments.force};
  if (!arguments.baseline.empty()) guard.inputs = {arguments.baseline};
  TRACEDB_TRY(WriteOut(global, arguments.output, std::move(guard), write));
  return Gate(arguments, gate, comparison);
}

Status RunBaseline(const GlobalOptions& global, const BaselineArguments& arguments,
                   const std::atomic<bool>& stop) {
  if (arguments.inputs.size() < 2) {
    return Error{ErrorKind::kUsage, "two runs or more are to be named, which are alike",
                 "see: tracedb baseline --help"};
  }
  RunInputs inputs(global, stop);
  TRACEDB_ASSIGN(used, Measure(inputs, arguments.inputs));
  TRACEDB_TRY(CheckBaseline(used));
  TRACEDB_TRY(WriteOut(global, arguments.output, {inputs.databases(), {}, arguments.force},
                       [&](OutputStream& output) { return output.Write(BaselineJson(used)); }));
  if (arguments.output != "-") {
    SayNote(global,
            fmt::format("{} is the baseline of {} runs", arguments.output.string(), used.size()));
  }
  return Done{};
}

}  // namespace tracedb
