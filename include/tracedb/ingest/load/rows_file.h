// The file in which a trace's rows are made: beside the database, NAME.partial-XXXXXXXXXXXXXXXX
// with random digits, and locked for as long as somebody works with it.
#pragma once

#include <filesystem>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"

namespace tracedb {

class RowsFile {
 public:
  // Empty. `database` is a real name.
  static Result<RowsFile> Make(const std::filesystem::path& database);
  ~RowsFile();  // takes the file away, unless it has landed
  RowsFile(RowsFile&& other) noexcept;
  RowsFile(const RowsFile&) = delete;
  RowsFile& operator=(const RowsFile&) = delete;
  RowsFile& operator=(RowsFile&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return file_; }
  // It has the database's name now. Closed at once: to close any descriptor of a file later would
  // take the locks away that SQLite has on it for this process.
  void Landed();

  // Removes what killed ingests into that database have left: files of such a name that hold our
  // rows, or nothing, and that nobody has locked.
  static void RemoveLeft(const std::filesystem::path& database);

 private:
  explicit RowsFile(std::filesystem::path path) : path_(std::move(path)) {}
  bool Open();

  std::filesystem::path path_;
  int file_ = -1;  // -1: it has landed
};

// A connection to such a file, within a transaction. The file is ours alone, so nothing needs to be
// safe before it lands. Once that is committed, pages may be added to the file past it.
Result<SqliteDb> OpenRows(const std::filesystem::path& rows_file, const LoadOptions& options);

// Whether a file's first page is that of a database of tracedb.
bool IsRowsOfTracedb(int file);

// With what the system says of errno.
Error FileError(const std::filesystem::path& path, const char* doing, const char* advice);
inline constexpr const char* kFolderAdvice =
    "check that the folder exists and may be written, or choose another place with --db";

}  // namespace tracedb
