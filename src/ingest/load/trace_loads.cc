#include "tracedb/ingest/load/trace_loads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "ingest/load/database_landing.h"
#include "ingest/load/database_merge.h"
#include "ingest/load/trace_reading.h"
#include "ingest/parse/event_parser.h"
#include "tracedb/base/cores.h"
#include "tracedb/base/database_files.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/ingest/load/rows_file.h"

namespace tracedb {

namespace fs = std::filesystem;

namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(20);

}  // namespace

// The ids that a file's rows begin with: known when those before it have been read.
struct NextIds {
  std::shared_future<FirstIds> known;
};

// A file that is read on a thread of its own, into a file of its own.
class ReadAhead {
 public:
  ReadAhead(const InputFile& file, const LoadOptions& options)
      : options_(options), reading_(file, options_) {
    options_.stop = &give_up_;
    options_.on_progress = [this](const LoadProgress& now) {
      file_bytes_.store(now.file_bytes, std::memory_order_relaxed);
      text_bytes_.store(now.text_bytes, std::memory_order_relaxed);
      events_.store(now.events, std::memory_order_relaxed);
    };
  }
  ~ReadAhead() {
    GiveUp();
    if (done_.valid()) done_.wait();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // What a file is read with.
  struct Begin {
    fs::path database;
    LandingPlace place;
    std::map<std::string, int64_t> traces_of_size;  // none with --replace
    NextIds before;
  };
  Status Start(Begin begin) {
    TRACEDB_ASSIGN(rows, RowsFile::Make(RealName(begin.database)));
    rows_.emplace(std::move(rows));
    next_ids_.known = next_.get_future().share();
    done_ = std::async(std::launch::async, [this, begin = std::move(begin)] {
      Status read = RunCaught([&] { return Read(begin); });
      return RunCaught([&] { return Number(std::move(read), begin); });
    });
    return Done{};
  }
  // The ids that come after those of this file, if it lands; those before it where it does not.
  const NextIds& next_ids() const { return next_ids_; }

  // It could not be started: this is to be said when it is its turn.
  void Fail(Error error) { failed_ = std::move(error); }
  const std::optional<Error>& failed() const { return failed_; }
  // When it is done: what is to be said of a file that the database has already.
  const std::optional<LoadSummary>& unchanged() const { return unchanged_; }

  bool IsDone() const { return done_.wait_for(kLookEvery) == std::future_status::ready; }
  void GiveUp() { give_up_ = true; }
  LoadProgress Progress() const { return {file_bytes_.load(), text_bytes_.load(), events_.load()}; }
  Status TakeOutcome() { return done_.get(); }
  TraceReading& reading() { return reading_; }
  RowsFile TakeRows() { return std::move(*rows_); }

 private:
  Status Read(const Begin& begin) {
    TRACEDB_ASSIGN(unchanged, FindUnchangedFile(reading_.input(), &give_up_, begin.traces_of_size));
    unchanged_ = std::move(unchanged);
    if (unchanged_.has_value()) return Done{};
    TRACEDB_TRY(reading_.Read(rows_->path(), begin.place, {}));
    return reading_.DeriveAhead(rows_->path());
  }

  // Each file is read as the first of a database, and numbered when those before it have been read.
  Status Number(Status read, const Begin& begin) {
    const FirstIds first = begin.before.known.get();
    const bool is_new = read.ok() && !unchanged_.has_value();
    const FirstIds after = is_new ? reading_.NextIds() : FirstIds{};
    next_.set_value({first.trace_id + after.trace_id - 1, first.row + after.row - 1,
                     first.text + after.text - 1, first.path + after.path - 1});
    if (!is_new || !reading_.is_derived() || first == reading_.first()) return read;
    TRACEDB_ASSIGN(renumbered, RowsFile::Make(RealName(begin.database)));
    TRACEDB_TRY(reading_.Renumber(rows_->path(), renumbered.path(), first));
    rows_.emplace(std::move(renumbered));
    return Done{};
  }

  LoadOptions options_;
  std::atomic<bool> give_up_ = false;
  std::atomic<uint64_t> file_bytes_ = 0;
  std::atomic<uint64_t> text_bytes_ = 0;
  std::atomic<uint64_t> events_ = 0;
  TraceReading reading_;
  std::optional<LoadSummary> unchanged_;
  std::optional<Error> failed_;
  std::optional<RowsFile> rows_;
  std::promise<FirstIds> next_;
  NextIds next_ids_;
  std::future<Status> done_;
};

void PrepareToReadTraces() { ChooseJsonParser(); }

unsigned TraceLoads::SideBySide(const std::vector<fs::path>& files, size_t most) {
  constexpr size_t kCoresMin = 4;   // fewer are kept busy by one file
  constexpr size_t kFilesMax = 16;  // more only wait for their turn to land
  const size_t cores = CoresToUse();
  if (cores < kCoresMin) return 1;
  const size_t bound = std::min({files.size(), cores, most, kFilesMax});
  return static_cast<unsigned>(std::max<size_t>(bound, 1));
}

TraceLoads::TraceLoads(std::vector<InputFile> files, fs::path database, LoadOptions options,
                       unsigned side_by_side)
    : files_(std::move(files)),
      database_(std::move(database)),
      options_(std::move(options)),
      side_by_side_(std::max(1u, side_by_side)),
      kept_(std::make_unique<KeptConnection>()) {}

TraceLoads::~TraceLoads() {
  for (const auto& ahead : ahead_) ahead->GiveUp();  // all before the first is waited for
}

Result<LoadSummary> TraceLoads::Next() {
  const std::filesystem::path file = files_[next_].path;
  TRACEDB_ASSIGN(summary, LoadNext());
  summary.file = file;
  // A file that is there already is not read again for its run to be named.
  if (summary.skipped && options_.run.has_value()) {
    TRACEDB_TRY(NameRun(database_, summary.trace_id, *options_.run, options_));
  }
  return summary;
}

Result<LoadSummary> TraceLoads::LoadNext() {
  const InputFile& file = files_[next_];
  if (side_by_side_ == 1) {
    ++next_;
    return LoadTrace(file, database_, options_, *kept_);
  }
  while (started_ < files_.size() && ahead_.size() < side_by_side_) {
    const InputFile& next = files_[started_++];
    ahead_.push_back(std::make_unique<ReadAhead>(next, options_));
    Status started = StartReading(next, *ahead_.back());
    if (!started.ok()) ahead_.back()->Fail(std::move(started).error());
  }
  ++next_;
  const std::unique_ptr<ReadAhead> ahead = std::move(ahead_.front());
  ahead_.pop_front();
  return Land(*ahead);
}

Status TraceLoads::StartReading(const InputFile& file, ReadAhead& ahead) {
  TRACEDB_ASSIGN(landing, DatabaseLanding::Begin(database_, options_, *kept_));
  TRACEDB_TRY(landing.CheckTakesTraces());
  std::map<std::string, int64_t> traces_of_size;
  if (!options_.replace) {
    TRACEDB_ASSIGN(found, TracesOfSize(file, landing));
    traces_of_size = std::move(found);
  }
  if (next_ids_ == nullptr) {
    std::promise<FirstIds> first;
    first.set_value(landing.place().first);
    next_ids_ = std::make_unique<NextIds>(NextIds{first.get_future().share()});
  }
  TRACEDB_TRY(ahead.Start({database_, landing.place(), std::move(traces_of_size), *next_ids_}));
  *next_ids_ = ahead.next_ids();
  return Done{};
}

Result<LoadSummary> TraceLoads::Land(ReadAhead& ahead) {
  if (ahead.failed().has_value()) return *ahead.failed();
  const auto begun = std::chrono::steady_clock::now();
  while (!ahead.IsDone()) {
    if (options_.stop != nullptr && options_.stop->load()) ahead.GiveUp();
    if (options_.on_progress) options_.on_progress(ahead.Progress());
  }
  TRACEDB_TRY(ahead.TakeOutcome());
  if (ahead.unchanged().has_value()) return *ahead.unchanged();
  TRACEDB_ASSIGN(landing, DatabaseLanding::Begin(database_, options_, *kept_));
  landing.Adopt(ahead.TakeRows());
  TRACEDB_ASSIGN(summary, ahead.reading().Land(landing));
  Dispose(landing.TakeRows());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
  summary.seconds = seconds.count();
  return summary;
}

// To free a large file's pages takes milliseconds, in which the next file can land.
void TraceLoads::Dispose(RowsFile rows) {
  const auto kept = std::make_shared<RowsFile>(std::move(rows));
  static_cast<void>(RunCaught([&]() -> Status {
    disposing_ = std::async(std::launch::async, [last = kept]() mutable { last.reset(); });
    return Done{};
  }));
}

}  // namespace tracedb
