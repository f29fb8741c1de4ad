// The start of a file of rows: a database with the tables of the schema and no rows.
#pragma once

#include <filesystem>

#include "tracedb/base/result.h"

namespace tracedb {

// `path` is an empty file.
Status WriteEmptyDatabase(const std::filesystem::path& path);

}  // namespace tracedb
