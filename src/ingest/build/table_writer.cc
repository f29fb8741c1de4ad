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

// In the RowStore: after the event tables and those of texts.
enum OtherTable : size_t {
  kRowTimes = kEventTables + static_cast<size_t>(TextTable::kCount),
  kMemoryPiece,
  kTables
};

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

// So many of the table's places, in its order, hold the values and what is between them.
size_t PlacesOf(EventTable table, const ArgsValues& values) {
  const auto& places = ColumnPlaces()[static_cast<size_t>(table)];
  size_t count = 0;
  for (uint32_t left = values.mask; left != 0; left &= left - 1) {
    const size_t place = places[static_cast<size_t>(std::countr_zero(left))];
    count = std::max(count, place + 1);
  }
  return count;
}

template <typename Record>
void AddInt(Record& record, const std::optional<int64_t>& value) {
  if (value.has_value()) {
    record.Int(*value);
  } else {
    record.Null();
  }
}

// `add` is called with the column of each place, in order.
template <typename Record, typename Add>
void AddRow(Record& record, EventTable table, const EventRow& row, size_t places, Add add) {
  record.Null();  // id: SQLite reads the rowid in its place
  record.Int(row.track);
  record.Int(row.event_name);
  AddInt(record, row.ts);
  if (table > EventTable::kGpuSlice) {
    record.Char(row.phase);
  } else {
    AddInt(record, row.dur);
  }
  if (row.args_text != 0) {
    record.Int(row.args_text);
  } else {
    record.Null();
  }
  if (table == EventTable::kGpuSlice) record.Int(static_cast<int64_t>(row.gpu_kind));
  const auto& order = ArgsColumnOrder(table);
  for (size_t place = 0; place < places; ++place) add(static_cast<size_t>(order[place]));
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
                                                         int64_t trace_id, bool on_thread) {
  TRACEDB_TRY(WriteEmptyDatabase(path, EmptyDatabase::Schema::kTraceRows));
  TRACEDB_ASSIGN(rows, RowStore::Open(path, EmptyDatabase::RootPages(TableNames()), on_thread));
  return std::unique_ptr<TableWriter>(new TableWriter(std::move(rows), trace_id));
}

Status TableWriter::Event(EventTable table, const EventRow& row, const ArgsValues& values) {
  if (times_.rows == kRowsTogether) TRACEDB_TRY(FinishTimes());
  times_.Add(table, row);
  if (table == EventTable::kInstant && IsMemory(row)) TRACEDB_TRY(NoteMemory(row, values));
  const size_t places = PlacesOf(table, values);
  const bool is_gpu = table == EventTable::kGpuSlice;
  const bool has_texts = (values.mask & values.text_mask) != 0;
  const bool ends_with_null = places == 0 && !is_gpu && row.args_text == 0;
  if (has_texts || ends_with_null) [[unlikely]]
    return EventOfAnyColumns(table, row, values, places);
  static_assert(7 + kArgsColumns <= FixedRecord::kColumnsMax);
  FixedRecord record(fixed_, (is_gpu ? 7 : 6) + places);
  AddRow(record, table, row, places, [&](size_t column) {
    if ((values.mask >> column & 1) != 0) {
      record.Int(values.ints[column]);
    } else {
      record.Null();
    }
  });
  return rows_.Append(static_cast<size_t>(table), row.id, record.Finish());
}

Status TableWriter::EventOfAnyColumns(EventTable table, const EventRow& row,
                                      const ArgsValues& values, size_t places) {
  record_.Reset();
  AddRow(record_, table, row, places, [&](size_t column) {
    if ((values.mask >> column & 1) == 0) {
      record_.Null();
    } else if ((values.text_mask >> column & 1) != 0) {
      record_.Text(values.texts[column]);
    } else {
      record_.Int(values.ints[column]);
    }
  });
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

Status TableWriter::Text(TextTable table, int64_t id, std::span<const uint8_t> record) {
  return rows_.Append(static_cast<size_t>(kEventTables) + static_cast<size_t>(table), id, record);
}

Status TableWriter::FinishPages() {
  TRACEDB_TRY(FinishTimes());
  memory_.Finish();
  TRACEDB_TRY(StoreWholePieces());
  return rows_.Finish();
}

}  // namespace tracedb
