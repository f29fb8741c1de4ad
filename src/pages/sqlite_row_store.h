// Rows into a database through SQLite: gathered, and inserted by INSERT ... SELECT from a virtual
// table over what was gathered, which is the fastest way that SQLite itself offers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/pages/row_store.h"

namespace tracedb {

// Beside the cache it takes 2 MiB at most. One transaction without a journal: after a failure the
// file is litter.
Result<std::unique_ptr<RowStore>> OpenSqliteRowStore(const std::filesystem::path& path,
                                                     const std::vector<std::string>& tables,
                                                     int64_t cache_kib);

}  // namespace tracedb
