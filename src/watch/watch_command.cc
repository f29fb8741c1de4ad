#include "tracedb/watch/watch_command.h"

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "tracedb/base/database_files.h"
#include "tracedb/ingest/load/trace_removal.h"
#include "tracedb/ingest/read/content_hash.h"
#include "watch/capture_expiry.h"
#include "watch/folder_events.h"
#include "watch/watched_files.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr size_t kBatchFiles = 256;  // the ranks are compared, and old captures go, after so many
constexpr seconds kRest{2};
constexpr milliseconds kBurst{200};  // one event seldom comes alone
// Comparing the ranks takes longer the more there are: while files keep coming it may take a tenth
// of the time.
constexpr int kCompareShare = 10;
constexpr seconds kCompareMin{5};

class FolderWatch {
 public:
  FolderWatch(const WatchOptions& options, const std::atomic<bool>& stop)
      : options_(options),
        stop_(stop),
        events_(options.on_note),
        files_(options.once ? seconds(0) : kRest, options.settle) {
    load_.stop = &stop;
    load_.on_note = options.on_note;
  }

  Status Run() {
    std::error_code error;
    if (!fs::is_directory(options_.folder, error)) {
      return Error{ErrorKind::kInput, options_.folder.string() + ": there is no such folder",
                   "name the folder in which traces appear; it may be empty still"};
    }
    TRACEDB_TRY(ReadKnown());
    while (!stop_.load()) {
      TRACEDB_TRY(Look());
      TRACEDB_ASSIGN(any, LoadReady());
      TRACEDB_ASSIGN(expired_now, Expire());
      if (expired_now) is_compare_due_ = true;
      TRACEDB_TRY(CompareWhenDue(any));
      if (any) continue;
      if (options_.once) {
        SayUnfinished();
        return Done{};
      }
      Wait();
    }
    return Done{};
  }

 private:
  Status ReadKnown() {
    TRACEDB_ASSIGN(known, ReadKnownFiles(options_.database, load_));
    known_.clear();
    for (KnownFile& file : known) {
      const auto bytes = static_cast<uint64_t>(file.file_bytes);
      known_.emplace(bytes, file.is_expired ? WholeFile(file.file_hash) : file.file_hash);
    }
    return Done{};
  }

  // Of an export each part has its own mark after the file's hash ("#nsys:7"); they expire
  // together. While its parts are in the database loading it tells which, and skips them.
  static std::string WholeFile(const std::string& file_hash) {
    return file_hash.substr(0, file_hash.find('#'));
  }

  // A folder that cannot be looked at now may be there again later: a mount, a job's cleaning up.
  Status Look() {
    const auto closed = events_.TakeClosed();
    events_.Follow(options_.folder);
    auto found = FindInputFiles({options_.folder.string()}, [](const std::string&) {});
    if (!found.ok()) {
      if (options_.once) return std::move(found).error();
      if (!std::exchange(is_away_, true)) {
        options_.on_note(found.error().what + "; looking again now and then");
      }
      return Done{};
    }
    if (std::exchange(is_away_, false)) options_.on_note(options_.folder.string() + ": is back");
    std::vector<InputFile> files = std::move(found).value();
    std::erase_if(files, [&](const InputFile& file) { return IsOurs(file.path); });
    files_.Look(files, closed, steady_clock::now());
    return Done{};
  }

  // The database may lie in the folder, and what is beside it while it is written.
  bool IsOurs(const fs::path& path) const {
    const std::string name = path.filename().string();
    const std::string database = options_.database.filename().string();
    if (!name.starts_with(database)) return false;
    const std::string ending = name.substr(database.size());
    const bool is_beside = ending.empty() || ending.starts_with(".partial") ||
                           std::ranges::count(kCompanionEndings, ending) > 0;
    if (!is_beside) return false;
    std::error_code error;
    const fs::path folder =
        options_.database.has_parent_path() ? options_.database.parent_path() : fs::path(".");
    return fs::equivalent(path.parent_path(), folder, error);
  }

