// Several trace files into one database: read side by side, landed in their order.
//
//   file 1 ── read ──▶ land                        Reading is most of the work, and one file keeps
//   file 2 ── read ─────────▶ land                 few cores busy. With one at a time each file is
//   file 3 ── read ──────────┘                     read when the one before has landed.
//
// Those that are done when it is the turn of the first of them land together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"

namespace tracedb {

struct NextIds;
struct KeptConnection;
struct LoadingTurns;
struct TraceRows;
class DatabaseLanding;
class ReadAhead;
class RowsFile;

// Before anything is begun that is to be undone: where there is no memory for this, it ends the
// program.
void PrepareToReadTraces();

// How many files are on their way at a time.
struct FilesAtATime {
  unsigned in_memory = 1;  // read, or what they alone tell is worked out
  unsigned reading = 1;    // of those
};

class TraceLoads {
 public:
  // Where nobody says. From four cores on a file a core is read, 16 at most; on two or three one is
  // read while what the one before tells is worked out. No more than `most`. The database is the
  // same with any number.
  static FilesAtATime SideBySide(const std::vector<std::filesystem::path>& files, size_t most);

  // `options.limits` are those of each file. on_progress is called for the file whose turn it is.
  TraceLoads(std::vector<InputFile> files, std::filesystem::path database, LoadOptions options,
             const FilesAtATime& at_a_time);
  ~TraceLoads();  // gives up what is being read
  TraceLoads(const TraceLoads&) = delete;
  TraceLoads& operator=(const TraceLoads&) = delete;

  // Loads the next file. To be called once for each; goes on after one that failed.
  Result<LoadSummary> Next();

  // The connection to the database, to which others need not be opened: to open one reads the whole
  // schema. None where there is none, or another file has the database's name.
  std::optional<SqliteDb> TakeConnection();

 private:
  Result<LoadSummary> LoadNext();
  void StartMore(std::optional<DatabaseLanding>& landing);
  Status StartReading(const InputFile& file, ReadAhead& ahead,
                      std::optional<DatabaseLanding>& landing);
  void LandDone();
  void Await(ReadAhead& ahead);
  void AwaitSmall();
  size_t Land(std::optional<DatabaseLanding>& landing);
  std::vector<TraceRows> ReadyFiles(DatabaseLanding& landing);
  bool LandTogether(const std::vector<TraceRows>& traces, DatabaseLanding& landing);
  Result<LoadSummary> LandAlone(ReadAhead& ahead, DatabaseLanding& landing);
  void Dispose(std::vector<RowsFile> rows);

  std::vector<InputFile> files_;
  std::filesystem::path database_;
  LoadOptions options_;
  FilesAtATime at_a_time_;
  size_t next_ = 0;                    // the file to land
  size_t started_ = 0;                 // files that are, or were, read ahead
  size_t turn_ = 0;                    // of the next file that is started
  std::unique_ptr<NextIds> next_ids_;  // of that
  std::unique_ptr<KeptConnection> kept_;
  std::shared_ptr<LoadingTurns> turns_;
  std::deque<std::unique_ptr<ReadAhead>> ahead_;
  std::deque<Result<LoadSummary>> landed_;  // files that are done, and still to be told of
  size_t alone_ = 0;  // so many are to land one by one, as they could not together
  std::future<void> disposing_;
};

}  // namespace tracedb
