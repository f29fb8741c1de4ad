#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "cli_commands.h"
#include "cli_progress.h"
#include "cli_sources.h"
#include "tracedb/base/database_files.h"
#include "tracedb/base/no_memory.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/ingest/load/trace_loads.h"
#include "tracedb/ingest/read/input_files.h"
#include "tracedb/json/json_text.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/ranks/clocks/align_clocks.h"
#include "tracedb/ranks/runs/decide_runs.h"
#include "tracedb/ranks/samples/place_samples.h"
#include "tracedb/shards/launch_environment.h"
#include "tracedb/shards/summary_write.h"
#include "tracedb/text/output_stream.h"
#include "tracedb/text/quoted_word.h"
#include "tracedb/text/result_text.h"
#include "tracedb/text/terminal_text.h"

namespace tracedb {
namespace {

struct RunCount {
  std::string run;
  int64_t ranks = 0;
  int64_t captures = 0;
};

// "run job: 8 ranks, 1 capture"; what was decided, as it decides what is compared with what.
std::string RunsLine(const std::vector<RunCount>& runs) {
  constexpr size_t kListedMax = 8;
  const auto counted = [](int64_t count, std::string_view thing) {
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
  };
  std::string line = runs.size() == 1 ? "" : fmt::format("{} runs, each by itself:", runs.size());
  for (size_t i = 0; i < std::min(runs.size(), kListedMax); ++i) {
    line += fmt::format("{}run {} ({}, {})",
                        i > 0          ? ", "
                        : line.empty() ? ""
                                       : " ",
                        runs[i].run, counted(runs[i].ranks, "rank"),
                        counted(runs[i].captures, "capture"));
  }
  if (runs.size() > kListedMax) line += fmt::format(" and {} more", runs.size() - kListedMax);
  return line + "\n";
}

std::string RunsJson(const std::vector<RunCount>& runs) {
  std::string json;
  for (const RunCount& run : runs) {
    json += fmt::format("{}{{\"run\":{},\"ranks\":{},\"captures\":{}}}", json.empty() ? "" : ",",
                        JsonString(run.run), run.ranks, run.captures);
  }
  return json;
}

std::string IdList(const std::vector<int64_t>& ids) {
  std::string list;
  for (const int64_t id : ids) list += fmt::format("{}{}", list.empty() ? "" : ",", id);
  return list;
}

struct Totals {
  size_t files = 0;
  uint64_t events = 0;
  uint64_t gpu_activities = 0;
  uint64_t text_bytes = 0;
  double seconds = 0;
  bool has_issues = false;
};

// The end for a person: what is there now, and what to try with it. Of one rank among others (a
// shard) nothing is to be tried: the answers are in what is gathered.
std::string Closing(const std::filesystem::path& database, const Totals& totals, bool is_shard) {
  std::string text;
  if (totals.files > 1 && totals.text_bytes > 0) {
    text =
        fmt::format("{} files, {} events, {} in {:.1f} s ({:.0f} MB/s)\n", totals.files,
                    GroupedText(totals.events), BytesText(totals.text_bytes), totals.seconds,
                    static_cast<double>(totals.text_bytes) / 1e6 / std::max(totals.seconds, 1e-6));
  }
  std::error_code error;
  const auto bytes = std::filesystem::file_size(database, error);
  if (error) return text;
  const char* const next = totals.has_issues           ? "doctor"
                           : totals.gpu_activities > 0 ? "query recommendations"
                                                       : "info";
  const bool is_default = database == "trace.db";
  const std::string has = fmt::format("{} has {}", ShownText(database.string()), BytesText(bytes));
  if (is_shard) return text + has + "\n";
  const std::string then = fmt::format("next: tracedb {}{}", next,
                                       is_default ? "" : " --db " + QuotedWord(database.string()));
  // A command is copied: it stays on a line.
  const bool fits = DisplayWidth(has) + DisplayWidth(then) + 2 <= TerminalColumns(STDOUT_FILENO);
  return text + has + (fits ? "; " : "\n") + then + "\n";
}

// What an ingest did, said as it goes and at its end.
class IngestReport {
 public:
  IngestReport(const GlobalOptions& global, const IngestOptions& options)
      : global_(global), options_(options), output_(STDOUT_FILENO, "standard output") {}

