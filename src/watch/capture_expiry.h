// Which captures of a database are old: by the time since they ended, or as the database is larger
// than it may be.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "tracedb/base/result.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/watch/watch_command.h"

namespace tracedb {

struct Expiry {
  bool any = false;             // went
  bool is_still_large = false;  // with but one capture left
};

// Takes out the oldest captures until none is older than `options.keep_time` and the database not
// larger than `options.keep_bytes`. The last to end always stays.
Result<Expiry> ExpireCaptures(const WatchOptions& options, const LoadOptions& load);

// Takes out what the database has of files that were cut short when they were loaded, have changed
// since, and were loaded again. `bytes_of` says how large a file is now, 0 where it is not known.
Result<bool> RemoveOutdated(const WatchOptions& options,
                            const std::function<uint64_t(const std::filesystem::path&)>& bytes_of,
                            const LoadOptions& load);

}  // namespace tracedb
