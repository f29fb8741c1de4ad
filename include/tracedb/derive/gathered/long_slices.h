// The slices of the host that are long enough to hold a thread (kLongSliceNs), gathered while a
// trace is read: what the indexes *_long are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "tracedb/base/result.h"
#include "tracedb/memory/packed_rows.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

struct LongSlice {
  int64_t id = 0;
  int64_t ts = 0;
  int64_t track = 0;
  EventTable table = EventTable::kCpuSlice;
};

class LongSlices {
 public:
  using Item = LongSlice;

  LongSlices(std::filesystem::path folder, size_t bytes_max)
      : rows_(std::move(folder), bytes_max) {}

  size_t count() const { return rows_.rows(); }
  Status Add(const LongSlice& slice) {
    return rows_.Add({slice.id, slice.ts, slice.track, static_cast<int64_t>(slice.table)});
  }
  // In the order of their ids.
  template <typename Take>
  Status ForEach(Take take) const {
    return rows_.ForEach([&take](const Row& row) {
      take(LongSlice{row.id, row.ts, row.track, static_cast<EventTable>(row.table)});
    });
  }

 private:
  struct Row {
    int64_t id, ts, track, table;
  };

  PackedRows<Row> rows_;
};

}  // namespace tracedb
