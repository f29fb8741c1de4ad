#include "ingest/build/row_lots.h"

#include <pthread.h>

#include <bit>
#include <span>
#include <system_error>
#include <utility>

#include "tracedb/base/prefetch.h"
#include "tracedb/base/run_caught.h"

namespace tracedb {
namespace {

constexpr std::string_view kMemoryEventName = "[memory]";  // as the view memory_events has it

}  // namespace

RowLots::Lot RowLots::Lot::WithRoom() {
  Lot lot;
  lot.rows = std::make_unique_for_overwrite<Row[]>(kLotRows + kRowsAhead);
  lot.values = std::make_unique_for_overwrite<int64_t[]>(kLotValues + kRowValues + 2 * kRowsAhead);
  return lot;
}

RowLots::RowLots(GatheredSlices& gathered, TableWriter& writer, bool on_threads)
    : gathered_(gathered),
      writer_(writer),
      on_threads_(on_threads),
      empty_(kLots),
      full_(kLots),
      to_write_(kLots) {
  if (!on_threads_) return;
  lot_ = Lot::WithRoom();
  for (size_t i = 1; i < kLots; ++i) static_cast<void>(empty_.Push(Lot::WithRoom()));
}

RowLots::~RowLots() { CloseAll(); }

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
  if (!on_threads_ || record.size() > kLotBytes) {
    TRACEDB_TRY(WaitUntilWritten());
    if (is_memory_name) writer_.MemoryName(id);
    return writer_.Text(table, id, record);
  }
  Row& row = lot_.rows[lot_.row_count++];
  row = {};
  row.id = id;
  row.dur = static_cast<int64_t>(record.size());
  row.at = static_cast<uint32_t>(PutBytes(lot_, record.data(), record.size()));
  row.table = static_cast<uint8_t>(kEventTables + static_cast<int>(table));
  row.marks = is_memory_name ? kIsMemoryName : 0;
  return GiveIfFull();
}

// No kind: 0.
uint8_t RowLots::PackedCall(const HostCall& call) {
  const int kind = call.kind.has_value() ? static_cast<int>(*call.kind) + 1 : 0;
  return static_cast<uint8_t>(kind | (call.waits ? 8 : 0) | static_cast<int>(call.graph_call) << 4);
}

HostCall RowLots::CallOf(uint8_t packed) {
  HostCall call;
  if ((packed & 7) != 0) call.kind = static_cast<HostKind>((packed & 7) - 1);
  call.waits = (packed & 8) != 0;
  call.graph_call = static_cast<GraphCall>(packed >> 4);
  return call;
}

Status RowLots::AddEvent(EventTable table, const EventRow& event, const ArgsValues& values) {
  size_t text_bytes = 0;
  for (uint32_t left = values.text_mask & values.mask; left != 0; left &= left - 1) {
    text_bytes += values.texts[static_cast<size_t>(std::countr_zero(left))].size();
  }
  if (text_bytes > kLotBytes) {
    TRACEDB_TRY(WaitUntilWritten());
    TRACEDB_TRY(gathered_.Add(table, event, values));
    return writer_.Event(table, event, values);
  }
  PrefetchToWrite(&lot_.rows[lot_.row_count] + kRowsAhead);
  PrefetchToWrite(&lot_.values[lot_.value_count] + 2 * kRowsAhead);
  Row& row = lot_.rows[lot_.row_count++];
  row.id = event.id;
  row.track = event.track;
  row.event_name = event.event_name;
  row.ts = event.ts.value_or(0);
  row.dur = event.dur.value_or(0);
  row.args_text = event.args_text;
  row.mask = values.mask;
  row.text_mask = values.text_mask;
  row.at = static_cast<uint32_t>(lot_.value_count);
  row.table = static_cast<uint8_t>(table);
  row.phase = event.phase;
  row.what = table == EventTable::kGpuSlice ? static_cast<uint8_t>(event.gpu_kind)
                                            : PackedCall(event.host_call);
  row.marks = static_cast<uint8_t>((event.ts.has_value() ? kHasTs : 0) |
                                   (event.dur.has_value() ? kHasDur : 0) |
                                   (event.begin_args.has_value() ? kHasBeginArgs : 0));
  int64_t* next = &lot_.values[lot_.value_count];
  for (uint32_t left = values.mask; left != 0; left &= left - 1) {
    const auto column = static_cast<size_t>(std::countr_zero(left));
    if ((values.text_mask >> column & 1) == 0) {
      *next++ = values.ints[column];
      continue;
    }
    const std::string_view text = values.texts[column];
    const size_t at = PutBytes(lot_, text.data(), text.size());
    *next++ = static_cast<int64_t>(at << 32 | text.size());
  }
  if (event.begin_args.has_value()) *next++ = *event.begin_args;
  lot_.value_count = static_cast<size_t>(next - lot_.values.get());
  return GiveIfFull();
}

size_t RowLots::PutBytes(Lot& lot, const void* bytes, size_t count) {
  const size_t at = lot.bytes.size();
  const auto* const first = static_cast<const char*>(bytes);
  lot.bytes.insert(lot.bytes.end(), first, first + count);
  return at;
}

Status RowLots::GiveIfFull() {
  const bool is_full = lot_.row_count >= kLotRows || lot_.value_count >= kLotValues ||
                       lot_.bytes.size() >= kLotBytes;
  return is_full ? Give() : Status(Done{});
}

