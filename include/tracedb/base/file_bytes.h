// Bytes of a file, without a buffer of the C library: where there is no memory for that, a
// file that is there would pass for one that cannot be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace tracedb {

// How many bytes there are from `at` on, at most as many as there is room for. Nothing: it is no
// regular file, or cannot be read. A pipe in its place is not waited for, and loses nothing.
std::optional<size_t> ReadFileAt(const std::filesystem::path& path, int64_t at,
                                 std::span<char> bytes);

// At most so many of its first bytes.
std::optional<std::string> ReadFileStart(const std::filesystem::path& path, size_t bytes_max);

// The same of what may be a pipe, which is waited for until it has so many, or ends.
std::optional<std::string> ReadStream(const std::filesystem::path& path, size_t bytes_max);

}  // namespace tracedb
