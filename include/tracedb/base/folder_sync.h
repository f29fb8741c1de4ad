// Brings what has happened to the names in a folder to the disk.
#pragma once

#include <filesystem>

#include "tracedb/base/result.h"

namespace tracedb {

// The folder that `file` is in, or would be.
Status SyncFolderOf(const std::filesystem::path& file);

}  // namespace tracedb
