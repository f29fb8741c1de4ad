// A SQLite connection and statement that close themselves. The few other files that include
// sqlite3.h are named in tests/tidy/tidy_test.py (C_INTERFACES).
//
// Not thread safe: a connection and its statements belong to one thread at a time; only
// Interrupt() may be called from another thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tracedb {

enum class SqlType { kNull, kInteger, kReal, kText, kBlob };

class SqliteStatement {
 public:
  // Parameters are numbered from 1, columns from 0. Texts are copied when bound.
  Status Bind(int parameter, int64_t value);
  Status Bind(int parameter, double value);
  Status Bind(int parameter, std::string_view text);
  Status BindNull(int parameter);
  // NULL where there is none.
  template <typename T>
  Status BindOptional(int parameter, const std::optional<T>& value) {
    return value.has_value() ? Bind(parameter, *value) : BindNull(parameter);
  }
  // NULL where the text is empty.
  Status BindTextOrNull(int parameter, std::string_view text) {
    return text.empty() ? BindNull(parameter) : Bind(parameter, text);
  }
  // Binds the value that `other`, which stands on a row, has in `column`.
  Status BindColumnOf(int parameter, const SqliteStatement& other, int column);

  // True: a row is ready. False: there are no more, and will be none until Reset.
  Result<bool> Step();
  // Steps to the end, throwing rows away, and goes back to the start.
  Status Run();
  // Back to the start; bound values stay.
  void Reset();

  int ColumnCount() const;
  std::string_view ColumnName(int column) const;  // lives as long as the statement
  SqlType Type(int column) const;
  int64_t Int(int column) const;
  std::optional<int64_t> OptionalInt(int column) const;  // none: NULL
  std::optional<std::string> OptionalText(int column) const;
  double Real(int column) const;
  // The value as SQLite's own text of it (REAL with 15 digits); lives until the next Step.
  std::string_view Text(int column) const;

  int ParameterCount() const;
  std::string_view ParameterName(int parameter) const;  // with its ':'; empty when it has none
  bool IsReadOnly() const;                              // it changes nothing in the database file
  bool IsExplain() const;
  std::string Sql() const;

 private:
  friend class SqliteDb;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  bool done_ = false;
};

enum class SqliteMode {
  kReadOnly,
  kReadWrite,
  kCreate,
  kFrozen,  // read-only, without locks: for a file in which nothing that is read changes
};

class SqliteDb {
 public:
  // All but kCreate want a file that exists. `vfs` is the name of a registered VFS; null is the
  // system's.
  static Result<SqliteDb> Open(const std::filesystem::path& path, SqliteMode mode,
                               const char* vfs = nullptr);
  // A database of its own, kept in memory and, when it grows, in a temporary file.
  static Result<SqliteDb> OpenInMemory();

  // A connection that somebody else has opened, and closes: as SQLite gives it to a function.
  static SqliteDb Borrow(sqlite3* db);

  // Runs all the statements in `sql`; rows are thrown away.
  Status Execute(std::string_view sql);
  // Compiles the first statement of `sql`; what follows it goes to *rest when given. An empty
  // statement (only blanks and comments) is an error.
  Result<SqliteStatement> Prepare(std::string_view sql, std::string_view* rest = nullptr);
  // The single integer that `sql` selects; 0 when it selects NULL or no row.
  Result<int64_t> Integer(std::string_view sql);
  // What a file of the database would hold.
  Result<std::vector<uint8_t>> Bytes();

  // Where in its text the last Prepare failed, in bytes; -1 when SQLite does not know.
  int ErrorOffset() const;
  // Whether "x" in double quotes is a text when no column is called x (SQLite's default). Without,
  // a mistyped column name is an error.
  void AllowDoubleQuotedText(bool allow);

  // How long to wait for a lock that another connection has; not any longer once `stop` is true.
  void SetBusyTimeout(int timeout_ms, const std::atomic<bool>* stop = nullptr);
  // For a file that nobody vouches for: its schema runs nothing, nothing of it is taken for sound,
  // and no value is longer than so many bytes.
  Status Distrust(int value_bytes_max);
  // From now on only reading is allowed: no writes, no ATTACH, no PRAGMA that changes anything; and
  // no value of over 64 MiB.
  void RestrictToReading();
  // What runs on this connection stops soon after `stop` has become true.
  void StopWhen(const std::atomic<bool>& stop);
  // As StopWhen, when `asked` returns true: it is called every millisecond or so while something
  // runs, on that thread. An empty function takes it back.
  void StopIf(std::function<bool()> asked);
  // What must be there for as long as the connection is, such as its VFS.
  void KeepUntilClosed(std::shared_ptr<const void> what) { until_closed_ = std::move(what); }
  // Stops what runs on this connection now; may be called from another thread.
  void Interrupt();

  const std::filesystem::path& path() const { return path_; }
  sqlite3* handle() const { return db_.get(); }  // for registering functions

 private:
  struct Close {
    void operator()(sqlite3* db) const;
    bool is_borrowed;
  };
  struct BusyWait {
    static constexpr int kMsEach = 10;
    int tries_max = 0;
    const std::atomic<bool>* stop = nullptr;
  };
  SqliteDb(sqlite3* db, std::filesystem::path path, bool is_borrowed = false)
      : db_(db, Close{is_borrowed}), path_(std::move(path)) {}
  std::unique_ptr<BusyWait> busy_wait_ =
      std::make_unique<BusyWait>();                 // the connection points at it
  std::unique_ptr<std::function<bool()>> stop_if_;  // and at this
  std::shared_ptr<const void> until_closed_;
  std::unique_ptr<sqlite3, Close> db_;
  std::filesystem::path path_;
};

// Each sort of SQLite keeps 250 pages in memory before it goes to a file, however small its cache:
// with this 64, or the cache. Nor does SQLite count its memory, which takes a lock for each piece.
// Only before the first connection is opened.
void PrepareSqliteForIngest();

// What to call a file in SQL (ATTACH), where some names would mean something else.
std::string SqliteFileName(const std::filesystem::path& path);
// The file as a URI with SQLite's settings for it, such as "mode=ro", whatever its name has in it.
std::string SqliteUri(const std::filesystem::path& path, std::string_view settings);

// Whether the last statement of `sql` ends with its semicolon, as far as quotes and comments tell.
bool EndsStatement(const std::string& sql);

// "busy", "full", "read-only": what SQLite's primary result codes mean to a person, with advice.
Error SqliteError(sqlite3* db, std::string_view where);
inline constexpr const char* kDamagedAdvice =
    "the database is damaged: ingest its traces again into a new one, named with --db";

}  // namespace tracedb
