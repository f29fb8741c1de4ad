// A SQLite VFS in which one database file is the system's until changes to it are staged: while
// they are, SQLite reads and writes them instead (staged_changes.h), and its journal and its locks,
// but for those that it has, are none. All other files are the system's.
#pragma once

#include <sqlite3.h>

#include <string>

namespace tracedb {

class StagedChanges;
struct StagedFile;

class StagedVfs {
 public:
  // `database` is the file's full name, as SQLite makes it.
  explicit StagedVfs(std::string database);
  ~StagedVfs();
  StagedVfs(const StagedVfs&) = delete;
  StagedVfs& operator=(const StagedVfs&) = delete;

  const char* name() const { return name_.c_str(); }
  const std::string& database() const { return database_; }

  // From now on the file is what `staged` says; null: what it is.
  void Stage(StagedChanges* staged) { staged_ = staged; }
  const StagedChanges* staged() const { return staged_; }
  // The system's own file, of the connection that is open. Null: there is none.
  sqlite3_file* real_file() const;

  // What SQLite calls a file by.
  static std::string FullName(const std::string& path);

 private:
  friend struct StagedFile;

  static int OpenFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
                      int* flags_out);
  static int Delete(sqlite3_vfs* vfs, const char* name, int sync);
  bool IsStagedJournal(const char* name) const;

  StagedChanges* staged_ = nullptr;
  StagedFile* file_ = nullptr;  // while it is open
  std::string database_;
  std::string journal_;
  std::string name_;
  sqlite3_vfs vfs_{};
};

}  // namespace tracedb