  Result<bool> LoadReady() {
    const auto now = steady_clock::now();
    WatchedFiles::Ready ready = files_.TakeReady(kBatchFiles, now);
    const bool any_ready = !ready.whole.empty() || !ready.as_are.empty();
    LeaveOutKnown(ready.whole);
    LeaveOutKnown(ready.as_are);
    const bool any = !ready.whole.empty() || !ready.as_are.empty();
    TRACEDB_TRY(Load(std::move(ready.whole), true));
    TRACEDB_TRY(Load(std::move(ready.as_are), false));
    if (any_ready && !stop_.load()) {
      const auto bytes_of = [this](const fs::path& path) { return files_.BytesOf(path); };
      TRACEDB_ASSIGN(removed, RemoveOutdated(options_, bytes_of, load_));
      is_compare_due_ = is_compare_due_ || removed || any;
    }
    return any_ready;
  }

  void LeaveOutKnown(std::vector<InputFile>& files) {
    std::erase_if(files, [&](const InputFile& file) {
      if (stop_.load() || !(IsTooOld(file.path) || IsKnown(file.path))) return false;
      files_.Tried(file.path, FileOutcome::kTrace, steady_clock::now());
      return true;
    });
  }

  // Its capture would expire at once: what was recorded is older than the file.
  bool IsTooOld(const fs::path& path) const {
    if (options_.keep_time <= seconds(0)) return false;
    std::error_code error;
    const auto written = fs::last_write_time(path, error);
    return !error && fs::file_time_type::clock::now() - written > options_.keep_time;
  }

  // Without opening the database for each file: at a start nearly all of them are known.
  bool IsKnown(const fs::path& path) const {
    const auto [first, last] = known_.equal_range(files_.BytesOf(path));
    if (first == last) return false;
    const auto hash = HashFile(path, &stop_);
    if (!hash.ok()) return false;  // it is said when it is loaded
    return std::any_of(first, last,
                       [&](const auto& known) { return known.second == hash.value(); });
  }

  Status Load(std::vector<InputFile> files, bool whole_only) {
    if (files.empty() || stop_.load()) return Done{};
    std::map<fs::path, FileOutcome> outcomes;
    for (const InputFile& file : files) outcomes[file.path] = FileOutcome::kPassedOver;
    TRACEDB_ASSIGN(loaded, options_.load(std::move(files), whole_only));
    for (const LoadedFile& file : loaded) outcomes[file.path] = file.outcome;
    for (const auto& [path, outcome] : outcomes) {
      files_.Tried(path, outcome, steady_clock::now());
    }
    return Done{};
  }

  Result<bool> Expire() {
    TRACEDB_ASSIGN(expiry, ExpireCaptures(options_, load_));
    if (expiry.any) TRACEDB_TRY(ReadKnown());
    if (expiry.is_still_large && !std::exchange(has_said_large_, true)) {
      options_.on_note(options_.database.string() +
                       ": its last capture, and its logs and samples, take more than --keep says");
    }
    return expiry.any;
  }

  Status CompareWhenDue(bool more_comes) {
    const auto begun = steady_clock::now();
    if (!is_compare_due_ || (more_comes && begun < next_compare_)) return Done{};
    TRACEDB_TRY(options_.compare());
    is_compare_due_ = false;
    const auto end = steady_clock::now();
    next_compare_ =
        end + std::max<steady_clock::duration>((end - begun) * kCompareShare, kCompareMin);
    return Done{};
  }

  void SayUnfinished() const {
    for (const fs::path& path : files_.Unfinished()) {
      options_.on_note(path.string() + ": breaks off; left for later, as it may be being written");
    }
  }

  void Wait() {
    const auto now = steady_clock::now();
    auto end = now + options_.every;
    if (const auto next = files_.NextTime(); next.has_value()) end = std::min(end, *next);
    const auto left = std::chrono::ceil<milliseconds>(end - now);
    events_.Wait(left, stop_);
    FolderEvents::Rest(kBurst);
  }

  const WatchOptions& options_;
  const std::atomic<bool>& stop_;
  LoadOptions load_;
  FolderEvents events_;
  WatchedFiles files_;
  std::multimap<uint64_t, std::string> known_;  // hashes by size
  bool is_compare_due_ = true;                  // an ingest may have been killed before it
  steady_clock::time_point next_compare_;
  bool is_away_ = false;
  bool has_said_large_ = false;
};

}  // namespace

Status WatchFolder(const WatchOptions& options, const std::atomic<bool>& stop) {
  Status done = FolderWatch(options, stop).Run();
  // Who asks it to end gets what it was asked for: a file that was being loaded is for next time.
  if (!done.ok() && stop.load() && done.error().kind != ErrorKind::kUsage) return Done{};
  return done;
}

}  // namespace tracedb
