// A folder of files that is there whole, or as it was before.
#pragma once

#include <filesystem>
#include <functional>

#include "tracedb/base/result.h"

namespace tracedb {

inline constexpr const char* kPlaceAdvice =
    "check that the folder exists, may be written, and has room";

// "PATH: cannot create: why", of errno.
Error FolderError(const std::filesystem::path& path, const char* doing);

// `write` fills a hidden folder beside `folder`, which then takes its name in one step. What
// earlier ones that were killed have left there goes first; what one that runs is filling stays.
Status LandFolder(const std::filesystem::path& folder,
                  const std::function<Status(const std::filesystem::path& made)>& write);

}  // namespace tracedb
