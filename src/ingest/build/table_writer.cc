#include "ingest/build/table_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/build/empty_rows.h"
#include "tracedb/schema/empty_database.h"

namespace tracedb {
namespace {

// In the RowStore: after the event tables.
enum TextTable : size_t {
  kEventName = kEventTables,
  kTrack,
  kArgsText,
  kStep,
  kRowTimes,
  kMemoryPiece,
  kTables
};

constexpr std::string_view kMemoryEventName = "[memory]";  // as the view memory_events has it

using Places = std::array<std::array<uint8_t, kArgsColumns>, kEventTables>;

// Where each column stands in each table's rows.
const Places& ColumnPlaces() {
  static const Places places = [] {
    Places all{};
    for (int i = 0; i < kEventTables; ++i) {
      const auto& order = ArgsColumnOrder(static_cast<EventTable>(i));
      for (uint8_t place = 0; place < kArgsColumns; ++place) {
        all[static_cast<size_t>(i)][static_cast<size_t>(order[place])] = place;
      }
    }
    return all;
  }();
  return places;
}

void AddValues(RecordEncoder& record, EventTable table, const ArgsValues& values) {
  const auto& places = ColumnPlaces()[static_cast<size_t>(table)];
  uint8_t count = 0;
  for (uint32_t left = values.mask; left != 0; left &= left - 1) {
    const auto place = places[static_cast<size_t>(std::countr_zero(left))];
    if (place >= count) count = static_cast<uint8_t>(place + 1);
  }
  const auto& order = ArgsColumnOrder(table);
  for (size_t place = 0; place < count; ++place) {
    const auto column = static_cast<size_t>(order[place]);
    if ((values.mask >> column & 1) == 0) {
      record.Null();
    } else if ((values.text_mask >> column & 1) != 0) {
      record.Text(values.texts[column]);
    } else {
      record.Int(values.ints[column]);
    }
  }
}

void AddInt(RecordEncoder& record, const std::optional<int64_t>& value) {
  if (value.has_value()) {
    record.Int(*value);
  } else {
    record.Null();
  }
}

void AddText(RecordEncoder& record, const std::optional<std::string_view>& text) {
  if (text.has_value()) {
    record.Text(*text);
  } else {
    record.Null();
  }
}

std::vector<std::string> TableNames() {
  std::vector<std::string> names;
  for (int i = 0; i < kEventTables; ++i) {
    names.emplace_back(EventTableName(static_cast<EventTable>(i)));
  }
  for (const char* name :
       {"_event_name", "_track", "_args_text", "_step", "_row_times", "_memory_piece"}) {
    names.emplace_back(name);
  }
  assert(names.size() == kTables);
  return names;
}

}  // namespace

Result<std::unique_ptr<TableWriter>> TableWriter::Create(const std::filesystem::path& path,
                                                         int64_t trace_id) {
  TRACEDB_TRY(WriteEmptyDatabase(path));
  TRACEDB_ASSIGN(rows, RowStore::Open(path, EmptyDatabase::RootPages(TableNames())));
  return std::unique_ptr<TableWriter>(new TableWriter(std::move(rows), trace_id));
}

Status TableWriter::Event(EventTable table, const EventRow& row, const ArgsValues& values) {
  if (times_.rows == kRowsTogether) TRACEDB_TRY(FinishTimes());
  times_.Add(table, row);
  if (table == EventTable::kInstant && IsMemory(row)) TRACEDB_TRY(NoteMemory(row, values));
  record_.Reset();
  record_.Null();  // id: SQLite reads the rowid in its place
  record_.Int(row.track);
  record_.Int(row.event_name);
  AddInt(record_, row.ts);
  if (table > EventTable::kGpuSlice) {
    record_.Text({&row.phase, 1});
  } else {
    AddInt(record_, row.dur);
  }
  if (row.args_text != 0) {
    record_.Int(row.args_text);
  } else {
    record_.Null();
  }
  if (table == EventTable::kGpuSlice) record_.Int(static_cast<int64_t>(row.gpu_kind));
  AddValues(record_, table, values);
  return rows_.Append(static_cast<size_t>(table), row.id, record_.Finish());
}

bool TableWriter::IsMemory(const EventRow& row) const {
  if (memory_names_.empty() || !row.ts.has_value()) return false;
  return row.event_name == memory_names_.back() ||
         std::binary_search(memory_names_.begin(), memory_names_.end(), row.event_name);
}

// One row of _row_times.
Status TableWriter::FinishTimes() {
  if (times_.rows == 0) return Done{};
  record_.Reset();
  record_.Null();
  record_.Int(times_.last_id);
  if (times_.start <= times_.end) {
    record_.Int(times_.start);
    record_.Int(times_.end);
  }
  const int64_t first_id = times_.last_id - times_.rows + 1;
  times_ = {};
  return rows_.Append(kRowTimes, first_id, record_.Finish());
}

Status TableWriter::NoteMemory(const EventRow& row, const ArgsValues& values) {
  memory_.Add({row.id, row.track, row.args_text, *row.ts}, values);
  return memory_.whole().empty() ? Status(Done{}) : StoreWholePieces();
}

Status TableWriter::StoreWholePieces() {
  for (const MemoryPiece& piece : memory_.whole()) {
    const auto add_if = [&](ArgsColumn column, std::initializer_list<int64_t> values) {
      for (const int64_t value : values) piece.Has(column) ? record_.Int(value) : record_.Null();
    };
    record_.Reset();
    record_.Int(trace_id_);
    record_.Int(piece.first.track);
    piece.first.args_text != 0 ? record_.Int(piece.first.args_text) : record_.Null();
    record_.Int(piece.first.id);
    record_.Int(piece.last_id);
    record_.Int(piece.is_odd ? 1 : 0);
    record_.Int(piece.events);
    record_.Int(piece.start_ts);
    record_.Int(piece.start_id);
    record_.Int(piece.end_ts);
    record_.Int(piece.end_id);
    add_if(ArgsColumn::kTotalAllocated, {piece.min_allocated, piece.max_allocated});
    add_if(ArgsColumn::kTotalReserved, {piece.min_reserved, piece.max_reserved});
    add_if(ArgsColumn::kBytes, {piece.allocations, piece.releases, piece.taken_bytes,
                                piece.sum_bytes, piece.largest_bytes});
    TRACEDB_TRY(rows_.Append(kMemoryPiece, ++pieces_, record_.Finish()));
  }
  memory_.whole().clear();
  return Done{};
}

Status TableWriter::EventName(int64_t id, std::string_view name,
                              std::optional<std::string_view> category, bool communication) {
  if (name == kMemoryEventName) memory_names_.push_back(id);
  record_.Reset();
  record_.Null();
  record_.Text(name);
  AddText(record_, category);
  record_.Int(communication ? 1 : 0);
  return rows_.Append(kEventName, id, record_.Finish());
}

Status TableWriter::Track(int64_t id, const TrackRow& row) {
  record_.Reset();
  record_.Null();
  record_.Int(trace_id_);
  record_.Text(row.pid);
  record_.Text(row.tid);
  for (const auto& number : {row.device, row.stream}) {
    number.has_value() ? record_.NumberOrText(*number) : record_.Null();
  }
  return rows_.Append(kTrack, id, record_.Finish());
}

Status TableWriter::ArgsTextRow(int64_t id, const ArgsText& args_text) {
  record_.Reset();
  record_.Null();
  AddText(record_, args_text.args);
  AddText(record_, args_text.others);
  AddText(record_, args_text.collective);
  AddText(record_, args_text.dtype);
  AddInt(record_, args_text.in_nelems);
  AddInt(record_, args_text.out_nelems);
  AddText(record_, args_text.group_name);
  AddText(record_, args_text.group_description);
  AddText(record_, args_text.group_ranks);
  AddInt(record_, args_text.group_size);
  AddInt(record_, args_text.src_rank);
  AddInt(record_, args_text.dst_rank);
  AddText(record_, args_text.grid);
  AddText(record_, args_text.block);
  AddInt(record_, args_text.registers);
  AddInt(record_, args_text.shared_memory_bytes);
  if (args_text.occupancy_pct.has_value()) {
    record_.Real(*args_text.occupancy_pct);
  } else {
    record_.Null();
  }
  AddInt(record_, args_text.device_type);
  AddInt(record_, args_text.device_id);
  return rows_.Append(kArgsText, id, record_.Finish());
}

Status TableWriter::Step(int64_t id, int64_t track, int64_t step, int64_t ts,
                         std::optional<int64_t> dur) {
  record_.Reset();
  record_.Null();
  record_.Int(track);
  record_.Int(step);
  record_.Int(ts);
  AddInt(record_, dur);
  return rows_.Append(kStep, id, record_.Finish());
}

Status TableWriter::FinishPages() {
  TRACEDB_TRY(FinishTimes());
  memory_.Finish();
  TRACEDB_TRY(StoreWholePieces());
  return rows_.Finish();
}

}  // namespace tracedb
