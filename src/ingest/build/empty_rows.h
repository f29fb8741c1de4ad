// The start of a file of rows: a database with the tables of the schema and no rows.
#pragma once

#include <filesystem>

#include "tracedb/base/result.h"
#include "tracedb/schema/empty_database.h"

namespace tracedb {

// `path` is an empty file.
Status WriteEmptyDatabase(const std::filesystem::path& path, EmptyDatabase::Schema schema);

// Has a file that began so say this of itself from now on. Whoever has it open has seen another
// schema: connections are opened after this.
Status ShowSchema(const std::filesystem::path& path, EmptyDatabase::Schema schema);

}  // namespace tracedb
