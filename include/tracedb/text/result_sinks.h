// The sinks that MakeSink chooses from, and what they have in common.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tracedb/base/sqlite_db.h"
#include "tracedb/text/output_stream.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

std::unique_ptr<RowSink> MakeCsvSink(const SinkOptions& options, OutputStream& output);
std::unique_ptr<RowSink> MakeTsvSink(const SinkOptions& options, OutputStream& output);
std::unique_ptr<RowSink> MakeJsonSink(OutputStream& output);    // one array a result
std::unique_ptr<RowSink> MakeNdjsonSink(OutputStream& output);  // one object a line
std::unique_ptr<RowSink> MakeMarkdownSink(OutputStream& output);
std::unique_ptr<RowSink> MakeTableSink(const SinkOptions& options, OutputStream& output);
std::unique_ptr<RowSink> MakeArrowSink(const SinkOptions& options, OutputStream& output);
std::unique_ptr<RowSink> MakeParquetSink(const SinkOptions& options, OutputStream& output);

// An object with a key twice loses one value in most readers: the second "a" becomes "a_2".
std::vector<std::string> DistinctNames(std::span<const std::string> names);

// A value of the row that the statement stands on.
Cell ReadCell(const SqliteStatement& row, int column);

// The value as it is: nothing for NULL, shortest text for reals, hexadecimal for blobs.
void AppendCell(std::string& out, const Cell& cell);

}  // namespace tracedb
