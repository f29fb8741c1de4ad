// The three stages of reading a trace, on threads of their own, with bounded queues between them.
//
// Whoever fails closes the queues, so that the neighbours stop by themselves. Every window and
// batch there will ever be is made at the start and goes round.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ingest/build/record_builder.h"
#include "ingest/frame/header_reader.h"
#include "tracedb/base/result.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/ingest/read/byte_source.h"

namespace tracedb {

// What the reading stage found out beside the events.
struct ReadOutcome {
  HeaderReader::Entries header;
  EventIssues issues;
  bool complete = false;
  bool array_form = false;  // the file is a bare array
  uint64_t file_bytes = 0;
  uint64_t text_bytes = 0;
  std::string text_hash;
  std::string file_hash;  // empty when the file was not read to its end
};

// Reads `input` to its end and gives every batch of events to `builder`, in order, on the calling
// thread. An error: `input` cannot be read or is no trace, rows cannot be written, or a stop was
// asked for.
Result<ReadOutcome> RunPipeline(const InputFile& input, const LoadOptions& options,
                                RecordBuilder& builder);

}  // namespace tracedb
