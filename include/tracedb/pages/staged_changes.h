// Changes to a SQLite database that others are reading, made aside and put in place all at once:
// through connections that see them as if they were there already, and as pages added past SQLite.
//
// Crash safe as SQLite is: what is changed in place is first written to a rollback journal of
// SQLite's format, so whoever opens the database after a crash gets the state before. New pages are
// written after the database's end at once, where nobody looks until the header says so. While
// changes are made, others read on; other writers wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/pages/btree_page.h"

namespace tracedb {

class PageCopies;
class RollbackJournal;
class StagedVfs;

// A connection to a database that also sees changes to it on their way, time and again: to open one
// reads the whole schema. Whoever has it drops it when changes that it saw were not committed.
struct StagedConnection {
  std::shared_ptr<StagedVfs> vfs;
  std::optional<SqliteDb> db;  // closed first

  static Result<StagedConnection> Open(const std::filesystem::path& database);
  // After changes that were committed, when their object is gone: the database itself again, and
  // what is written to it is safe from a crash.
  Status LeaveChanges();
  void Drop() {
    db.reset();
    vfs.reset();
  }
};

// Not thread safe.
class StagedChanges {
 public:
  struct Wait {
    int ms = 0;  // for other writers and, to put the changes in place, readers
    const std::atomic<bool>* stop = nullptr;
  };

  // Locks the database for writing. Null when it is one to which pages cannot be added: in WAL
  // mode, with auto_vacuum, of a length that is not its header's, and the like.
  static Result<std::unique_ptr<StagedChanges>> Begin(const std::filesystem::path& database,
                                                      Wait wait);
  // For Begin().
  class Key {
    friend class StagedChanges;
    Key() = default;
  };
  StagedChanges(Key key, std::filesystem::path database, Wait wait, SqliteDb holder);
  // Without a Commit() that succeeded, the database is as it was.
  ~StagedChanges();
  StagedChanges(const StagedChanges&) = delete;
  StagedChanges& operator=(const StagedChanges&) = delete;

  // A connection that sees the database with the changes, and whose commits are changes. To be
  // closed before pages are added here.
  Result<SqliteDb> Connect();
  // The same with one that is kept, or will be, until this object goes: without open statements
  // when pages are added.
  Status Connect(StagedConnection& kept);

  PageSizes sizes() const { return sizes_; }
  uint32_t page_count() const { return page_count_; }
  Status ReadPage(uint32_t number, std::span<uint8_t> bytes) const;
  Status WritePage(uint32_t number, std::span<const uint8_t> bytes);
  // The number of a new page at the end, to be written or copied to.
  Result<uint32_t> NewPage();
  // `to` is a new page, and has the contents of page `from` of the file `source` from now on.
  // Given in the order of both. `source` must stay open for as long as this is there. The pages are
  // put in place while other changes are made; they are part of the database at Commit().
  struct Copy {
    uint32_t from;
    uint32_t to;
  };
  // Looks at each page before it is written; one that is not fit for it ends the commit
  // with an error of kUnfit.
  using CheckPage = bool (*)(std::span<const uint8_t> page, PageSizes sizes);
  Status CopyPages(int source, std::vector<Copy> copies, CheckPage check);
  // Lets connections see what was changed here. Before one is used again after pages were added or
  // written here.
  Status CountPages();

  Status Commit();

 private:
  friend class StagedVfs;

  Status Open();
  Result<bool> ReadHeader();
  bool Changed(uint32_t number) const { return number < changed_.size() && changed_[number]; }
  bool Added(uint32_t number) const { return number < added_.size() && added_[number]; }
  std::vector<uint32_t> ChangedOldPages() const;
  Status BeginJournal();
  Status WriteNewPages();
  Status WriteOldPages();
  Status PutInPlace(uint32_t number, std::span<uint8_t> page) const;
  Status LockOutReaders();
  Status RemoveJournal();
  Status GoBack();

  std::filesystem::path database_;
  Wait wait_;
  int file_ = -1;     // closed after holder_: closing it drops the process's locks on the file
  int changes_ = -1;  // a file without a name: changed old pages, each at its own place
  std::optional<SqliteDb> holder_;  // has the lock
  std::shared_ptr<StagedVfs> vfs_;
  PageSizes sizes_;
  uint32_t old_page_count_ = 0;
  uint32_t page_count_ = 0;
  std::vector<bool> changed_;                 // by page number: in changes_
  std::vector<bool> added_;                   // the same: after the database's end, in place
  std::unique_ptr<RollbackJournal> journal_;  // where there is one
  std::unique_ptr<PageCopies> copies_;
  bool old_pages_touched_ = false;
  bool is_committed_ = false;
};

}  // namespace tracedb
