#include "ingest/load/open_to_change.h"

namespace tracedb {

namespace {

void WaitForOthers(SqliteDb& db, const LoadOptions& options) {
  db.SetBusyTimeout(kBusyWaitMs, options.stop);
  if (options.stop != nullptr) db.StopWhen(*options.stop);
}

}  // namespace

Result<SqliteDb> OpenToChange(const std::filesystem::path& database, const LoadOptions& options) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(database, SqliteMode::kReadWrite));
  WaitForOthers(db, options);
  return db;
}

Result<StageableDb> OpenToStage(const std::filesystem::path& database, const LoadOptions& options) {
  TRACEDB_ASSIGN(to, StageableDb::Open(database));
  WaitForOthers(to.db(), options);
  return to;
}

}  // namespace tracedb
