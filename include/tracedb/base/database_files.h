// A database's files by their names: which file a name leads to, what SQLite keeps beside it, and
// what these hold. Nothing here locks or changes a file.
//
// Closing a descriptor of a file drops all locks that the process has on it (POSIX), SQLite's too:
// what reads a database here is for files that no connection of this process has open.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "tracedb/base/result.h"

namespace tracedb {

inline constexpr std::string_view kSqliteHeader("SQLite format 3\0", 16);
// SQLite's endings for what it keeps beside a database.
inline constexpr std::string_view kCompanionEndings[] = {"-journal", "-wal", "-shm"};

// With the symbolic links followed that the name itself is, to where nothing may be yet: SQLite
// keeps journals beside that file, and one database has one lock, whatever leads to it.
std::filesystem::path RealName(std::filesystem::path path);

// The name of its journal ("-journal"), its log ("-wal") or its index ("-shm").
std::filesystem::path CompanionOf(const std::filesystem::path& database, std::string_view ending);

// The database that such a name is used with: for its companions, or by an ingest for its lock and
// its rows. By the name alone; empty: it is another name.
std::filesystem::path OwnerOfName(const std::filesystem::path& name);

// An error where that database is there. SQLite, or the next ingest into it, would take what is put
// there for its own, and remove it.
Status CheckNameIsFree(const std::filesystem::path& name);

// Whether the journal beside the database would be played back if nobody is writing. As SQLite
// does, by its first byte: journals that are kept after a commit are empty or begin with zeros.
bool HasJournalToPlayBack(const std::filesystem::path& database);

// Whether it is a regular file that begins as SQLite's databases do.
bool IsSqliteFile(const std::filesystem::path& path);

bool IsSameFile(const std::filesystem::path& one, const std::filesystem::path& other);

// Tells whether another process is ready to write to a database and waits for its readers to end.
//
// That is a lock (SQLite calls it PENDING), not a journal: journals are there before, and may stay
// for ever. Keep it as long as any connection of this process to the file is open (see above).
class WriterWatch {
 public:
  // Null where the file cannot be opened.
  static std::shared_ptr<const WriterWatch> Open(const std::filesystem::path& database);
  ~WriterWatch();
  WriterWatch(const WriterWatch&) = delete;
  WriterWatch& operator=(const WriterWatch&) = delete;

  bool IsWriterWaiting() const;

 private:
  explicit WriterWatch(int file) : file_(file) {}
  const int file_;
};

}  // namespace tracedb
