// What SQLite may open.
#pragma once

namespace tracedb {

// From the first call on SQLite opens files and folders in this process, and nothing that it could
// wait for: a pipe or a device in a database's place is a database that cannot be opened.
void LetSqliteOpenFilesOnly();

}  // namespace tracedb
