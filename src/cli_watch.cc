#include <fmt/format.h>
#include <unistd.h>

#include "cli_commands.h"
#include "cli_progress.h"
#include "cli_sources.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/json/json_text.h"
#include "tracedb/ranks/clocks/align_clocks.h"
#include "tracedb/ranks/samples/place_samples.h"
#include "tracedb/text/output_stream.h"
#include "tracedb/text/result_text.h"
#include "tracedb/text/terminal_text.h"
#include "tracedb/watch/watch_command.h"

namespace tracedb {
namespace {

// What a watch does, said line by line.
class WatchReport {
 public:
  WatchReport(const GlobalOptions& global, bool json)
      : global_(global), json_(json), output_(STDOUT_FILENO, "standard output") {}

  // What was there already is not worth a line: at each start that is nearly all.
  Status Add(const LoadSummary& summary) {
    if (summary.skipped || summary.unfinished) return Done{};
    SayWarnings(global_, summary, std::nullopt);
    return Say(TraceLine(summary, std::nullopt), TraceJson(summary));
  }
  Status Add(const SourceSummary& summary) {
    if (summary.skipped || summary.unfinished) return Done{};
    return Say(SourceLine(summary, std::nullopt), SourceJson(summary));
  }
  Status Add(const ExpiredCapture& capture) {
    const std::string traces =
        fmt::format("{} trace{}", capture.traces, capture.traces == 1 ? "" : "s");
    return Say(fmt::format("expired: run {}, capture {} ({})\n", ShownText(capture.run),
                           capture.capture, traces),
               fmt::format("{{\"expired\":{{\"run\":{},\"capture\":{},\"traces\":{}}}}}",
                           JsonString(capture.run), capture.capture, capture.traces));
  }

 private:
  Status Say(const std::string& text, const std::string& json) {
    if (global_.quiet && !json_) return Done{};
    TRACEDB_TRY(output_.Write(json_ ? json + "\n"
                                    : WrapLines(ShownLines(text), TerminalColumns(STDOUT_FILENO))));
    return output_.Flush();
  }

  const GlobalOptions& global_;
  bool json_;
  DescriptorOutput output_;
};

FileOutcome OutcomeOf(bool unfinished, FileOutcome otherwise) {
  return unfinished ? FileOutcome::kUnfinished : otherwise;
}

Status Compare(const GlobalOptions& global, const IngestOptions& options,
               const std::atomic<bool>& stop) {
  std::error_code error;
  if (!std::filesystem::exists(global.database, error)) return Done{};
  const LoadLimits limits = LoadLimits::For(
      options.memory_bytes != 0 ? options.memory_bytes : LoadLimits::kMemoryBytesDefault, 1);
  TRACEDB_ASSIGN(db, OpenToCompare(global.database, limits.sqlite_cache_kib, &stop));
  TRACEDB_TRY(CompareRanks(global, db, limits, stop));
  return PlaceSamples(db);
}

}  // namespace

Status RunWatch(const GlobalOptions& global, const WatchArguments& arguments,
                const std::atomic<bool>& stop) {
  WatchReport report(global, arguments.ingest.json);
  WatchOptions options = arguments.watch;
  options.database = global.database;
  options.on_note = [&](const std::string& note) { SayNote(global, note); };
  options.on_expired = [&](const ExpiredCapture& capture) { return report.Add(capture); };
  options.compare = [&] { return Compare(global, arguments.ingest, stop); };
  options.load = [&](std::vector<InputFile> files,
                     bool whole_only) -> Result<std::vector<LoadedFile>> {
    IngestOptions ingest = arguments.ingest;
    ingest.whole_only = whole_only;
    std::vector<LoadedFile> loaded;
    OnLoaded on_loaded;
    on_loaded.trace = [&](const LoadSummary& summary) {
      loaded.push_back({summary.file, OutcomeOf(summary.unfinished, FileOutcome::kTrace)});
      return report.Add(summary);
    };
    on_loaded.source = [&](const SourceSummary& summary) {
      loaded.push_back({summary.path, OutcomeOf(summary.unfinished, FileOutcome::kSource)});
      return report.Add(summary);
    };
    on_loaded.passed_over = [&](const Error& why) {
      if (why.kind != ErrorKind::kNoTrace) SayNote(global, why.what + "; the others go on");
    };
    TRACEDB_TRY(LoadFiles(global, ingest, stop, on_loaded, std::move(files)));
    return loaded;
  };
  SayNote(global,
          fmt::format("watching {} for {} (ctrl-C ends it)", ShownText(options.folder.string()),
                      ShownText(global.database.string())));
  return WatchFolder(options, stop);
}

}  // namespace tracedb
