// Rows on their way from the record builder to the table writer: straight there, or in lots to a
// thread that writes them, where cores are to spare. Either way the writer gets them in their
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "ingest/build/args_text.h"
#include "ingest/build/table_writer.h"
#include "ingest/build/text_records.h"
#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/result.h"
#include "tracedb/schema/args_columns.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

class RowLots {
 public:
  // `writer` is the thread's, where there is one, until Finish has returned.
  RowLots(TableWriter& writer, bool on_thread);
  ~RowLots();
  RowLots(const RowLots&) = delete;
  RowLots& operator=(const RowLots&) = delete;

  // As TableWriter has them; an error may be that of a row given before.
  Status Event(EventTable table, const EventRow& row, const ArgsValues& values) {
    return on_thread_ ? AddEvent(table, row, values) : writer_.Event(table, row, values);
  }
  Status EventName(int64_t id, std::string_view name, std::optional<std::string_view> category,
                   bool communication);
  Status Track(int64_t id, const TrackRow& row);
  Status ArgsTextRow(int64_t id, const ArgsText& args_text);
  Status Step(int64_t id, int64_t track, int64_t step, int64_t ts, std::optional<int64_t> dur);

  // Waits until the writer has had all rows.
  Status Finish();

 private:
  // One line of a core's cache.
  struct Row {
    int64_t id;
    int64_t track;
    int64_t event_name;
    int64_t ts;
    int64_t dur;  // of a text's row: bytes of its record
    int64_t args_text;
    uint32_t mask;       // of values
    uint32_t text_mask;  // those of them are texts: offset << 32 | size in Lot::bytes
    uint32_t at;         // in Lot::values; of a text's row: in Lot::bytes
    uint8_t table;       // after the event tables: those of texts
    char phase;
    GpuKind gpu_kind;
    uint8_t marks;
  };
  static_assert(sizeof(Row) == 64);
  enum Mark : uint8_t { kHasTs = 1, kHasDur = 2, kIsMemoryName = 4 };
  struct Lot {
    std::vector<Row> rows;
    std::vector<int64_t> values;
    std::vector<char> bytes;

    void Clear() {
      rows.clear();
      values.clear();
      bytes.clear();
    }
  };
  // To wake a thread costs as much as to write a hundred rows, on virtual machines.
  static constexpr size_t kLots = 4;
  static constexpr size_t kLotRows = 4096;
  static constexpr size_t kLotValues = 8192;
  static constexpr size_t kLotBytes = size_t{64} << 10;

  Status AddEvent(EventTable table, const EventRow& row, const ArgsValues& values);
  Status AddText(TextTable table, int64_t id, std::span<const uint8_t> record, bool is_memory_name);
  Status WaitUntilWritten();
  Status GiveIfFull();
  Status Give();
  Status Ended();
  Status WriteLast();
  void WriteAll();
  Status Write(const Lot& lot);
  static size_t PutBytes(Lot& lot, const void* bytes, size_t count);

  TableWriter& writer_;
  bool on_thread_;
  TextRecords records_;
  Lot lot_;            // the one that is being filled
  ArgsValues values_;  // of the row that is being written, by the thread
  // Lots go round.
  BoundedQueue<Lot> empty_;
  BoundedQueue<Lot> full_;
  Status written_ = Done{};  // by the thread, once it has ended
  std::jthread thread_;
};

}  // namespace tracedb
