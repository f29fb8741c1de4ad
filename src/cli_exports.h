// Exports of Nsight Systems among the files that ingest is given.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "cli_options.h"
#include "tracedb/base/result.h"
#include "tracedb/ingest/read/input_files.h"

namespace tracedb {

struct SplitInputs {
  std::vector<InputFile> files;
  std::optional<Error> failed;  // the first file of a folder that cannot be read
};

// With each export, which is told by its content, as the traces that it holds; reports are made
// exports by nsys. Other SQLite files
// of a folder stay as they are; one that was named itself is an error, which says what it is.
Result<SplitInputs> SplitExports(const GlobalOptions& global, const IngestOptions& options,
                                 const std::atomic<bool>& stop, std::vector<InputFile> files);

}  // namespace tracedb
