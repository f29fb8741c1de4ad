#include "ingest/load/stored_views.h"

#include "tracedb/schema/empty_database.h"

namespace tracedb {

Status StoreViews(SqliteDb& db) {
  TRACEDB_TRY(db.Execute("PRAGMA writable_schema = ON"));
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, "
                                    "sql) VALUES ('view', ?1, ?1, 0, ?2)"));
  for (const EmptyDatabase::View& view : EmptyDatabase::views()) {
    TRACEDB_TRY(insert.Bind(1, view.name));
    TRACEDB_TRY(insert.Bind(2, view.sql));
    TRACEDB_TRY(insert.Run());
  }
  return db.Execute("PRAGMA writable_schema = OFF");
}

}  // namespace tracedb
