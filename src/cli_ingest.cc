#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>

#include "cli_commands.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/ingest/load/trace_loads.h"
#include "tracedb/ingest/read/input_files.h"
#include "tracedb/json/json_text.h"
#include "tracedb/ranks/clocks/align_clocks.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {
namespace {

// One line on standard error that is written over as the work goes on; nothing unless a person
// watches.
class ProgressLine {
 public:
  ProgressLine(bool shown, std::string name, uint64_t file_bytes)
      : shown_(shown && isatty(STDERR_FILENO) == 1),
        name_(std::move(name)),
        file_bytes_(file_bytes),
        begun_(std::chrono::steady_clock::now()) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(const LoadProgress& progress) {
    if (!shown_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - begun_).count();
    const double rate = static_cast<double>(progress.text_bytes) / 1e6 / std::max(seconds, 1e-3);
    std::string line = fmt::format("{}: {:.0f} MB of JSON, {:.0f} MB/s", name_,
                                   static_cast<double>(progress.text_bytes) / 1e6, rate);
    if (file_bytes_ > 0 && progress.file_bytes > 0) {
      const double share =
          static_cast<double>(progress.file_bytes) / static_cast<double>(file_bytes_);
      line += fmt::format(", {:.0f} %, {:.0f} s left", 100 * share,
                          seconds * (1 / std::max(share, 1e-6) - 1));
    }
    WriteToStderr("\r\033[K" + line);
    any_ = true;
  }

  void Clear() {
    if (any_) WriteToStderr("\r\033[K");
    any_ = false;
  }

