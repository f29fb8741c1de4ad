#include "cli_functions.h"

#include "tracedb/extension/cost_functions.h"
#include "tracedb/extension/database_option.h"
#include "tracedb/extension/interval_functions.h"
#include "tracedb/extension/replay_tables.h"
#include "tracedb/extension/stream_tables.h"

namespace tracedb {

Status AddFunctions(SqliteDb& db) {
  if (RegisterIntervalFunctions(db.handle()) != 0) return SqliteError(db.handle(), "");
  if (RegisterCostFunctions(db.handle()) != 0) return SqliteError(db.handle(), "");
  TRACEDB_TRY(RegisterDatabaseOption(db));
  TRACEDB_TRY(RegisterStreamTables(db));
  return RegisterReplayTables(db);
}

}  // namespace tracedb
