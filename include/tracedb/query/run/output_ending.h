// What the name of an output says of its format: "x.parquet".
#pragma once

#include <filesystem>
#include <optional>

#include "tracedb/base/result.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

// What a name of that ending says; nothing where it is of no format.
std::optional<Format> FormatByEnding(const std::filesystem::path& output);

// An error where the name is that of another format, or bytes would go to a terminal. `source` is
// the query's name or file, for advice; it may be empty.
Status CheckEnding(const std::filesystem::path& output, std::optional<Format> format,
                   const std::string& source, bool to_terminal);

}  // namespace tracedb