 private:
  bool shown_;
  bool any_ = false;
  std::string name_;
  uint64_t file_bytes_;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point last_;
};

std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string IssueLine(const EventIssues& issues) {
  std::string line;
  for (size_t i = 0; i < kIssueKinds; ++i) {
    const auto kind = static_cast<IssueKind>(i);
    if (issues.entry(kind).count == 0) continue;
    if (!line.empty()) line += ", ";
    line += fmt::format("{} {}", Grouped(issues.entry(kind).count), IssueName(kind));
  }
  return line;
}

std::string TextSummary(const LoadSummary& summary, const std::optional<std::string>& run) {
  if (summary.skipped) {
    return fmt::format("{}: skipped, its content is in the database already (trace {}){}\n",
                       summary.path, summary.trace_id,
                       run.has_value() ? "; it is of run " + *run + " now" : "");
  }
  std::string text = fmt::format(
      "{}: rank {}, {} events, {} slices, {} GPU activities; {:.1f} MB of JSON in {:.2f} s "
      "({:.0f} MB/s)\n",
      summary.path, summary.rank, Grouped(summary.events), Grouped(summary.slices),
      Grouped(summary.gpu_activities), static_cast<double>(summary.text_bytes) / 1e6,
      summary.seconds,
      static_cast<double>(summary.text_bytes) / 1e6 / std::max(summary.seconds, 1e-6));
  if (!summary.complete) text += "  incomplete: the file was cut short or damaged\n";
  if (summary.issues.Any()) text += "  issues: " + IssueLine(summary.issues) + "\n";
  return text;
}

std::string JsonText(const std::string& text) {
  std::string json;
  AppendJsonString(json, text);
  return json;
}

std::string JsonSummary(const LoadSummary& summary) {
  if (summary.skipped) {
    return fmt::format("{{\"path\":{},\"skipped\":true,\"trace_id\":{}}}", JsonText(summary.path),
                       summary.trace_id);
  }
  std::string issues;
  for (size_t i = 0; i < kIssueKinds; ++i) {
    const auto kind = static_cast<IssueKind>(i);
    const EventIssues::Entry& entry = summary.issues.entry(kind);
    if (entry.count == 0) continue;
    issues +=
        fmt::format("{}{{\"kind\":\"{}\",\"count\":{},\"first_offset\":{},\"first_excerpt\":{}}}",
                    issues.empty() ? "" : ",", IssueName(kind), entry.count, entry.first_offset,
                    JsonText(entry.first_excerpt));
  }
  return fmt::format(
      "{{\"path\":{},\"skipped\":false,\"trace_id\":{},\"rank\":{},\"rank_source\":\"{}\","
      "\"file_bytes\":{},\"text_bytes\":{},\"events\":{},\"slices\":{},\"gpu_activities\":{},"
      "\"complete\":{},\"seconds\":{:.6f},\"issues\":[{}]}}",
      JsonText(summary.path), summary.trace_id, summary.rank, summary.rank_source,
      summary.file_bytes, summary.text_bytes, summary.events, summary.slices,
      summary.gpu_activities, summary.complete, summary.seconds, issues);
}

void SayWarnings(const GlobalOptions& global, const LoadSummary& summary,
                 std::optional<int64_t> asked_rank) {
  if (summary.rank_source == "chosen") {
    SayNote(global, fmt::format("{}: neither its header nor its name tells a rank; it is rank {} "
                                "now (--rank N chooses another)",
                                summary.path, summary.rank));
  } else if (asked_rank.has_value() && *asked_rank != summary.rank) {
    SayNote(global, fmt::format("{}: --rank {} is not used: the {} says rank {}", summary.path,
                                *asked_rank, summary.rank_source, summary.rank));
  }
  if (!summary.complete) {
    SayNote(global, fmt::format("{}: cut short or damaged; what comes before the damage was "
                                "loaded ({} events)",
                                summary.path, Grouped(summary.events)));
  }
  constexpr uint64_t kEventsOfACutTrace = 1'000'000;  // where JAX and TensorFlow stop writing
  if (summary.events == kEventsOfACutTrace) {
    SayNote(global, fmt::format("{}: exactly 1,000,000 events: its writer probably left the others "
                                "out (TF_PROFILER_TRACE_VIEWER_MAX_EVENTS)",
                                summary.path));
  }
  if (summary.issues.Any()) {
    SayNote(global, fmt::format("{}: {} (details: tracedb info --issues)", summary.path,
                                IssueLine(summary.issues)));
  }
}

LoadOptions OptionsFor(const GlobalOptions& global, const IngestOptions& options,
                       const std::atomic<bool>& stop) {
  LoadOptions load;
  load.rank = options.rank;
  load.run = options.run;
  load.strict = options.strict;
  load.replace = options.replace;
  load.keep_args = options.keep_args;
  load.block_bytes = options.block_bytes;
  load.stop = &stop;
  load.on_note = [&global](const std::string& note) { SayNote(global, note); };
  return load;
}

// How many files to read at a time; each has its share of memory and cores. Where nobody says how
// much memory, each has enough of it.
Result<unsigned> ShareOut(const IngestOptions& options,
                          const std::vector<std::filesystem::path>& files, LoadLimits& limits) {
  constexpr size_t kEachMin = LoadLimits::kMemoryBytesMin;
  const size_t given = options.memory_bytes;
  const unsigned jobs =
      options.jobs != 0
          ? options.jobs
          : TraceLoads::SideBySide(files, given != 0 ? given / kEachMin : files.size());
  const size_t memory_bytes =
      given != 0 ? given : std::max(LoadLimits::kMemoryBytesDefault, jobs * kEachMin);
  limits = LoadLimits::For(memory_bytes, options.threads);
  if (jobs == 1) return jobs;
  const size_t each_bytes = memory_bytes / jobs;
  if (each_bytes < kEachMin) {
    constexpr size_t kMiB = size_t{1} << 20;
    return Error{
        ErrorKind::kUsage,
        fmt::format("--jobs {}: each file wants {} MiB of --memory", jobs, kEachMin / kMiB),
        fmt::format("give --memory {}M or more, or fewer jobs", jobs * (kEachMin / kMiB))};
  }
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const unsigned parsers = std::max(2u, cores / jobs) - 1;  // one core reads
  limits = LoadLimits::For(each_bytes, options.threads != 0 ? options.threads : parsers);
  return jobs;
}

}  // namespace

Result<LoadedInputs> LoadInputs(const GlobalOptions& global, const IngestOptions& options,
                                const std::atomic<bool>& stop,
                                const std::function<Status(const LoadSummary&)>& on_loaded) {
  PrepareSqliteForIngest();
  const auto say = [&global](const std::string& note) { SayNote(global, note); };
  TRACEDB_ASSIGN(files, FindInputFiles(options.inputs, say));
  if (options.rank.has_value() && files.size() != 1) {
    return Error{ErrorKind::kUsage,
                 fmt::format("--rank is for one input; there are {}", files.size()),
                 "without it each trace's own header or name tells its rank"};
  }
  LoadOptions load = OptionsFor(global, options, stop);
  std::optional<ProgressLine> progress;  // of the file whose turn it is
  load.on_progress = [&progress](const LoadProgress& now) { progress->Show(now); };
  std::vector<std::filesystem::path> paths;
  for (const InputFile& file : files) paths.push_back(file.path);
  TRACEDB_ASSIGN(jobs, ShareOut(options, paths, load.limits));
  TraceLoads loads(files, global.database, load, jobs);
  LoadedInputs outcome;
  std::optional<Error> no_trace;  // the first file of a folder that is none
  for (const InputFile& file : files) {
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(file.path, error);
    progress.emplace(!global.quiet, file.path.string(), error ? 0 : bytes);
    auto loaded = loads.Next();
    progress.reset();
    const bool gone = !loaded.ok() && !std::filesystem::exists(file.path, error) && !stop.load();
    if (!loaded.ok() && file.is_searched() &&
        (loaded.error().kind == ErrorKind::kNoTrace || gone)) {
      SayNote(global, loaded.error().what + "; passed over");
      if (!no_trace.has_value()) no_trace = loaded.error();
      continue;
    }
    if (!loaded.ok() && loaded.error().kind == ErrorKind::kInput && file.is_searched() &&
        !stop.load()) {
      SayNote(global, loaded.error().what + "; the others go on");
      if (!outcome.failed.has_value()) outcome.failed = loaded.error();
      continue;
    }
    if (!loaded.ok()) return std::move(loaded).error();
    outcome.any = true;
    TRACEDB_TRY(on_loaded(loaded.value()));
  }
  if (!outcome.any && !outcome.failed.has_value() && no_trace.has_value()) return *no_trace;
  return outcome;
}

