// Where the answer to `query` goes, in which format, and how a table fits the screen.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/query/doc/query_doc.h"
#include "tracedb/query/run/query_command.h"
#include "tracedb/text/output_stream.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

bool WritesToStdout(const QueryOptions& options);
bool IsForPerson(const QueryOptions& options);

// By --format, else by the name of -o.
std::optional<Format> AskedFormat(const QueryOptions& options);
Format FormatOf(const QueryOptions& options);

std::unique_ptr<RowSink> SinkFor(const QueryOptions& options, const QueryDoc& doc,
                                 OutputStream& output);
std::unique_ptr<RowSink> PlotSinkFor(const QueryOptions& options, const QueryDoc& doc,
                                     OutputStream& output);

// What is read beside the database of the options, and so is not to be written over.
struct BesideOutput {
  std::vector<std::filesystem::path> others = {};  // databases
  std::filesystem::path sql_file = {};
};
// Lets `write` write to where the options say. A file is put in place only when the result is whole
// (which it is when only an assertion did not hold).
Result<QueryOutcome> ToOutput(const QueryOptions& options, const BesideOutput& beside,
                              const std::function<Result<QueryOutcome>(OutputStream&)>& write);

// How wide prose may be on the terminal; 0: as it is.
size_t ProseWidth();

}  // namespace tracedb
