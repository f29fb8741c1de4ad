// Changes to a SQLite database that others are reading, made aside and put in place all at once:
// through a connection that sees them as if they were there already, and as pages added past
// SQLite.
//
// Crash safe as SQLite is: what is changed in place is first written to a rollback journal of
// SQLite's format, so whoever opens the database after a crash gets the state before. While changes
// are made aside, others read on; other writers wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/pages/btree_page.h"

namespace tracedb {

class StagedVfs;

// A connection to a database, through which changes may be staged. It may be used for other work as
// well, before and after: its schema, which takes long to read, is read once.
class StageableDb {
 public:
  static Result<StageableDb> Open(const std::filesystem::path& database);
  StageableDb(StageableDb&&) noexcept;
  ~StageableDb();

  SqliteDb& db() { return *db_; }

 private:
  friend class StagedChanges;
  explicit StageableDb(std::unique_ptr<StagedVfs> vfs);

  std::unique_ptr<StagedVfs> vfs_;  // goes after the connection
  std::optional<SqliteDb> db_;
};

// Not thread safe.
class StagedChanges {
 public:
  struct Options {
    int wait_ms = 0;  // for readers, to put the changes in place
    const std::atomic<bool>* stop = nullptr;
    size_t memory_bytes_max = 0;  // of changed pages; the others go to a file
  };

  // Begins a transaction of `to`, which no writer can be within: what it does from now on are
  // changes, and so is what it commits. Null when the database is one to which pages cannot be
  // added: in WAL mode, with auto_vacuum, of a length that is not its header's, and the like.
  // Without a Commit() that succeeds, `to` must be closed afterwards: it has seen what never was.
  static Result<std::unique_ptr<StagedChanges>> Begin(StageableDb& to, Options options);
  // For Begin().
  class Key {
    friend class StagedChanges;
    Key() = default;
  };
  StagedChanges(Key key, StageableDb& to, Options options);
  // Without a Commit() that succeeded, the database is as it was.
  ~StagedChanges();
  StagedChanges(const StagedChanges&) = delete;
  StagedChanges& operator=(const StagedChanges&) = delete;

  PageSizes sizes() const { return sizes_; }
  uint32_t page_count() const { return page_count_; }
  Status ReadPage(uint32_t number, std::span<uint8_t> bytes) const;
  Status WritePage(uint32_t number, std::span<const uint8_t> bytes);
  // The number of a new page at the end, to be written or copied to. The transaction must have
  // been committed: SQLite numbers pages by itself.
  Result<uint32_t> NewPage();
  // `to` is a new page, and gets the contents of page `from` of the file `source` at Commit().
  // Given in the order of both. `source` must stay open until then.
  struct Copy {
    uint32_t from;
    uint32_t to;
  };
  // Looks at each page before it is written; one that is not fit for it ends the commit
  // with an error of kUnfit.
  using CheckPage = bool (*)(std::span<const uint8_t> page, PageSizes sizes);
  void CopyPages(int source, std::vector<Copy> copies, CheckPage check);

  Status Commit();

 private:
  friend struct StagedFile;

  Status Open();
  Status OpenChanges();
  Result<bool> ReadHeader();
  uint64_t Place(uint32_t number) const { return uint64_t{number - 1} * sizes_.page_bytes; }
  bool Changed(uint32_t number) const { return number < changed_.size() && changed_[number]; }
  Status WriteJournal();
  Status WriteNewPages();
  Status WriteCopies();
  Status WriteOldPages();
  Status LockOutReaders();
  Status RemoveJournal();
  Status GoBack();
  void GiveLockBack();
  Error Failed(const std::filesystem::path& file, const char* doing) const;
  Status WriteAll(int file, uint64_t offset, std::span<const uint8_t> bytes,
                  const std::filesystem::path& name) const;
  Status ReadAll(int file, uint64_t offset, std::span<uint8_t> bytes) const;

  StageableDb& to_;  // has the lock
  std::filesystem::path database_;
  std::filesystem::path journal_;
  Options options_;
  int file_ = -1;  // closed after to_ has given the lock back: closing it drops all of them
  // Changed pages by number, and a file without a name that has the others, each at its place.
  std::unordered_map<uint32_t, std::unique_ptr<uint8_t[]>> kept_;
  int changes_ = -1;
  PageSizes sizes_;
  uint32_t old_page_count_ = 0;
  uint32_t page_count_ = 0;
  std::vector<bool> changed_;  // by page number
  int source_ = -1;
  std::vector<Copy> copies_;
  CheckPage check_ = nullptr;
  bool journal_written_ = false;
  bool old_pages_touched_ = false;
};

}  // namespace tracedb
