#include "tracedb/ingest/load/trace_loads.h"

#include <sys/stat.h>

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "ingest/load/database_landing.h"
#include "ingest/load/merged_rows.h"
#include "ingest/load/read_ahead.h"
#include "ingest/load/stopwatch.h"
#include "ingest/load/trace_reading.h"
#include "ingest/parse/event_parser.h"
#include "tracedb/base/cores.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/ingest/load/rows_file.h"

namespace tracedb {

namespace fs = std::filesystem;

namespace {

// Of files that land together, so that what is held of their pages stays small.
constexpr uintmax_t kTogetherBytesMax = uintmax_t{256} << 20;
// So many small files wait for one another, to land together.
constexpr size_t kSmallTogether = 8;

// As it lies there, packed or not: one that is read in a few hundredths of a second.
bool IsSmall(const fs::path& file) {
  constexpr uintmax_t kBytesMax = uintmax_t{4} << 20;
  std::error_code error;
  const uintmax_t bytes = fs::file_size(file, error);
  return !error && bytes <= kBytesMax;
}

}  // namespace

void PrepareToReadTraces() { ChooseJsonParser(); }

FilesAtATime TraceLoads::SideBySide(const std::vector<fs::path>& files, size_t most) {
  constexpr size_t kCoresMin = 4;   // fewer are kept busy by reading one file
  constexpr size_t kFilesMax = 16;  // more only wait for their turn to land
  const size_t cores = CoresToUse();
  const size_t bound = std::max<size_t>(1, std::min({files.size(), cores, most, kFilesMax}));
  if (cores >= kCoresMin) {
    return {static_cast<unsigned>(bound), static_cast<unsigned>(bound)};
  }
  return {static_cast<unsigned>(std::min<size_t>(bound, 2)), 1};
}

TraceLoads::TraceLoads(std::vector<InputFile> files, fs::path database, LoadOptions options,
                       const FilesAtATime& at_a_time)
    : files_(std::move(files)),
      database_(std::move(database)),
      options_(std::move(options)),
      at_a_time_({std::max(1u, at_a_time.in_memory), std::max(1u, at_a_time.reading)}),
      kept_(std::make_unique<KeptConnection>()),
      turns_(std::make_shared<LoadingTurns>(at_a_time_.in_memory, at_a_time_.reading)) {}

TraceLoads::~TraceLoads() {
  for (const auto& ahead : ahead_) ahead->GiveUp();  // all before the first is waited for
}

Result<LoadSummary> TraceLoads::Next() {
  const size_t file = next_;
  TRACEDB_ASSIGN(summary, LoadNext());
  summary.file = std::move(files_[file].path);  // nobody reads it again
  // A file that is there already is not read again for its run to be named.
  if (summary.skipped && options_.run.has_value()) {
    TRACEDB_TRY(NameRun(database_, summary.trace_id, *options_.run, options_));
  }
  return summary;
}

std::optional<SqliteDb> TraceLoads::TakeConnection() {
  struct stat status {};
  std::optional<SqliteDb> db;
  const bool is_to_it = stat(database_.c_str(), &status) == 0 && kept_->IsTo(status);
  // As one has them that is opened: a landing may have asked for its users' keys.
  if (is_to_it && kept_->db().Execute("PRAGMA foreign_keys = OFF").ok()) {
    db.emplace(std::move(kept_->db()));
  }
  kept_->connection.Drop();
  return db;
}

Result<LoadSummary> TraceLoads::LoadNext() {
  const InputFile& file = files_[next_];
  if (at_a_time_.in_memory == 1) {
    ++next_;
    return LoadTrace(file, database_, options_, *kept_);
  }
  if (landed_.empty()) {
    if (ahead_.empty()) {
      std::optional<DatabaseLanding> landing;
      StartMore(landing);
    }
    LandDone();
  }
  ++next_;
  Result<LoadSummary> landed = std::move(landed_.front());
  landed_.pop_front();
  return landed;
}

// Half as many more as are in memory at a time, and the first, which is about to land: those wait
// for their turn to be read, or to land. `landing` is begun where there are any to start, for them
// and for the first.
void TraceLoads::StartMore(std::optional<DatabaseLanding>& landing) {
  const size_t most = at_a_time_.in_memory + (at_a_time_.in_memory + 1) / 2 + 1;
  const size_t most_small = std::max(most, at_a_time_.in_memory + 1 + kSmallTogether);
  while (started_ < files_.size() &&
         ahead_.size() < (IsSmall(files_[started_].path) ? most_small : most)) {
    const InputFile& file = files_[started_++];
    ahead_.push_back(std::make_unique<ReadAhead>(file, options_));
    Status started = StartReading(file, *ahead_.back(), landing);
    if (!started.ok()) ahead_.back()->Fail(std::move(started).error());
  }
}

Status TraceLoads::StartReading(const InputFile& file, ReadAhead& ahead,
                                std::optional<DatabaseLanding>& landing) {
  if (!landing.has_value()) {
    TRACEDB_ASSIGN(begun, DatabaseLanding::Begin(database_, options_, *kept_));
    landing.emplace(std::move(begun));
  }
  TRACEDB_TRY(landing->CheckTakesTraces());
  std::map<std::string, int64_t> traces_of_size;
  if (!options_.replace) {
    TRACEDB_ASSIGN(found, TracesOfSize(file, *landing));
    traces_of_size = std::move(found);
  }
  if (next_ids_ == nullptr) {
    std::promise<FirstIds> first;
    first.set_value(landing->place().first);
    const std::shared_future<FirstIds> known = first.get_future().share();
    next_ids_ = std::make_unique<NextIds>(NextIds{known, known});
  }
  TRACEDB_TRY(ahead.Start(
      {database_, landing->place(), std::move(traces_of_size), *next_ids_, turn_, turns_}));
  ++turn_;
  *next_ids_ = ahead.next_ids();
  return Done{};
}

// Waits for the first file, and lands it with those after it that are done as well.
void TraceLoads::LandDone() {
  Stopwatch watch;
  Await(*ahead_.front());
  std::optional<DatabaseLanding> landing;
  StartMore(landing);
  if (next_ > 0) AwaitSmall();  // the first of all is in the database as soon as it can be
  const size_t count = Land(landing);
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(count));
  const double seconds = watch.Lap() / static_cast<double>(count);
  for (Result<LoadSummary>& landed : landed_) {
    if (landed.ok()) landed.value().seconds = seconds;
  }
}

