// The rows of a trace under other ids. Several files are read at a time, each as if it were the
// first of its database; how many ids those before it take is known when they have been read.
#pragma once

#include <filesystem>
#include <vector>

#include "ingest/build/record_builder.h"
#include "tracedb/base/result.h"
#include "tracedb/pages/tree_copy.h"

namespace tracedb {

// Copies the rows of a trace, without views, into `to`, which is an empty file: their ids begin
// with `are`, where they began with `were`.
Status RenumberRows(const std::filesystem::path& from, const FirstIds& were,
                    const std::filesystem::path& to, const FirstIds& are);

// Every table and index in which a trace's own file may have rows, and its columns with ids. By its
// name; for tests, which compare it with the schema.
struct NumberedTree {
  const char* name;
  bool is_index;  // also a table WITHOUT ROWID
  char rowid;     // what it is an id of: t trace, r row, x text, p call path; '-': its own
  // Place in the record, and what it is an id of: "1x 5p". A capture, and a run, of a single trace
  // has the trace's id.
  const char* columns;
};
std::vector<NumberedTree> NumberedTrees();

}  // namespace tracedb
