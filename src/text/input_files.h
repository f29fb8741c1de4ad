// Which files a database was made from, and which hold a job's summaries: an output takes the place
// of none of them unasked.
#pragma once

#include <filesystem>

#include "tracedb/base/result.h"

namespace tracedb {

// Whether `file` is a trace or another file whose rows the database has. No database of ours has
// none. An error: the database is ours, and could not be read.
Result<bool> IsInputOf(const std::filesystem::path& database, const std::filesystem::path& file);

// Whether it lies in a folder that `ingest --shard` or `gather` has filled, where each file is
// wanted as it was written.
bool IsOfSummary(const std::filesystem::path& file);

}  // namespace tracedb
