// Reads SQL text from a file or from a descriptor, whole but bounded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "tracedb/base/result.h"

namespace tracedb {

inline constexpr size_t kQueryBytesMax = 16u << 20;

Result<std::string> ReadQueryFile(const std::filesystem::path& path);

// `name` is for errors: "standard input".
Result<std::string> ReadQueryDescriptor(int descriptor, std::string_view name);

}  // namespace tracedb
