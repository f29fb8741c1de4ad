// A file that is read ahead of its turn, on a thread of its own and into a file of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "ingest/load/database_landing.h"
#include "ingest/load/trace_reading.h"
#include "tracedb/base/result.h"
#include "tracedb/ingest/load/rows_file.h"
#include "tracedb/ingest/load/trace_load.h"

namespace tracedb {

// The ids that a file's rows begin with: known when those before it have been read, but for those
// of call paths, which are known when what they are has been worked out.
struct NextIds {
  std::shared_future<FirstIds> but_paths;
  std::shared_future<FirstIds> known;
};

// Whose turn it is: so many at a time, in their order.
class FileTurns {
 public:
  explicit FileTurns(unsigned at_a_time) : free_(at_a_time) {}

  // Returns when it is the turn of the file with this number; 0 is the first, and none may be left
  // out. Each Wait() wants an End().
  void Wait(size_t file);
  void End();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_ = 0;
  unsigned free_;
};

// A file is in memory while it is read and until all has been worked out that it alone tells. So it
// makes room for the next one before it lands.
struct LoadingTurns {
  LoadingTurns(unsigned files_in_memory, unsigned files_read)
      : in_memory(files_in_memory), reading(files_read) {}

  FileTurns in_memory;
  FileTurns reading;
};

class ReadAhead {
 public:
  // `file` must outlive it.
  ReadAhead(const InputFile& file, const LoadOptions& options);
  ~ReadAhead();  // gives up what is being read
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // What a file is read with.
  struct Begin {
    std::filesystem::path database;
    LandingPlace place;
    std::map<std::string, int64_t> traces_of_size;  // none with --replace
    NextIds before;
    size_t turn = 0;  // the how many-th that is started
    std::shared_ptr<LoadingTurns> turns;
  };
  Status Start(Begin begin);
  // It could not be started: this is its outcome.
  void Fail(Error error) { outcome_ = Status(std::move(error)); }
  // The ids that come after those of this file, if it lands; those before it where it does not.
  const NextIds& next_ids() const { return next_ids_; }

  // Whether it is done, or will be within a moment that is short for a person.
  bool WaitsUntilDone() const;
  bool IsDone() const;
  void GiveUp() { give_up_ = true; }
  LoadProgress Progress() const { return {file_bytes_.load(), text_bytes_.load(), events_.load()}; }

  // When it is done:
  const Status& Outcome();
  // Whether it is done, and has rows for the database.
  bool IsReady();
  // What is to be said of a file that the database has already.
  const std::optional<LoadSummary>& unchanged() const { return unchanged_; }
  TraceReading& reading() { return reading_; }
  const std::filesystem::path& rows() const { return rows_->path(); }
  RowsFile TakeRows() { return std::move(*rows_); }

 private:
  Status Load(const Begin& begin);
  Status Read(const Begin& begin);
  FirstIds IdsAfter(const FirstIds& first, const Status& read) const;
  bool IsNew(const Status& read) const { return read.ok() && !unchanged_.has_value(); }
  Status Number(Status read, const Begin& begin);
  bool HoldsMemory(const Status& read) const;
  void EndTurn();

  LoadOptions options_;
  std::atomic<bool> give_up_ = false;
  std::atomic<uint64_t> file_bytes_ = 0;
  std::atomic<uint64_t> text_bytes_ = 0;
  std::atomic<uint64_t> events_ = 0;
  TraceReading reading_;
  std::optional<LoadSummary> unchanged_;
  std::optional<RowsFile> rows_;
  bool has_ids_ = false;  // those that it will land with, but perhaps the ones of call paths
  std::promise<FirstIds> next_but_paths_;
  bool next_are_told_ = false;  // but for those of paths
  std::promise<FirstIds> next_;
  NextIds next_ids_;
  std::shared_ptr<LoadingTurns> turns_;  // when it is in memory
  std::optional<Status> outcome_;
  std::future<Status> done_;
};

}  // namespace tracedb
