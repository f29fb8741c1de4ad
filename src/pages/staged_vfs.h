// A SQLite VFS in which one database file is, as long as there are changes to it on their way, what
// these make of it (StagedChanges); else, and all other files always, it is the system's. While it
// is the changes', locks are their matter, not SQLite's.
#pragma once

#include <sqlite3.h>

#include <string>

namespace tracedb {

class StagedChanges;

class StagedVfs {
 public:
  // `database` is the file's full name, as SQLite makes it.
  explicit StagedVfs(std::string database);
  ~StagedVfs();
  StagedVfs(const StagedVfs&) = delete;
  StagedVfs& operator=(const StagedVfs&) = delete;

  // From now on the file is these changes; none: the system's. Between transactions.
  void See(StagedChanges* staged) { staged_ = staged; }

  const char* name() const { return name_.c_str(); }

  // What SQLite calls a file by.
  static std::string FullName(const std::string& path);

 private:
  friend struct StagedFile;

  static int OpenFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
                      int* flags_out);
  // Of the changes.
  int Read(void* into, int bytes, sqlite3_int64 offset);
  int Write(const void* from, int bytes, sqlite3_int64 offset);
  sqlite3_int64 Size() const;
  void Truncate(sqlite3_int64 bytes);

  StagedChanges* staged_ = nullptr;
  std::string database_;
  std::string name_;
  sqlite3_vfs vfs_{};
};

}  // namespace tracedb
