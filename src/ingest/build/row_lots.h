// Rows on their way from the record builder to what is gathered of them and to the table writer:
// straight there, or in lots, which one thread gathers from and the next one writes, where cores
// are to spare. Either way both get them in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "ingest/build/args_text.h"
#include "ingest/build/gathered_slices.h"
#include "ingest/build/table_writer.h"
#include "ingest/build/text_records.h"
#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/result.h"
#include "tracedb/schema/args_columns.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

class RowLots {
 public:
  // `gathered` and `writer` are the threads', where there are any, until Finish has returned.
  RowLots(GatheredSlices& gathered, TableWriter& writer, bool on_threads);
  ~RowLots();
  RowLots(const RowLots&) = delete;
  RowLots& operator=(const RowLots&) = delete;

  // As TableWriter has them; an error may be that of a row given before. Nothing may be given after
  // one.
  Status Event(EventTable table, const EventRow& row, const ArgsValues& values) {
    if (on_threads_) return AddEvent(table, row, values);
    TRACEDB_TRY(gathered_.Add(table, row, values));
    return writer_.Event(table, row, values);
  }
  Status EventName(int64_t id, std::string_view name, std::optional<std::string_view> category,
                   bool communication);
  Status Track(int64_t id, const TrackRow& row);
  Status ArgsTextRow(int64_t id, const ArgsText& args_text);
  Status Step(int64_t id, int64_t track, int64_t step, int64_t ts, std::optional<int64_t> dur);

  // Waits until all rows have been gathered from and written.
  Status Finish();

 private:
  // One line of a core's cache.
  struct alignas(64) Row {
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
    uint8_t what;  // a GPU activity: its kind; else what is called, as PackedCall has it
    uint8_t marks;
  };
  static_assert(sizeof(Row) == 64);
  enum Mark : uint8_t {
    kHasTs = 1,
    kHasDur = 2,
    kIsMemoryName = 4,
    kHasBeginArgs = 8,  // which come after its values
  };
  // To wake a thread costs as much as to write a hundred rows, on virtual machines.
  static constexpr size_t kLots = 6;
  static constexpr size_t kLotRows = 4096;
  static constexpr size_t kLotValues = 8192;
  static constexpr size_t kLotBytes = size_t{32} << 10;   // and once more, of the last row
  static constexpr size_t kRowValues = kArgsColumns + 1;  // at most; the last may be begin_args
  static constexpr size_t kRowsAhead = 8;                 // lots go from core to core
  // Room that no row has been put into yet has no memory.
  struct Lot {
    std::unique_ptr<Row[]> rows;
    std::unique_ptr<int64_t[]> values;
    std::vector<char> bytes;
    size_t row_count = 0;
    size_t value_count = 0;

    static Lot WithRoom();
    void Clear() {
      bytes.clear();
      row_count = value_count = 0;
    }
  };

  Status AddEvent(EventTable table, const EventRow& row, const ArgsValues& values);
  Status AddText(TextTable table, int64_t id, std::span<const uint8_t> record, bool is_memory_name);
  Status WaitUntilWritten();
  Status GiveIfFull();
  Status Give();
  bool StartThreads();
  Status Ended();
  Status WriteLast();
  void GatherAll();
  void WriteAll();
  void CloseAll();
  Status Gather(const Lot& lot);
  Status Write(const Lot& lot);
  static uint8_t PackedCall(const HostCall& call);
  static HostCall CallOf(uint8_t packed);
  static void Unpack(const Lot& lot, const Row& row, EventRow& event, ArgsValues& values);
  static size_t PutBytes(Lot& lot, const void* bytes, size_t count);

  GatheredSlices& gathered_;
  TableWriter& writer_;
  bool on_threads_;
  TextRecords records_;
  Lot lot_;  // the one that is being filled
  // Lots go round.
  BoundedQueue<Lot> empty_;
  BoundedQueue<Lot> full_;
  BoundedQueue<Lot> to_write_;
  Status have_gathered_ = Done{};  // by the threads, once they have ended
  Status written_ = Done{};
  std::jthread gatherer_;
  std::jthread writing_;
};

}  // namespace tracedb
