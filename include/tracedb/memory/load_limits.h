// How one memory budget is shared out: every queue, buffer and dictionary of an ingest takes its
// bound from here, and together they stay below the budget.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tracedb {

// What the sums over calls of the host may take.
struct HostLimits {
  size_t call_path_bytes_max = 0;
  size_t recent_path_bytes_max = 0;  // by External id, and as much by sequence number
  size_t host_use_bytes_max = 0;
  size_t kernel_use_bytes_max = 0;
  size_t sync_use_bytes_max = 0;
  size_t sync_call_bytes_max = 0;
  size_t graph_call_bytes_max = 0;  // launches while a graph is captured, and of graphs

  size_t Sum() const {
    return call_path_bytes_max + 2 * recent_path_bytes_max + host_use_bytes_max +
           kernel_use_bytes_max + sync_use_bytes_max + sync_call_bytes_max + graph_call_bytes_max;
  }
};

// What captures and replays of graphs that are compared may take, once the traces have landed.
struct GraphLimits {
  size_t path_meaning_bytes_max = 0;
  size_t name_bytes_max = 0;         // names of launches and of what they launch
  size_t sum_bytes_max = 0;          // sums that change, before they go to the database
  size_t path_update_bytes_max = 0;  // paths of activities, as well
  size_t first_replay_bytes_max = 0;
  size_t replayed_node_bytes_max = 0;  // of one replay
  size_t graph_bytes_max = 0;
  size_t pattern_bytes_max = 0;
  size_t eager_launch_bytes_max = 0;     // launched one by one
  size_t captured_launch_bytes_max = 0;  // of one capture
  size_t capture_bytes_max = 0;          // captures of a rank; of more none is compared
  size_t match_state_bytes_max = 0;      // of a search
  size_t fitting_bytes_max = 0;          // what was found to fit

  static GraphLimits Of(size_t bytes);
};

// What is looked up while an export in tables is read.
struct ExportLimits {
  size_t text_bytes_max = 0;
  size_t group_bytes_max = 0;  // communicators in the header: half of what that may have
  size_t call_bytes_max = 0;   // of NCCL
  size_t sync_bytes_max = 0;

  static constexpr ExportLimits Of(size_t bytes) {
    return {bytes / 8 * 3, bytes / 16, bytes / 8 * 3, bytes / 4};
  }
};

struct LoadLimits {
  size_t memory_bytes = 0;      // what --memory said: the peak of the whole process
  size_t read_ahead_bytes = 0;  // text unpacked on a thread of its own; 0: where it is read
  unsigned unpack_threads = 0;  // that unpack pieces of one file; 0: there are no pieces
  size_t unpack_bytes_max = 0;  // what those take, together
  size_t write_bytes_max = 0;   // rows and pages on their way to threads; 0: there are none
  size_t window_bytes = 0;      // JSON text handed to a parser at a time
  // The windows of a trace's start are smaller: memory that is touched for the first time is much
  // of what a small trace costs, and what is parsed whole stays in a core's cache. Events of which
  // only numbers are read, as those of a long trace, are handed over less often in large ones.
  size_t start_window_bytes = size_t{256} << 10;
  uint64_t start_text_bytes = uint64_t{64} << 20;
  size_t event_bytes_max = 0;       // a longer event is skipped and counted
  size_t resync_bytes = 65536;      // distance of the places where lost quotes are looked for
  size_t header_bytes_max = 0;      // all header keys and values together
  size_t dictionary_bytes_max = 0;  // texts and their index, each dictionary
  size_t open_bytes_max = 0;        // begin events that wait for their end
  size_t export_bytes_max = 0;      // of an export in tables: what is looked up while it is read

  // Gathered while a file is read, and kept until its derived rows are written.
  size_t gpu_activity_bytes_max = 0;
  size_t host_slice_bytes_max = 0;
  size_t long_slice_bytes_max = 0;  // host slices that can hold a thread

  // Once a file has been read.
  size_t launch_call_bytes_max = 0;    // the calls that made launches
  size_t communication_bytes_max = 0;  // communication kernels with their launches
  size_t launch_lot_bytes_max = 0;     // launches looked up at a time, while one sort runs
  size_t sort_bytes_max = 0;           // each sort of rows; three at a time before that
  size_t step_bytes_max = 0;   // profiler steps, and as much each for stretches of GPU time by step
                               // and for those that were met
  size_t track_bytes_max = 0;  // threads and streams; of more SQLite sums up
  size_t args_group_bytes_max = 0;  // a byte a text of args
  // Of a file that is no trace, read when no trace is: what its reader may keep of its values.
  size_t source_bytes_max = 0;
  size_t source_ahead_bytes = 0;  // of a packed one: unpacked by a thread, and not read yet
  HostLimits host;
  GraphLimits graphs;
  int64_t sqlite_cache_kib = 0;  // page cache and sorter
  unsigned parsers = 1;          // threads that parse
  // Whether more threads than two have a core each while what the file tells is worked out.
  bool has_cores_to_spare() const { return parsers > 2; }
  int depth_max = 1000;  // brackets open in one event; what SQLite's JSON can read

  static constexpr size_t kMemoryBytesDefault = size_t{128} << 20;
  static constexpr size_t kMemoryBytesMin = size_t{32} << 20;

  // `threads` 0 chooses by the processor.
  static LoadLimits For(size_t memory_bytes, unsigned threads);
};

}  // namespace tracedb
