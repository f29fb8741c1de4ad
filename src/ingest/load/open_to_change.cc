#include "ingest/load/open_to_change.h"

#include <utility>

namespace tracedb {
namespace {

void Prepare(SqliteDb& db, const LoadOptions& options) {
  db.SetBusyTimeout(kBusyWaitMs, options.stop);
  if (options.stop != nullptr) db.StopWhen(*options.stop);
}

}  // namespace

Result<SqliteDb> OpenToChange(const std::filesystem::path& database, const LoadOptions& options) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(database, SqliteMode::kReadWrite));
  Prepare(db, options);
  return db;
}

Status OpenToChange(const std::filesystem::path& database, const LoadOptions& options,
                    StagedConnection& connection) {
  TRACEDB_ASSIGN(opened, StagedConnection::Open(database));
  Prepare(*opened.db, options);
  connection = std::move(opened);
  return Done{};
}

}  // namespace tracedb
