#include "ingest/build/row_lots.h"

#include <pthread.h>

#include <bit>
#include <system_error>
#include <utility>

#include "tracedb/base/run_caught.h"

namespace tracedb {
namespace {

constexpr std::string_view kMemoryEventName = "[memory]";  // as the view memory_events has it

}  // namespace

RowLots::RowLots(TableWriter& writer, bool on_thread)
    : writer_(writer), on_thread_(on_thread), empty_(kLots), full_(kLots) {
  for (size_t i = 1; on_thread_ && i < kLots; ++i) static_cast<void>(empty_.Push(Lot()));
}

RowLots::~RowLots() {
  empty_.Close();
  full_.Close();
}

Status RowLots::EventName(int64_t id, std::string_view name,
                          std::optional<std::string_view> category, bool communication) {
  return AddText(TextTable::kEventName, id, records_.EventName(name, category, communication),
                 name == kMemoryEventName);
}

Status RowLots::Track(int64_t id, const TrackRow& row) {
  return AddText(TextTable::kTrack, id, records_.Track(writer_.trace_id(), row), false);
}

Status RowLots::ArgsTextRow(int64_t id, const ArgsText& args_text) {
  return AddText(TextTable::kArgsText, id, records_.Args(args_text), false);
}

Status RowLots::Step(int64_t id, int64_t track, int64_t step, int64_t ts,
                     std::optional<int64_t> dur) {
  return AddText(TextTable::kStep, id, records_.Step(track, step, ts, dur), false);
}

Status RowLots::AddText(TextTable table, int64_t id, std::span<const uint8_t> record,
                        bool is_memory_name) {
  if (!on_thread_ || record.size() > kLotBytes) {
    TRACEDB_TRY(WaitUntilWritten());
    if (is_memory_name) writer_.MemoryName(id);
    return writer_.Text(table, id, record);
  }
  Row row{};
  row.id = id;
  row.dur = static_cast<int64_t>(record.size());
  row.at = static_cast<uint32_t>(PutBytes(lot_, record.data(), record.size()));
  row.table = static_cast<uint8_t>(kEventTables + static_cast<int>(table));
  row.marks = is_memory_name ? kIsMemoryName : 0;
  lot_.rows.push_back(row);
  return GiveIfFull();
}

Status RowLots::AddEvent(EventTable table, const EventRow& event, const ArgsValues& values) {
  size_t text_bytes = 0;
  for (uint32_t left = values.text_mask & values.mask; left != 0; left &= left - 1) {
    text_bytes += values.texts[static_cast<size_t>(std::countr_zero(left))].size();
  }
  if (text_bytes > kLotBytes) {
    TRACEDB_TRY(WaitUntilWritten());
    return writer_.Event(table, event, values);
  }
  Row row;
  row.id = event.id;
  row.track = event.track;
  row.event_name = event.event_name;
  row.ts = event.ts.value_or(0);
  row.dur = event.dur.value_or(0);
  row.args_text = event.args_text;
  row.mask = values.mask;
  row.text_mask = values.text_mask;
  row.at = static_cast<uint32_t>(lot_.values.size());
  row.table = static_cast<uint8_t>(table);
  row.phase = event.phase;
  row.gpu_kind = event.gpu_kind;
  row.marks = static_cast<uint8_t>((event.ts.has_value() ? kHasTs : 0) |
                                   (event.dur.has_value() ? kHasDur : 0));
  for (uint32_t left = values.mask; left != 0; left &= left - 1) {
    const auto column = static_cast<size_t>(std::countr_zero(left));
    if ((values.text_mask >> column & 1) == 0) {
      lot_.values.push_back(values.ints[column]);
      continue;
    }
    const std::string_view text = values.texts[column];
    const size_t at = PutBytes(lot_, text.data(), text.size());
    lot_.values.push_back(static_cast<int64_t>(at << 32 | text.size()));
  }
  lot_.rows.push_back(row);
  return GiveIfFull();
}

size_t RowLots::PutBytes(Lot& lot, const void* bytes, size_t count) {
  const size_t at = lot.bytes.size();
  const auto* const first = static_cast<const char*>(bytes);
  lot.bytes.insert(lot.bytes.end(), first, first + count);
  return at;
}

Status RowLots::GiveIfFull() {
  const bool is_full = lot_.rows.size() >= kLotRows || lot_.values.size() >= kLotValues ||
                       lot_.bytes.size() >= kLotBytes;
  return is_full ? Give() : Status(Done{});
}

Status RowLots::Give() {
  if (!thread_.joinable()) {
    TRACEDB_TRY(written_);
    try {
      thread_ = std::jthread([this] { WriteAll(); });
    } catch (const std::system_error&) {  // no more threads are to be had: it goes without
      on_thread_ = false;
      return WriteLast();
    }
  }
  auto next = full_.Push(std::move(lot_)) ? empty_.Pop() : std::nullopt;
  if (!next.has_value()) return Ended();
  lot_ = std::move(*next);
  return Done{};
}

void RowLots::WriteAll() {
  pthread_setname_np(pthread_self(), "trace-write");
  written_ = RunCaught([this]() -> Status {
    while (auto lot = full_.Pop()) {
      TRACEDB_TRY(Write(*lot));
      lot->Clear();
      static_cast<void>(empty_.Push(std::move(*lot)));
    }
    return Done{};
  });
  full_.Close();
  empty_.Close();
}

// The writer is ours when all lots have come back.
Status RowLots::WaitUntilWritten() {
  if (!on_thread_) return Done{};
  if (thread_.joinable()) {
    TRACEDB_TRY(Give());
    std::vector<Lot> back;
    while (back.size() + 1 < kLots) {
      auto lot = empty_.Pop();
      if (!lot.has_value()) return Ended();
      back.push_back(std::move(*lot));
    }
    for (Lot& lot : back) static_cast<void>(empty_.Push(std::move(lot)));
    return Done{};
  }
  return WriteLast();
}

Status RowLots::Finish() {
  full_.Close();
  if (thread_.joinable()) TRACEDB_TRY(Ended());
  return WriteLast();
}

// Why the thread has ended.
Status RowLots::Ended() {
  thread_.join();
  return written_;
}

// The lot that was not given; there is no thread.
Status RowLots::WriteLast() {
  TRACEDB_TRY(written_);
  TRACEDB_TRY(Write(lot_));
  lot_.Clear();
  return Done{};
}

Status RowLots::Write(const Lot& lot) {
  const std::string_view bytes(lot.bytes.data(), lot.bytes.size());
  for (const Row& row : lot.rows) {
    if (row.table >= kEventTables) {
      if ((row.marks & kIsMemoryName) != 0) writer_.MemoryName(row.id);
      const std::string_view record = bytes.substr(row.at, static_cast<size_t>(row.dur));
      TRACEDB_TRY(writer_.Text(static_cast<TextTable>(row.table - kEventTables), row.id,
                               {reinterpret_cast<const uint8_t*>(record.data()), record.size()}));
      continue;
    }
    EventRow event;
    event.id = row.id;
    event.track = row.track;
    event.event_name = row.event_name;
    if ((row.marks & kHasTs) != 0) event.ts = row.ts;
    if ((row.marks & kHasDur) != 0) event.dur = row.dur;
    event.phase = row.phase;
    event.args_text = row.args_text;
    event.gpu_kind = row.gpu_kind;
    values_.mask = row.mask;
    values_.text_mask = row.text_mask;
    size_t at = row.at;
    for (uint32_t left = row.mask; left != 0; left &= left - 1) {
      const auto column = static_cast<size_t>(std::countr_zero(left));
      const int64_t value = lot.values[at++];
      if ((row.text_mask >> column & 1) == 0) {
        values_.ints[column] = value;
      } else {
        const auto place = static_cast<uint64_t>(value);
        values_.texts[column] = bytes.substr(place >> 32, place & 0xffffffff);
      }
    }
    TRACEDB_TRY(writer_.Event(static_cast<EventTable>(row.table), event, values_));
  }
  return Done{};
}

}  // namespace tracedb