struct RunCount {
  std::string run;
  int64_t ranks = 0;
  int64_t captures = 0;
};

// The runs that these traces are of.
Result<std::vector<RunCount>> RunsOf(SqliteDb& db, const std::vector<int64_t>& trace_ids) {
  std::string list;
  for (const int64_t id : trace_ids) list += fmt::format("{}{}", list.empty() ? "" : ",", id);
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT run, ranks, captures FROM runs WHERE run_id IN (SELECT "
                                  "run_id FROM traces WHERE trace_id IN (" +
                                  list + ")) ORDER BY start_ns, run_id"));
  std::vector<RunCount> runs;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return runs;
    runs.push_back({std::string(rows.Text(0)), rows.Int(1), rows.Int(2)});
  }
}

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
                        JsonText(run.run), run.ranks, run.captures);
  }
  return json;
}

Status RunIngest(const GlobalOptions& global, const IngestOptions& options,
                 const std::atomic<bool>& stop) {
  DescriptorOutput output(STDOUT_FILENO, "standard output");
  std::string json;
  std::vector<int64_t> trace_ids;
  bool is_new = false;  // a trace that was not there before
  std::optional<std::string> only_run;
  const auto summarize = [&](const LoadSummary& summary) -> Status {
    trace_ids.push_back(summary.trace_id);
    is_new = is_new || !summary.skipped;
    only_run = trace_ids.size() == 1 ? summary.only_run : std::nullopt;
    if (!summary.skipped) {
      if (global.verbose) {
        SayNote(global, fmt::format("{}: {:.3f} s reading, {:.3f} s deriving, {:.3f} s landing",
                                    summary.path, summary.read_seconds, summary.derive_seconds,
                                    summary.land_seconds));
      }
      SayWarnings(global, summary, options.rank);
    }
    if (options.json) {
      json += (json.empty() ? "" : ",\n ") + JsonSummary(summary);
    } else if (!global.quiet) {
      TRACEDB_TRY(output.Write(TextSummary(summary, options.run)));
      TRACEDB_TRY(output.Flush());
    }
    return Done{};
  };
  TRACEDB_ASSIGN(loaded, LoadInputs(global, options, stop, summarize));
  std::vector<RunCount> runs;
  if (only_run.has_value()) {
    runs.push_back({*only_run, 1, 1});
  } else if (loaded.any) {
    const size_t memory_bytes =
        options.memory_bytes != 0 ? options.memory_bytes : LoadLimits::kMemoryBytesDefault;
    const int64_t cache_kib = LoadLimits::For(memory_bytes, 1).sqlite_cache_kib;
    TRACEDB_ASSIGN(db, OpenToCompare(global.database, cache_kib, &stop));
    Status compared = CompareRanks(global, db);
    if (!compared.ok()) {
      Error error = std::move(compared).error();
      if (!stop.load()) {
        error.what =
            "the traces are in the database, but its ranks cannot be compared: " + error.what;
      }
      return error;
    }
    const bool is_said = !global.quiet && (is_new || options.run.has_value());
    if (is_said || options.json) {
      TRACEDB_ASSIGN(found, RunsOf(db, trace_ids));
      runs = std::move(found);
    }
  }
  if (options.json) {
    TRACEDB_TRY(output.Write("{\"database\":" + JsonText(global.database.string()) + ",\"runs\":[" +
                             RunsJson(runs) + "],\"traces\":[\n " + json + "]}\n"));
  } else if (!global.quiet && !runs.empty()) {
    TRACEDB_TRY(output.Write(RunsLine(runs)));
  }
  TRACEDB_TRY(output.Flush());
  if (loaded.failed.has_value()) return *loaded.failed;
  return Done{};
}

}  // namespace tracedb
