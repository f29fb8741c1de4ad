#include "ingest/load/row_numbers.h"

#include <charconv>
#include <cstring>
#include <string>

#include "ingest/build/empty_rows.h"
#include "tracedb/schema/empty_database.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

constexpr NumberedTree kTrees[] = {
    {"_trace", false, 't', "6t 7t 24r 25r 26x 27x"},
    {"_run", false, 't', ""},
    {"_capture", false, 't', "1t"},
    {"_event_name", false, 'x', ""},
    {"_track", false, 'x', "1t"},
    {"_args_text", false, 'x', ""},
    {"_step", false, 'r', "1x"},
    {"_row_times", false, 'r', "1r"},
    {"_impossible_time", false, 'r', ""},
    {"_launch", false, 'r', "1r 4p 5p"},
    {"_call_path", false, 'p', "1t 2p 4x 5x 6x"},
    {"_host_use", false, 'r', "0t 3x 4x"},
    {"_kernel_use", false, '-', "0t 2x 3x 4x"},
    {"_sync_use", false, '-', "0t 2x 3p"},
    {"_step_use", false, '-', "0t"},
    {"_busy_segment", true, '-', "0t"},
    {"_device_use", false, '-', "0t"},
    {"_stream_use", false, '-', "0t"},
    {"_process_group", false, '-', "1t"},
    {"sqlite_autoindex__process_group_1", true, '-', "0t"},
    {"_trace_group", true, '-', "0t"},
    {"_collective_part", false, 'r', "2t 3t"},
    {"_gpu_slice_by_track", true, '-', "0x 2r"},
    {"_gpu_slice_by_correlation", true, '-', "0x 2r"},
    {"_cpu_slice_long", true, '-', "0x 2r"},
    {"_runtime_slice_long", true, '-', "0x 2r"},
    {"_python_slice_long", true, '-', "0x 2r"},
    {"_collective_part_by_group", true, '-', "0t 9t 10r"},
    {"_graph_capture", false, 'r', "1t 2p"},
    {"_captured_launch", false, 'r', "1t 2r 4p 5p"},
    {"_captured_launch_by_capture", true, '-', "0r 1r"},
    {"_captured_call", true, '-', "0r 1p 2t"},
    {"_graph_launch", false, 'r', "1t 3p 4p"},
    {"_process", false, '-', "0t"},
    {"_thread", false, '-', "0t"},
    {"_issue", false, '-', "0t"},
    {"_memory_piece", false, '-', "0t 1x 2x 3r 4r 8r 10r"},
};
constexpr const char* kEventColumns = "1x 2x 5x";  // track, name, args text

int64_t Shift(char of, const FirstIds& were, const FirstIds& are) {
  switch (of) {
    case 't':
      return are.trace_id - were.trace_id;
    case 'r':
      return are.row - were.row;
    case 'x':
      return are.text - were.text;
    case 'p':
      return are.path - were.path;
    default:
      return 0;
  }
}

CopiedTree Renumbered(const NumberedTree& tree, const FirstIds& were, const FirstIds& are) {
  CopiedTree copied;
  copied.root = EmptyDatabase::RootPages({tree.name}).front();
  copied.is_index = tree.is_index;
  copied.add_to_rowid = Shift(tree.rowid, were, are);
  const char* const end = tree.columns + std::strlen(tree.columns);
  for (const char* at = tree.columns; at < end; at += *at == ' ' ? 1 : 0) {
    size_t column = 0;
    at = std::from_chars(at, end, column).ptr;
    copied.sums.push_back({column, Shift(*at++, were, are)});
  }
  return copied;
}

}  // namespace

std::vector<NumberedTree> NumberedTrees() {
  std::vector<NumberedTree> trees(std::begin(kTrees), std::end(kTrees));
  for (int i = 0; i < kEventTables; ++i) {
    const auto table = static_cast<EventTable>(i);
    trees.push_back({EventTableName(table).data(), false, 'r', kEventColumns});
  }
  return trees;
}

Status RenumberRows(const std::filesystem::path& from, const FirstIds& were,
                    const std::filesystem::path& to, const FirstIds& are) {
  TRACEDB_TRY(WriteEmptyDatabase(to, EmptyDatabase::Schema::kTraceRows));
  std::vector<CopiedTree> trees;
  for (const NumberedTree& tree : NumberedTrees()) trees.push_back(Renumbered(tree, were, are));
  return CopyTrees(from, to, trees);
}

}  // namespace tracedb
