// Of what ingest was given: which files are traces, which are other things that a job leaves, and
// which say nothing; and how what was loaded is said.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "cli_options.h"
#include "tracedb/base/result.h"
#include "tracedb/ingest/load/source_load.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/ingest/read/input_files.h"

namespace tracedb {

struct SplitInputs {
  std::vector<InputFile> files;
  std::optional<Error> failed;  // the first file of a folder that cannot be read
};

// With each export of Nsight Systems, which is known by its content, as the traces that it holds;
// reports are made exports by nsys. Other SQLite files of a folder stay as they are; one that was
// named itself is an error, which says what it is.
Result<SplitInputs> SplitExports(const GlobalOptions& global, const IngestOptions& options,
                                 const std::atomic<bool>& stop, std::vector<InputFile> files);

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

// "job/rank3.json.gz: rank 3, 1,234 events, ..."; with lines below it for what is wrong.
std::string TraceLine(const LoadSummary& summary, const std::optional<std::string>& run);
std::string TraceJson(const LoadSummary& summary);
// On standard error: a rank that was guessed, a file that was cut short, events that were not read.
void SayWarnings(const GlobalOptions& global, const LoadSummary& summary,
                 std::optional<int64_t> asked_rank);

// "job/log.txt: training log, 14 rows; 0.1 MB in 0.01 s"
std::string SourceLine(const SourceSummary& summary, const std::optional<std::string>& run);
std::string SourceJson(const SourceSummary& summary);

}  // namespace tracedb