  Status Add(const LoadSummary& summary) {
    trace_ids_.push_back(summary.trace_id);
    is_new_ = is_new_ || !summary.skipped;
    launches_graphs_ = launches_graphs_ || summary.launches_graphs;
    only_run_ = trace_ids_.size() == 1 ? summary.only_run : std::nullopt;
    if (!summary.skipped) {
      if (global_.verbose) {
        SayNote(global_, fmt::format("{}: {:.3f} s reading, {:.3f} s deriving, {:.3f} s landing",
                                     summary.path, summary.read_seconds, summary.derive_seconds,
                                     summary.land_seconds));
      }
      SayWarnings(global_, summary, options_.rank);
      Count(summary.text_bytes, summary.seconds, summary.issues.Any() || !summary.complete);
      totals_.events += summary.events;
      totals_.gpu_activities += summary.gpu_activities;
    }
    return Say(TraceLine(summary, options_.run), TraceJson(summary), traces_json_);
  }

  Status Add(const SourceSummary& summary) {
    source_ids_.push_back(summary.source_id);
    is_new_ = is_new_ || !summary.skipped;
    if (!summary.skipped) Count(summary.text_bytes, summary.seconds, false);
    return Say(SourceLine(summary, options_.run), SourceJson(summary), sources_json_);
  }

  // Files of this command that have landed.
  size_t landed() const { return totals_.files; }
  bool any_traces() const { return !trace_ids_.empty(); }
  const std::vector<int64_t>& trace_ids() const { return trace_ids_; }
  // Whether the one trace of a new database is all there is: it has nobody to be compared with.
  bool is_alone() const { return only_run_.has_value(); }
  // Whether there is more to be done for it even so.
  bool launches_graphs() const { return launches_graphs_; }

  // `db` is null when it is alone.
  Status Finish(SqliteDb* db) {
    std::vector<RunCount> runs;
    const bool is_said = !global_.quiet && (is_new_ || options_.run.has_value());
    if (is_alone() && source_ids_.empty()) {
      runs.push_back({*only_run_, 1, 1});
    } else if (is_said || options_.json) {
      TRACEDB_ASSIGN(found, RunsOf(*db));
      runs = std::move(found);
    }
    if (options_.json) {
      TRACEDB_TRY(output_.Write(
          fmt::format("{{\"database\":{},\"runs\":[{}],\"traces\":[\n {}]{}}}\n",
                      JsonString(global_.database.string()), RunsJson(runs), traces_json_,
                      sources_json_.empty() ? "" : ",\"sources\":[\n " + sources_json_ + "]")));
    } else if (!global_.quiet && !runs.empty()) {
      TRACEDB_TRY(
          output_.Write(WrapLines(ShownLines(RunsLine(runs)), TerminalColumns(STDOUT_FILENO))));
    }
    // Programs that read the lines above have no use for it.
    if (isatty(STDOUT_FILENO) == 1 && !global_.quiet && !options_.json) {
      TRACEDB_TRY(output_.Write(Closing(global_.database, totals_, !options_.shard.empty())));
    }
    return output_.Flush();
  }

 private:
  void Count(uint64_t text_bytes, double seconds, bool has_issues) {
    ++totals_.files;
    totals_.text_bytes += text_bytes;
    totals_.seconds += seconds;
    totals_.has_issues = totals_.has_issues || has_issues;
  }

  Status Say(const std::string& text, const std::string& json, std::string& all_json) {
    if (options_.json) {
      all_json += (all_json.empty() ? "" : ",\n ") + json;
    } else if (!global_.quiet) {
      TRACEDB_TRY(output_.Write(WrapLines(ShownLines(text), TerminalColumns(STDOUT_FILENO))));
      TRACEDB_TRY(output_.Flush());
    }
    return Done{};
  }

  // The runs that these files are of.
  Result<std::vector<RunCount>> RunsOf(SqliteDb& db) const {
    TRACEDB_ASSIGN(
        rows, db.Prepare("SELECT run, ranks, captures FROM runs WHERE run_id IN (SELECT run_id "
                         "FROM traces WHERE trace_id IN (" +
                         IdList(trace_ids_) +
                         ")) OR run_id IN (SELECT run_id FROM sources WHERE source_id IN (" +
                         IdList(source_ids_) + ")) ORDER BY start_ns, run_id"));
    std::vector<RunCount> runs;
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) return runs;
      runs.push_back({std::string(rows.Text(0)), rows.Int(1), rows.Int(2)});
    }
  }

  const GlobalOptions& global_;
  const IngestOptions& options_;
  DescriptorOutput output_;
  std::string traces_json_;
  std::string sources_json_;
  std::vector<int64_t> trace_ids_;
  std::vector<int64_t> source_ids_;
  Totals totals_;
  bool is_new_ = false;  // one that was not there before
  std::optional<std::string> only_run_;
  bool launches_graphs_ = false;
};