Status RowLots::Give() {
  if (!writing_.joinable()) {
    TRACEDB_TRY(Ended());
    if (!StartThreads()) {
      on_threads_ = false;
      return WriteLast();
    }
  }
  auto next = full_.Push(std::move(lot_)) ? empty_.Pop() : std::nullopt;
  if (!next.has_value()) return Ended();
  lot_ = std::move(*next);
  return Done{};
}

// Both or none; false when no more threads are to be had.
bool RowLots::StartThreads() {
  try {
    writing_ = std::jthread([this] { WriteAll(); });
    gatherer_ = std::jthread([this] { GatherAll(); });
    return true;
  } catch (const std::system_error&) {
    to_write_.Close();
    if (writing_.joinable()) writing_.join();
    return false;
  }
}

void RowLots::CloseAll() {
  empty_.Close();
  full_.Close();
  to_write_.Close();
}

void RowLots::GatherAll() {
  pthread_setname_np(pthread_self(), "trace-gather");
  have_gathered_ = RunCaught([this]() -> Status {
    while (auto lot = full_.Pop()) {
      TRACEDB_TRY(Gather(*lot));
      if (!to_write_.Push(std::move(*lot))) break;
    }
    return Done{};
  });
  if (!have_gathered_.ok()) CloseAll();
  to_write_.Close();
}

void RowLots::WriteAll() {
  pthread_setname_np(pthread_self(), "trace-write");
  written_ = RunCaught([this]() -> Status {
    while (auto lot = to_write_.Pop()) {
      TRACEDB_TRY(Write(*lot));
      lot->Clear();
      static_cast<void>(empty_.Push(std::move(*lot)));
    }
    return Done{};
  });
  if (!written_.ok()) CloseAll();
  empty_.Close();
}

// All is ours when all lots have come back.
Status RowLots::WaitUntilWritten() {
  if (!on_threads_) return Done{};
  if (!writing_.joinable()) return WriteLast();
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

Status RowLots::Finish() {
  full_.Close();
  TRACEDB_TRY(Ended());
  return WriteLast();
}

// Waits for the threads, and says why they have ended.
Status RowLots::Ended() {
  if (gatherer_.joinable()) gatherer_.join();
  if (writing_.joinable()) writing_.join();
  TRACEDB_TRY(have_gathered_);
  return written_;
}

// The lot that was not given; there are no threads.
Status RowLots::WriteLast() {
  TRACEDB_TRY(Ended());
  TRACEDB_TRY(Gather(lot_));
  TRACEDB_TRY(Write(lot_));
  lot_.Clear();
  return Done{};
}

// What is written of a row.
void RowLots::Unpack(const Lot& lot, const Row& row, EventRow& event, ArgsValues& values) {
  const std::string_view bytes(lot.bytes.data(), lot.bytes.size());
  event.id = row.id;
  event.track = row.track;
  event.event_name = row.event_name;
  event.ts.reset();
  if ((row.marks & kHasTs) != 0) event.ts = row.ts;
  event.dur.reset();
  if ((row.marks & kHasDur) != 0) event.dur = row.dur;
  event.phase = row.phase;
  event.args_text = row.args_text;
  if (static_cast<EventTable>(row.table) == EventTable::kGpuSlice) {
    event.gpu_kind = static_cast<GpuKind>(row.what);
  }
  values.mask = row.mask;
  values.text_mask = row.text_mask;
  const int64_t* next = &lot.values[row.at];
  for (uint32_t left = row.mask; left != 0; left &= left - 1) {
    const auto column = static_cast<size_t>(std::countr_zero(left));
    const int64_t value = *next++;
    if ((row.text_mask >> column & 1) == 0) {
      values.ints[column] = value;
    } else {
      const auto place = static_cast<uint64_t>(value);
      values.texts[column] = bytes.substr(place >> 32, place & 0xffffffff);
    }
  }
}

Status RowLots::Gather(const Lot& lot) {
  EventRow event;
  ArgsValues values;
  for (const Row& row : std::span(lot.rows.get(), lot.row_count)) {
    const auto table = static_cast<EventTable>(row.table);
    if (row.table >= kEventTables || !IsSliceTable(table)) continue;
    Unpack(lot, row, event, values);
    if (table != EventTable::kGpuSlice) event.host_call = CallOf(row.what);
    event.begin_args.reset();
    if ((row.marks & kHasBeginArgs) != 0) {
      event.begin_args = lot.values[row.at + static_cast<size_t>(std::popcount(row.mask))];
    }
    TRACEDB_TRY(gathered_.Add(table, event, values));
  }
  return Done{};
}

Status RowLots::Write(const Lot& lot) {
  const std::string_view bytes(lot.bytes.data(), lot.bytes.size());
  EventRow event;
  ArgsValues values;
  for (const Row& row : std::span(lot.rows.get(), lot.row_count)) {
    if (row.table >= kEventTables) {
      if ((row.marks & kIsMemoryName) != 0) writer_.MemoryName(row.id);
      const std::string_view record = bytes.substr(row.at, static_cast<size_t>(row.dur));
      TRACEDB_TRY(writer_.Text(static_cast<TextTable>(row.table - kEventTables), row.id,
                               {reinterpret_cast<const uint8_t*>(record.data()), record.size()}));
      continue;
    }
    Unpack(lot, row, event, values);
    TRACEDB_TRY(writer_.Event(static_cast<EventTable>(row.table), event, values));
  }
  return Done{};
}

}  // namespace tracedb
