// Memory events of one thread and device that come one after the other, a few together: what most
// questions ask of hundreds of thousands of events, pieces answer.
#pragma once

#include <cstdint>
#include <vector>

#include "ingest/build/args_text.h"
#include "tracedb/schema/args_columns.h"

namespace tracedb {

struct MemoryEvent {
  int64_t id = 0;
  int64_t track = 0;
  int64_t args_text = 0;  // 0: none
  int64_t ts = 0;
};

// As in the table _memory_piece.
struct MemoryPiece {
  MemoryEvent first;
  uint32_t columns = 0;  // that all of its events have
  bool is_odd = false;   // a value is no integer, or a sum does not fit one
  int64_t last_id = 0;
  int64_t events = 0;
  int64_t start_ts = 0, start_id = 0;
  int64_t end_ts = 0, end_id = 0;
  int64_t min_allocated = 0, max_allocated = 0;
  int64_t min_reserved = 0, max_reserved = 0;
  int64_t allocations = 0, releases = 0;
  int64_t taken_bytes = 0, sum_bytes = 0, largest_bytes = 0;

  bool Has(ArgsColumn column) const { return (columns >> static_cast<int>(column) & 1) != 0; }
  void Add(const MemoryEvent& event, const ArgsValues& values);
};

class MemoryPieces {
 public:
  static constexpr int64_t kEventsMax = 64;
  static constexpr int64_t kRowsMax = 4096;  // from the first to the last: others are in between

  // Adds the event; what is whole then is in whole().
  void Add(const MemoryEvent& event, const ArgsValues& values);
  // All of them are whole.
  void Finish();
  std::vector<MemoryPiece>& whole() { return whole_; }

 private:
  static constexpr size_t kOpenMax = 64;

  std::vector<MemoryPiece> open_;
  size_t last_ = 0;  // that the event before went to
  std::vector<MemoryPiece> whole_;
};

}  // namespace tracedb
