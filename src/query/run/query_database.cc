#include "tracedb/query/run/query_database.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "tracedb/base/database_files.h"
#include "tracedb/schema/database_id.h"

namespace tracedb {
namespace {

// Reading is all we do: what sqlite_db takes for trouble with output is trouble with our input.
Error Unreadable(Error error, const std::filesystem::path& path) {
  error.kind = ErrorKind::kInput;
  const std::string name = path.string();
  if (!error.what.starts_with(name + ": ")) error.what = fmt::format("{}: {}", name, error.what);
  return error;
}

Error NotOurs(const std::filesystem::path& path, std::string_view what) {
  return Error{ErrorKind::kInput, fmt::format("{}: {}", path.string(), what),
               "make one with: tracedb ingest FILE...; or name another with --db"};
}

Status CheckFile(const std::filesystem::path& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (status.type() == std::filesystem::file_type::not_found) {
    return Error{ErrorKind::kInput, fmt::format("{}: there is no such database", path.string()),
                 "make it with: tracedb ingest FILE...; or name another with --db"};
  }
  if (code) {
    return Error{ErrorKind::kInput, fmt::format("{}: {}", path.string(), code.message()), ""};
  }
  if (status.type() == std::filesystem::file_type::directory) {
    return NotOurs(path, "this is a folder, not a database");
  }
  if (status.type() != std::filesystem::file_type::regular) {
    return NotOurs(path, "this is a pipe, a socket or a device, not a database");
  }
  if (std::filesystem::file_size(path, code) == 0 && !code) {
    return NotOurs(path, "this file is empty, not a database");
  }
  return Done{};
}

Status CheckMarks(SqliteDb& db, const std::filesystem::path& path) {
  auto id = db.Integer("PRAGMA application_id");
  if (!id.ok()) {
    Error error = Unreadable(std::move(id).error(), path);
    if (error.what.ends_with("file is not a database")) {
      return NotOurs(path, "this file is not a SQLite database");
    }
    return error;
  }
  if (id.value() != kApplicationId) {
    return NotOurs(path, "this SQLite database was not made by tracedb");
  }
  auto schema = db.Integer("PRAGMA user_version");
  if (!schema.ok()) return Unreadable(std::move(schema).error(), path);
  if (schema.value() > kSchemaVersion) {
    return Error{ErrorKind::kInput,
                 fmt::format("{}: made by a newer tracedb (schema {}; tracedb {} reads {})",
                             path.string(), schema.value(), TRACEDB_VERSION, kSchemaVersion),
                 "use that version, or ingest the traces again with this one"};
  }
  if (schema.value() < kSchemaVersion) {
    return Error{ErrorKind::kInput,
                 fmt::format("{}: made by an older tracedb (schema {}; tracedb {} reads {})",
                             path.string(), schema.value(), TRACEDB_VERSION, kSchemaVersion),
                 "ingest the traces again into a new database: tracedb ingest --db NEW FILE..."};
  }
  return Done{};
}

// An ingest that was killed while its trace landed leaves SQLite's journal. Only a connection that
// may write can put the database back to what it was before; reading does that by itself. Where
// it cannot be done, opening for reading says why.
void RollBackKilledIngest(const std::filesystem::path& path, int busy_timeout_ms) {
  if (!HasJournalToPlayBack(path)) return;
  auto db = SqliteDb::Open(path, SqliteMode::kReadWrite);
  if (!db.ok()) return;
  db.value().SetBusyTimeout(busy_timeout_ms);
  const auto read = db.value().Integer("SELECT count(*) FROM sqlite_schema");
  (void)read;
}

}  // namespace

Result<SqliteDb> OpenTraceDatabase(const std::filesystem::path& path, int busy_timeout_ms) {
  TRACEDB_TRY(CheckFile(path));
  RollBackKilledIngest(path, busy_timeout_ms);
  auto opened = SqliteDb::Open(path, SqliteMode::kReadOnly);
  if (!opened.ok()) {
    Error error = Unreadable(std::move(opened).error(), path);
    error.advice = "check that you may read the file, or name another with --db";
    return error;
  }
  SqliteDb db = std::move(opened).value();
  db.SetBusyTimeout(busy_timeout_ms);
  TRACEDB_TRY(CheckMarks(db, path));
  return db;
}

}  // namespace tracedb
