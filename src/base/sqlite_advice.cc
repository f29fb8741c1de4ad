#include "base/sqlite_advice.h"

#include <sqlite3.h>

#include <cerrno>

#include "tracedb/base/sqlite_db.h"

namespace tracedb {

std::string AdviceAfter(int sqlite_code, int system_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
      return "free some space on that disk, or put the database elsewhere with --db";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return "check that the file and its folder exist and may be written, or choose another "
             "place with --db";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process is writing to it: try again when that has ended";
    case SQLITE_CORRUPT:
      return kDamagedAdvice;
    case SQLITE_NOTADB:
      return "it is no SQLite database, or a damaged one: choose another file with --db";
    case SQLITE_IOERR:
      if (system_code == EFBIG) {
        return "a limit (ulimit -f) or the file system allows no longer file; large results are "
               "put in temporary files too, in $SQLITE_TMPDIR or $TMPDIR";
      }
      return "the disk reports an error: see the system's log, and check free space and quota";
    default:
      return "";
  }
}

}  // namespace tracedb
