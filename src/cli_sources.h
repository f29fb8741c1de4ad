// Of what ingest was given: which files are traces, which are other things that a job leaves, and
// which say nothing.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "cli_options.h"
#include "tracedb/base/result.h"
#include "tracedb/ingest/load/source_load.h"
#include "tracedb/ingest/read/input_files.h"

namespace tracedb {

struct SourceFile {
  InputFile file;
  const SourceReader* reader;
};

struct SortedInputs {
  std::vector<InputFile> traces;
  std::vector<SourceFile> sources;
  std::optional<Error>
      failed;  // the first file of a folder, named like a trace, that cannot be read
};

// By content. A file that was named itself and is nothing else is taken for a trace, so that it is
// said why it is none. Files of folders that are neither are said in one line a folder.
Result<SortedInputs> SortInputs(const GlobalOptions& global, std::vector<InputFile> files,
                                const std::atomic<bool>& stop);

// "job/log.txt: training log, 14 rows; 0.1 MB in 0.01 s"
std::string SourceLine(const SourceSummary& summary, const std::optional<std::string>& run);
std::string SourceJson(const SourceSummary& summary);

}  // namespace tracedb