// What the other ranks need to know of these traces.
Status WriteShard(const GlobalOptions& global, const IngestOptions& options,
                  const std::vector<int64_t>& trace_ids, const std::atomic<bool>& stop) {
  const LaunchEnvironment launch =
      ReadLaunchEnvironment([](const char* name) { return std::getenv(name); });
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  std::error_code error;
  const std::filesystem::path database = std::filesystem::absolute(global.database, error);
  ThrowIfNoMemory(error);
  SummaryPlace place{options.shard, host, (error ? global.database : database).string(), {}};
  if (launch.node_tasks.value_or(2) > 1) place.world_size = launch.tasks;
  TRACEDB_ASSIGN(db, OpenTraceDatabase(global.database));
  db.StopWhen(stop);
  const auto written = WriteSummaries(db, trace_ids, place, stop);
  if (!written.ok() && stop.load() && written.error().what.ends_with("interrupted")) {
    return Error{ErrorKind::kInput, "interrupted",
                 "the traces are in the database; the same command writes their summaries"};
  }
  TRACEDB_TRY(written);
  for (const WrittenSummary& summary : written.value()) {
    SayNote(global,
            fmt::format("summary of rank {} of run {}: {}, {:.2f} % of its JSON, in {}",
                        summary.rank, summary.run, BytesText(static_cast<uint64_t>(summary.bytes)),
                        100.0 * static_cast<double>(summary.bytes) /
                            static_cast<double>(std::max<int64_t>(summary.text_bytes, 1)),
                        ShownText(summary.folder.string())));
  }
  if (launch.task.value_or(0) == 0) {  // once for the job
    SayNote(global, fmt::format("when all ranks have left theirs: tracedb gather {} -o job.db",
                                QuotedWord(options.shard.string())));
  }
  return Done{};
}

// Of an ingest that somebody ended: what of it is in the database all the same.
Error Interrupted(size_t landed) {
  Error error{ErrorKind::kInput, "interrupted", "the database is as it was"};
  if (landed > 0) {
    error.advice =
        fmt::format("{} file{} in the database; the same command goes on with the others", landed,
                    landed == 1 ? " is" : "s are");
  }
  return error;
}

}  // namespace

Status RunIngest(const GlobalOptions& global, const IngestOptions& options,
                 const std::atomic<bool>& stop) {
  IngestReport report(global, options);
  const OnLoaded on_loaded{[&](const LoadSummary& summary) { return report.Add(summary); },
                           [&](const SourceSummary& summary) { return report.Add(summary); }};
  auto loading = LoadInputs(global, options, stop, on_loaded);
  if (!loading.ok() && stop.load() && loading.error().what.ends_with("interrupted")) {
    return Interrupted(report.landed());
  }
  TRACEDB_ASSIGN(loaded, std::move(loading));
  std::optional<SqliteDb> db;
  const LoadLimits limits = LoadLimits::For(
      options.memory_bytes != 0 ? options.memory_bytes : LoadLimits::kMemoryBytesDefault, 1);
  const bool is_alone = report.is_alone() && loaded.only_traces;
  if (loaded.any && !(is_alone && !report.launches_graphs())) {
    TRACEDB_ASSIGN(opened, OpenToCompare(global.database, limits.sqlite_cache_kib, &stop,
                                         std::move(loaded.db)));
    db.emplace(std::move(opened));
  }
  if (db.has_value() && report.any_traces()) {
    Status compared = CompareRanks(global, *db, limits, stop);
    if (!compared.ok()) {
      if (stop.load()) {
        return Error{ErrorKind::kInput, "interrupted",
                     "the traces are in the database; tracedb align compares its ranks"};
      }
      Error error = std::move(compared).error();
      error.what =
          "the traces are in the database, but its ranks cannot be compared: " + error.what;
      return error;
    }
  }
  if (db.has_value()) TRACEDB_TRY(PlaceSamples(*db));
  TRACEDB_TRY(report.Finish(db.has_value() ? &*db : nullptr));
  if (loaded.failed.has_value()) return *loaded.failed;
  if (options.shard.empty()) return Done{};
  TRACEDB_TRY(CheckNameIsFree(options.shard));  // the database may be new
  db.reset();
  return WriteShard(global, options, report.trace_ids(), stop);
}

}  // namespace tracedb
