// How one memory budget is shared out: every queue, buffer and dictionary of an ingest takes its
// bound from here, and together they stay below the budget.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tracedb {

struct LoadLimits {
  size_t memory_bytes = 0;             // what --memory said: the peak of the whole process
  size_t window_bytes = 0;             // JSON text handed to a parser at a time
  size_t event_bytes_max = 0;          // a longer event is skipped and counted
  size_t resync_bytes = 65536;         // distance of the places where lost quotes are looked for
  size_t header_bytes_max = 0;         // all header keys and values together
  size_t dictionary_bytes_max = 0;     // texts and their index, each dictionary
  size_t open_bytes_max = 0;           // begin events that wait for their end
  size_t gathered_bytes_max = 0;       // runtime calls, and GPU activities, gathered while reading
  size_t gathered_long_bytes_max = 0;  // host slices that can hold a thread
  size_t derive_bytes_max = 0;         // rows sorted in memory once the file has been read
  size_t host_bytes_max = 0;           // sums over calls of the host, and their paths, meanwhile
  int64_t sqlite_cache_kib = 0;        // page cache and sorter
  unsigned parsers = 1;                // threads that parse
  int depth_max = 1000;                // brackets open in one event; what SQLite's JSON can read

  static constexpr size_t kMemoryBytesDefault = size_t{128} << 20;
  static constexpr size_t kMemoryBytesMin = size_t{32} << 20;

  // `threads` 0 chooses by the processor.
  static LoadLimits For(size_t memory_bytes, unsigned threads);
};

}  // namespace tracedb
