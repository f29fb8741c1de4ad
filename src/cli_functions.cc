#include "cli_functions.h"

#include "tracedb/extension/interval_functions.h"
#include "tracedb/extension/replay_tables.h"

namespace tracedb {

Status AddFunctions(SqliteDb& db) {
  if (RegisterIntervalFunctions(db.handle()) != 0) return SqliteError(db.handle(), "");
  return RegisterReplayTables(db);
}

}  // namespace tracedb
