// Options of the command line for files that are no traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tracedb {

// What a person says of a source on the command line.
struct SourceOptions {
  std::optional<int64_t> utc_offset_ns;  // --tz: of local times without a zone
  // For a reader that has to keep a file's values in memory: LoadLimits::source_bytes_max.
  size_t memory_bytes = size_t{80} << 20;
};

}  // namespace tracedb
