#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <utility>

#include "cli_commands.h"
#include "cli_progress.h"
#include "cli_sources.h"
#include "tracedb/base/cores.h"
#include "tracedb/base/database_files.h"
#include "tracedb/base/file_bytes.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/ingest/load/trace_loads.h"
#include "tracedb/ingest/read/input_files.h"
#include "tracedb/ingest/read/rank_in_name.h"
#include "tracedb/schema/database_id.h"
#include "tracedb/shards/launch_environment.h"

namespace tracedb {
namespace {

LoadOptions OptionsFor(const GlobalOptions& global, const IngestOptions& options,
                       const std::atomic<bool>& stop) {
  LoadOptions load;
  load.rank = options.rank;
  load.run = options.run;
  load.strict = options.strict;
  load.replace = options.replace;
  load.keep_args = options.keep_args;
  load.whole_only = options.whole_only;
  load.block_bytes = options.block_bytes;
  load.source.utc_offset_ns = options.utc_offset_ns;
  const size_t memory_bytes =
      options.memory_bytes != 0 ? options.memory_bytes : LoadLimits::kMemoryBytesDefault;
  load.limits = LoadLimits::For(memory_bytes, options.threads);
  load.stop = &stop;
  load.on_note = [&global](const std::string& note) { SayNote(global, note); };
  return load;
}

// Small blocks are kept for the next trace, and few arenas touch few pages: eight traces of 5 MB
// had 28,000 page faults, a seventh of their CPU. Not where each MiB counts.
void KeepSmallBlocks(size_t memory_bytes) {
  constexpr size_t kMemoryBytesMin = 64 << 20;
  constexpr size_t kKeptShare = 16;  // of all arenas
  constexpr size_t kKeptBytesMax = 8 << 20;
  if (memory_bytes < kMemoryBytesMin) return;
  const unsigned arenas = std::max(1u, CoresToUse() / 2);
  const size_t kept_bytes = std::min(memory_bytes / kKeptShare / arenas, kKeptBytesMax);
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(kept_bytes));
  mallopt(M_ARENA_MAX, static_cast<int>(arenas));
}

// How many files to read at a time; each has its share of memory and cores. Where nobody says how
// much memory, each has enough of it.
Result<FilesAtATime> ShareOut(const IngestOptions& options,
                              const std::vector<std::filesystem::path>& files, LoadLimits& limits) {
  constexpr size_t kEachMin = LoadLimits::kMemoryBytesMin;
  const size_t given = options.memory_bytes;
  const FilesAtATime at_a_time =
      options.jobs != 0
          ? FilesAtATime{options.jobs, options.jobs}
          : TraceLoads::SideBySide(files, given != 0 ? given / kEachMin : files.size());
  const unsigned jobs = at_a_time.in_memory;
  const size_t memory_bytes =
      given != 0 ? given : std::max(LoadLimits::kMemoryBytesDefault, jobs * kEachMin);
  KeepSmallBlocks(memory_bytes);
  limits = LoadLimits::For(memory_bytes, options.threads);
  if (jobs == 1) return at_a_time;
  const size_t each_bytes = memory_bytes / jobs;
  if (each_bytes < kEachMin) {
    constexpr size_t kMiB = size_t{1} << 20;
    return Error{
        ErrorKind::kUsage,
        fmt::format("--jobs {}: each file wants {} MiB of --memory", jobs, kEachMin / kMiB),
        fmt::format("give --memory {}M or more, or fewer jobs", jobs * (kEachMin / kMiB))};
  }
  const unsigned cores = CoresToUse();
  const unsigned parsers = std::max(2u, cores / at_a_time.reading) - 1;  // one core reads
  limits = LoadLimits::For(each_bytes, options.threads != 0 ? options.threads : parsers);
  limits.memory_bytes = memory_bytes;
  return at_a_time;
}

// The files of one command, on their way into the database.
class InputLoad {
 public:
  InputLoad(const GlobalOptions& global, const IngestOptions& options,
            const std::atomic<bool>& stop, const OnLoaded& on_loaded, std::optional<Error> failed,
            size_t files)
      : global_(global),
        options_(options),
        stop_(stop),
        on_loaded_(on_loaded),
        load_(OptionsFor(global, options, stop)),
        progress_(global),
        files_(files) {
    outcome_.failed = std::move(failed);
    load_.on_progress = [this](const LoadProgress& now) {
      progress_.Show({file_name_,
                      file_of_,
                      now.file_bytes,
                      file_bytes_,
                      now.text_bytes,
                      now.events,
                      {},
                      true});
    };
  }

