#include "base/sqlite_memory.h"

#include <sqlite3.h>

namespace tracedb {
namespace {

thread_local uint64_t refused = 0;

// SQLite's allocator logs each piece that it does not get.
void NoteLogged(void*, int code, const char*) {
  if ((code & 0xff) == SQLITE_NOMEM) ++refused;
}

}  // namespace

uint64_t RefusedSqlitePieces() { return refused; }

void WatchSqliteMemory() { sqlite3_config(SQLITE_CONFIG_LOG, NoteLogged, nullptr); }

}  // namespace tracedb
