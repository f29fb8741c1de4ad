// A file that is no trace -> rows in a database: told by how it begins, read by the reader of its
// kind, and landed whole or not at all, as a trace is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tracedb/base/result.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/ingest/read/input_files.h"
#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

struct SourceSummary {
  std::string path;
  std::string kind;
  bool skipped = false;     // its content was in the database already
  bool unfinished = false;  // it breaks off, and only what is whole was asked for
  bool replaced = false;    // what the same file held before was taken out
  int64_t source_id = 0;
  uint64_t file_bytes = 0;
  uint64_t text_bytes = 0;
  uint64_t rows = 0;
  bool complete = true;
  double seconds = 0;
  SourceIssues issues;
};

// The reader of the file's kind; null: it is of no kind that is known, empty, or no regular file.
// An error: it cannot be read.
Result<const SourceReader*> TellSourceFile(const std::filesystem::path& path);

// Loads one file into `database`, which is made when it is not there. A file that was read before
// and has changed since (a log that has grown) takes the place of what it was.
Result<SourceSummary> LoadSource(const InputFile& input, const SourceReader& reader,
                                 const std::filesystem::path& database, const LoadOptions& options);

}  // namespace tracedb