  Status LoadTraces(const std::vector<InputFile>& files) {
    std::vector<std::filesystem::path> paths;
    for (const InputFile& file : files) paths.push_back(file.path);
    LoadOptions load = load_;
    TRACEDB_ASSIGN(at_a_time, ShareOut(options_, paths, load.limits));
    TraceLoads loads(files, global_.database, std::move(load), at_a_time);
    for (const InputFile& file : files) {
      StartProgress(file);
      auto loaded = loads.Next();
      progress_.Hide();
      if (loaded.ok()) {
        outcome_.any = true;
        TRACEDB_TRY(on_loaded_.trace(loaded.value()));
      } else {
        TRACEDB_TRY(PassOver(file, std::move(loaded).error()));
      }
    }
    outcome_.db = loads.TakeConnection();
    return Done{};
  }

  Status LoadOther(const SourceFile& source) {
    StartProgress(source.file);
    auto loaded = LoadSource(source.file, *source.reader, global_.database, load_);
    progress_.Hide();
    if (!loaded.ok()) return PassOver(source.file, std::move(loaded).error());
    outcome_.any = true;
    outcome_.only_traces = false;
    return on_loaded_.source(loaded.value());
  }

  Result<LoadedInputs> Outcome() {
    if (!outcome_.any && !outcome_.failed.has_value() && no_trace_.has_value()) return *no_trace_;
    return std::move(outcome_);
  }

 private:
  void StartProgress(const InputFile& file) {
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(file.path, error);
    file_bytes_ = error ? 0 : bytes;
    file_name_ = file.name();
    ++begun_;
    if (files_ > 1) file_of_ = fmt::format("file {} of {}", begun_, files_);
  }

  // A file of a folder that cannot be read does not keep the others out.
  Status PassOver(const InputFile& file, Error why) {
    std::error_code error;
    const bool gone = !std::filesystem::exists(file.path, error) && !stop_.load();
    if (!file.is_searched() || stop_.load()) return why;
    const bool is_of_file = why.kind == ErrorKind::kInput || why.kind == ErrorKind::kNoTrace;
    if (is_of_file && on_loaded_.passed_over) {
      on_loaded_.passed_over(why);
      return Done{};
    }
    if (why.kind == ErrorKind::kNoTrace || gone) {
      SayNote(global_, why.what + "; passed over");
      if (!no_trace_.has_value()) no_trace_ = std::move(why);
      return Done{};
    }
    if (why.kind != ErrorKind::kInput) return why;
    SayNote(global_, why.what + "; the others go on");
    if (!outcome_.failed.has_value()) outcome_.failed = std::move(why);
    return Done{};
  }

  const GlobalOptions& global_;
  const IngestOptions& options_;
  const std::atomic<bool>& stop_;
  const OnLoaded& on_loaded_;
  LoadOptions load_;
  LoadedInputs outcome_;
  std::optional<Error> no_trace_;  // the first file of a folder that is none
  ProgressLine progress_;
  size_t files_;  // of the command
  size_t begun_ = 0;
  // Of the file whose turn it is:
  std::string file_name_;
  std::string file_of_;
  uint64_t file_bytes_ = 0;
};

// Leaves those files of folders that this process of many is to read.
Status TakeOwn(IngestOptions& options, std::vector<InputFile>& files) {
  const LaunchEnvironment launch =
      ReadLaunchEnvironment([](const char* name) { return std::getenv(name); });
  const bool is_rank =
      launch.task.has_value() && launch.tasks.value_or(1) > 1 && launch.node_tasks.value_or(2) > 1;
  const std::string which = !options.shard_inputs.empty() ? options.shard_inputs
                            : is_rank                     ? "own"
                                                          : "all";
  if (which == "all") return Done{};
  if (!launch.task.has_value()) {
    return Error{
        ErrorKind::kUsage,
        fmt::format("--shard-inputs {}: nothing tells which process of the job this is", which),
        "start it with srun, torchrun or mpirun, or set RANK and WORLD_SIZE"};
  }
  const int64_t task = *launch.task;
  const int64_t tasks = std::max<int64_t>(launch.tasks.value_or(1), 1);
  const size_t all = files.size();
  bool any_rank = false;
  std::vector<InputFile> own;
  for (size_t i = 0; i < all; ++i) {
    const auto rank = RankInName(files[i].path.filename().string());
    any_rank = any_rank || rank.has_value();
    const bool is_own =
        which == "deal" ? static_cast<int64_t>(i) % tasks == task : rank.value_or(0) == task;
    if (!files[i].is_searched() || is_own) own.push_back(files[i]);
  }
  if (own.empty() || (which == "own" && !any_rank && all > 1)) {
    return Error{
        ErrorKind::kInput,
        fmt::format("{}: none of {} files is {}'s, by the rank in its name ({}={})",
                    options.inputs.front(), all, task, launch.variable, task),
        "--shard-inputs all takes all of the folder, deal shares them out; or name the files"};
  }
  files = std::move(own);
  if (which == "own" && files.size() == 1 && !options.rank.has_value()) options.rank = task;
  return Done{};
}

}  // namespace

