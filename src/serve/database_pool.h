// Read-only connections to the one database, for whoever asks for it: kept open between requests,
// and opened anew when another file has the database's name. Also knows when its content changed.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/base/database_files.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class DatabasePool {
  // A connection, which file it is of, and what keeps that file's locks in view: all connections to
  // a file share one watch, which goes after the last of them (see WriterWatch).
  struct Opened {
    std::shared_ptr<const WriterWatch> watch;
    SqliteDb db;
    std::string file;
  };

 public:
  // One connection, given back when this goes. Its statements must have gone before.
  class Lease {
   public:
    Lease(DatabasePool& pool, Opened opened)
        : pool_(&pool), opened_(std::make_unique<Opened>(std::move(opened))) {}
    ~Lease();
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;

    SqliteDb& db() { return opened_->db; }

   private:
    DatabasePool* pool_;
    std::unique_ptr<Opened> opened_;
  };

  // `on_open` may be empty; see ServeOptions.
  DatabasePool(std::filesystem::path path, std::function<Status(SqliteDb&)> on_open)
      : path_(std::move(path)), on_open_(std::move(on_open)) {}

  Result<Lease> Borrow();

  // A text that is another one whenever the database may be another one.
  Result<std::string> Version();
  // Before a connection is used for a new answer: returns once no writer waits. Readers of one
  // process share a lock, so those that come would keep out for ever who waits for those that are
  // there. An error when that takes too long, or `give_up` says so.
  Status LetWriterIn(const std::function<bool()>& give_up) const;
  // Whether another process is ready to write to the database, and waits for its readers to end.
  bool IsWriterWaiting() const;

 private:
  Result<Opened> Open();
  void GiveBack(Opened opened);
  std::shared_ptr<const WriterWatch> WatchOf(const std::string& file);

  const std::filesystem::path path_;
  const std::function<Status(SqliteDb&)> on_open_;
  std::mutex idle_mutex_;
  std::vector<Opened> idle_;
  std::mutex version_mutex_;
  std::optional<Opened> version_;  // asked for PRAGMA data_version only
  mutable std::mutex watch_mutex_;
  std::map<std::string, std::weak_ptr<const WriterWatch>> watches_;  // by file
  std::shared_ptr<const WriterWatch> watch_;                         // of the one opened last
};

}  // namespace tracedb
