// Rows -> the tables of a new database file that nobody else sees yet: bulk rows by a RowStore, the
// rest through SQLite once they are there.
//
// The file becomes a database when FinishPages has succeeded; until then it is litter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ingest/build/memory_pieces.h"
#include "tracedb/base/apart_bytes.h"
#include "tracedb/base/result.h"
#include "tracedb/derive/gathered/host_slices.h"
#include "tracedb/pages/fixed_record.h"
#include "tracedb/pages/record_encoder.h"
#include "tracedb/pages/row_store.h"
#include "tracedb/schema/args_columns.h"
#include "tracedb/schema/event_tables.h"
#include "tracedb/schema/schema_sql.h"

namespace tracedb {

struct EventRow {
  int64_t id = 0;
  int64_t track = 0;
  int64_t event_name = 0;
  std::optional<int64_t> ts;             // ns since the trace's origin; metadata: its own zero
  std::optional<int64_t> dur;            // slices
  char phase = 'X';                      // tables other than slices
  int64_t args_text = 0;                 // 0: none
  GpuKind gpu_kind = GpuKind::kCompute;  // gpu_slice only
  // What is gathered of it, and not written: of a host's slice.
  HostCall host_call;
  std::optional<int64_t> begin_args;  // where its args are those of its begin and its end, merged
};

// Tables with a row for each text, and that of steps.
enum class TextTable : uint8_t { kEventName, kTrack, kArgsText, kStep, kCount };

class alignas(kApartBytes) TableWriter {
 public:
  // Puts an empty schema into `path`, which must be an empty file. `on_thread`: pages are written
  // beside whoever gives rows.
  static Result<std::unique_ptr<TableWriter>> Create(const std::filesystem::path& path,
                                                     int64_t trace_id, bool on_thread = false);

  // Ids must rise by one from event to event, and in each of the other tables.
  Status Event(EventTable table, const EventRow& row, const ArgsValues& values);
  Status Text(TextTable table, int64_t id, std::span<const uint8_t> record);
  // Of the events of this name come rows of _memory_piece; before the first of them.
  void MemoryName(int64_t event_name) { memory_names_.push_back(event_name); }

  // The rows are complete; the file is a sound database from here on.
  Status FinishPages();

  int64_t trace_id() const { return trace_id_; }

 private:
  // When the events since the last row of _row_times were.
  struct RowTimes {
    int64_t rows = 0;
    int64_t last_id = 0;
    int64_t start = std::numeric_limits<int64_t>::max();
    int64_t end = std::numeric_limits<int64_t>::min();

    void Add(EventTable table, const EventRow& row) {
      ++rows;
      last_id = row.id;
      if (table == EventTable::kMetadataEvent || !row.ts.has_value()) return;
      int64_t last = 0;
      if (__builtin_add_overflow(*row.ts, std::max<int64_t>(row.dur.value_or(0), 0), &last)) {
        last = std::numeric_limits<int64_t>::max();
      }
      start = std::min(start, *row.ts);
      end = std::max(end, last);
    }
  };
  static constexpr int64_t kRowsTogether = 1000;

  TableWriter(RowStore rows, int64_t trace_id) : rows_(std::move(rows)), trace_id_(trace_id) {}
  Status EventOfAnyColumns(EventTable table, const EventRow& row, const ArgsValues& values,
                           size_t places);
  Status FinishTimes();
  bool IsMemory(const EventRow& row) const;
  Status NoteMemory(const EventRow& row, const ArgsValues& values);
  Status StoreWholePieces();

  RowStore rows_;
  const int64_t trace_id_;
  FixedRecord::Room fixed_;
  RecordEncoder record_;
  RowTimes times_;
  std::vector<int64_t> memory_names_;  // ids of [memory], rising
  MemoryPieces memory_;
  int64_t pieces_ = 0;
};

}  // namespace tracedb
