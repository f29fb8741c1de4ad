#include "ingest/load/open_to_change.h"

namespace tracedb {

Result<SqliteDb> OpenToChange(const std::filesystem::path& database, const LoadOptions& options) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(database, SqliteMode::kReadWrite));
  db.SetBusyTimeout(kBusyWaitMs, options.stop);
  if (options.stop != nullptr) db.StopWhen(*options.stop);
  return db;
}

}  // namespace tracedb