bool IsTraceDatabaseFile(const std::filesystem::path& path) {
  constexpr size_t kIdAt = 68;  // SQLite's file format: PRAGMA application_id, big-endian
  if (!IsSqliteFile(path)) return false;
  std::array<char, kIdAt + 4> header{};
  if (ReadFileAt(path, 0, header) != header.size()) return false;
  uint32_t id = 0;
  for (size_t i = kIdAt; i < header.size(); ++i) id = id << 8 | static_cast<uint8_t>(header[i]);
  return id == static_cast<uint32_t>(kApplicationId);
}

Result<LoadedInputs> LoadInputs(const GlobalOptions& global, const IngestOptions& given,
                                const std::atomic<bool>& stop, const OnLoaded& on_loaded) {
  PrepareSqliteForIngest();
  IngestOptions options = given;
  const auto say = [&global](const std::string& note) { SayNote(global, note); };
  TRACEDB_ASSIGN(named, FindInputFiles(options.inputs, say));
  if (!options.shard.empty()) {
    TRACEDB_TRY(CheckNameIsFree(options.shard));
    TRACEDB_TRY(TakeOwn(options, named));
  }
  TRACEDB_ASSIGN(loaded, LoadFiles(global, options, stop, on_loaded, std::move(named)));
  if (!loaded.found && !loaded.failed.has_value()) {
    return Error{ErrorKind::kInput,
                 options.inputs.front() + ": no trace in this folder or below it",
                 "nor anything else that is read (tracedb ingest --help says what is); traces are "
                 "looked for by name: *.json, *.json.gz, *.json.zst; a file of another name can be "
                 "given itself"};
  }
  return loaded;
}

void PrepareToParse() {
  const std::terminate_handler before = std::set_terminate(EndOutOfMemory);
  PrepareToReadTraces();
  std::set_terminate(before);
}

Result<LoadedInputs> LoadFiles(const GlobalOptions& global, const IngestOptions& options,
                               const std::atomic<bool>& stop, const OnLoaded& on_loaded,
                               std::vector<InputFile> named) {
  PrepareToParse();
  TRACEDB_ASSIGN(split, SplitExports(global, options, stop, std::move(named)));
  std::vector<InputFile>& files = split.files;
  if (options.rank.has_value() && files.size() != 1) {
    return Error{ErrorKind::kUsage,
                 fmt::format("--rank is for one input; there are {}", files.size()),
                 "without it each trace's own header or name tells its rank"};
  }
  GlobalOptions sorting = global;
  if (on_loaded.passed_over)
    sorting.quiet = true;  // who watches a folder sees files again and again
  TRACEDB_ASSIGN(sorted, SortInputs(sorting, std::move(files), stop));
  if (!split.failed.has_value()) split.failed = std::move(sorted.failed);
  if (split.failed.has_value() && on_loaded.passed_over) {
    on_loaded.passed_over(*std::exchange(split.failed, std::nullopt));
  }
  if (sorted.traces.empty() && sorted.sources.empty()) {
    LoadedInputs none;
    none.found = false;
    none.failed = std::move(split.failed);
    return none;
  }
  InputLoad load(global, options, stop, on_loaded, std::move(split.failed),
                 sorted.traces.size() + sorted.sources.size());
  // Traces first: of which run another file is depends on them.
  TRACEDB_TRY(load.LoadTraces(sorted.traces));
  for (const SourceFile& source : sorted.sources) TRACEDB_TRY(load.LoadOther(source));
  return load.Outcome();
}

}  // namespace tracedb