void TraceLoads::Await(ReadAhead& ahead) {
  while (!ahead.WaitsUntilDone()) {
    if (options_.stop != nullptr && options_.stop->load()) ahead.GiveUp();
    if (options_.on_progress) options_.on_progress(ahead.Progress());
  }
}

// Changes to a database have their journal and are brought to the disk: for few small files that
// takes as long as to add them. Those that are not derived keep the ones after them from being
// read.
void TraceLoads::AwaitSmall() {
  for (size_t i = 0; i < std::min(ahead_.size(), kSmallTogether); ++i) {
    ReadAhead& ahead = *ahead_[i];
    if (!IsSmall(ahead.reading().input().path)) return;
    Await(ahead);
    if (!ahead.IsReady() || !ahead.reading().is_derived()) return;
  }
}

// How many files have their outcome now.
size_t TraceLoads::Land(std::optional<DatabaseLanding>& landing) {
  ReadAhead& first = *ahead_.front();
  if (!first.Outcome().ok()) {
    landed_.emplace_back(first.Outcome().error());
    return 1;
  }
  if (first.unchanged().has_value()) {
    landed_.emplace_back(*first.unchanged());
    return 1;
  }
  if (!landing.has_value()) {
    auto begun = DatabaseLanding::Begin(database_, options_, *kept_);
    if (!begun.ok()) {
      landed_.emplace_back(std::move(begun).error());
      return 1;
    }
    landing.emplace(std::move(begun).value());
  }
  const auto ready = ReadyFiles(*landing);
  if (ready.size() > 1) {
    if (LandTogether(ready, *landing)) return ready.size();
    alone_ = ready.size();  // one by one each says what is wrong with it
  }
  if (alone_ > 0) --alone_;
  // Its place first: there may be no room for it when it has landed.
  Result<LoadSummary>& landed = landed_.emplace_back(LoadSummary());
  landed = RunCaught([&] { return LandAlone(first, *landing); });
  return 1;
}

// Files from the first on that need nothing any more but to be added, as pages.
std::vector<TraceRows> TraceLoads::ReadyFiles(DatabaseLanding& landing) {
  std::vector<TraceRows> ready;
  if (!landing.place().exists || alone_ > 0) return ready;
  FirstIds first = landing.place().first;
  std::set<std::string> texts;
  uintmax_t bytes = 0;
  for (const std::unique_ptr<ReadAhead>& ahead : ahead_) {
    if (!ahead->IsReady() || !ahead->reading().IsReadyFor(first)) break;
    const TraceReading& reading = ahead->reading();
    TraceRows trace{ahead->rows(), first.trace_id, reading.input().name(), reading.text_hash()};
    const auto same = landing.FindSameText(trace.text_hash);
    const bool is_new = same.ok() && !same.value().has_value();
    if (!is_new || !texts.insert(trace.text_hash).second || !landing.GoesAsPages(trace)) break;
    std::error_code error;
    bytes += fs::file_size(trace.rows, error);
    if (error || (!ready.empty() && bytes > kTogetherBytesMax)) break;
    ready.push_back(std::move(trace));
    first = reading.NextIds();
  }
  return ready;
}

// False: none of them. What is said of them is there before: nothing may go wrong once they have
// landed.
bool TraceLoads::LandTogether(const std::vector<TraceRows>& traces, DatabaseLanding& landing) {
  Stopwatch watch;
  std::deque<Result<LoadSummary>> landed;
  std::vector<RowsFile> rows;
  const auto added = RunCaught([&]() -> Result<bool> {
    for (size_t i = 0; i < traces.size(); ++i) landed.emplace_back(ahead_[i]->reading().Summary());
    rows.reserve(traces.size());
    return landing.LandTogether(traces);
  });
  if (!added.ok() || !added.value()) return false;
  const double seconds = watch.Lap() / static_cast<double>(traces.size());
  for (size_t i = 0; i < traces.size(); ++i) {
    landed[i].value().land_seconds = seconds;
    rows.push_back(ahead_[i]->TakeRows());
  }
  landed_.swap(landed);  // there was nothing to tell of
  Dispose(std::move(rows));
  return true;
}

Result<LoadSummary> TraceLoads::LandAlone(ReadAhead& ahead, DatabaseLanding& landing) {
  std::vector<RowsFile> rows;
  rows.reserve(1);
  landing.Adopt(ahead.TakeRows());
  TRACEDB_ASSIGN(summary, ahead.reading().Land(landing));
  rows.push_back(landing.TakeRows());
  Dispose(std::move(rows));
  return summary;
}

// To free a large file's pages takes milliseconds, in which the next files can land.
void TraceLoads::Dispose(std::vector<RowsFile> rows) {
  static_cast<void>(RunCaught([&]() -> Status {
    const auto kept = std::make_shared<std::vector<RowsFile>>(std::move(rows));
    disposing_ = std::async(std::launch::async, [last = kept]() mutable { last.reset(); });
    return Done{};
  }));
}

}  // namespace tracedb
