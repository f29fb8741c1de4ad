// Numbers that differ from event to event (ids, addresses, sizes) are taken out of an event's args
// and stored in integer columns; what is left of the text is the same for thousands of events and
// is stored once. A slot is such a column; in the text a control character marks where it was, so
// that putting the value back restores the args key for key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace tracedb {

enum class Slot : uint8_t {
  kId,                // the event's own "id" (flows, async events)
  kExternalId,        // "External id": the CPU operator that caused it
  kCorrelation,       // "correlation": joins a launch with its GPU activity
  kEvIdx,             // "Ev Idx"
  kRecordFunctionId,  // "Record function id"
  kSequenceNumber,    // "Sequence number": joins forward with backward
  kFwdThreadId,       // "Fwd thread id"
  kPythonId,          // "Python id"
  kPythonParentId,    // "Python parent id"
  kPythonModuleId,    // "Python module id"
  kAddr,              // "Addr" of a memory event
  kBytes,             // "Bytes" or "bytes"
  kTotalAllocated,    // "Total Allocated"
  kTotalReserved,     // "Total Reserved"
  kCollectiveSeq,     // "Seq" of a collective
  kValue1,            // any other value that differs much, in order of appearance
  kValue2,
  kValue3,
  kValue4,
  kValue5,
  kValue6,
  kCount,
  kNone = 255
};

inline constexpr int kSlots = static_cast<int>(Slot::kCount);

// Column names in the event tables, in the order of the slots.
inline constexpr std::array<std::string_view, 21> kSlotColumns = {"event_id",
                                                                  "external_id",
                                                                  "correlation",
                                                                  "ev_idx",
                                                                  "rf_id",
                                                                  "seq",
                                                                  "fwd_tid",
                                                                  "py_id",
                                                                  "py_parent_id",
                                                                  "py_module_id",
                                                                  "addr",
                                                                  "bytes",
                                                                  "total_allocated",
                                                                  "total_reserved",
                                                                  "collective_seq",
                                                                  "v1",
                                                                  "v2",
                                                                  "v3",
                                                                  "v4",
                                                                  "v5",
                                                                  "v6"};

// The character that stands for a slot in an args text: none of JSON's blanks, never in valid
// JSON.
constexpr char SlotMark(int slot) {
  constexpr std::string_view kMarks =
      "\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18";
  static_assert(kMarks.size() == kSlotColumns.size());
  return kMarks[static_cast<size_t>(slot)];
}

static_assert(kSlots == static_cast<int>(kSlotColumns.size()));

// An event's values, by slot.
struct SlotValues {
  uint32_t mask = 0;       // which slots are set
  uint32_t text_mask = 0;  // which of them hold texts
  std::array<int64_t, kSlots> ints{};
  std::array<std::string_view, kSlots> texts{};
};

// Separates args from the event's other keys in a shape's text, and the parts of a track's key.
inline constexpr char kPartMark = '\x1f';
inline constexpr char kAbsentMark = '\x1e';

constexpr bool IsSlotMark(char c) {
  for (int slot = 0; slot < kSlots; ++slot) {
    if (SlotMark(slot) == c) return true;
  }
  return false;
}

enum class ArgClass : uint8_t { kSlot, kKeep, kOther };

struct ArgKey {
  ArgClass kind = ArgClass::kOther;
  Slot slot = Slot::kNone;
};

// Numbers so small are few: under a key that is not known they stay in the text.
constexpr bool IsFewValued(int64_t value) { return value > -1000 && value < 1000; }

// Every key that is known. Of the keys of one column the first is what the column stands for where
// the args were not kept.
inline constexpr std::array kArgKeys = std::to_array<std::pair<std::string_view, ArgKey>>({
    {"id", {ArgClass::kOther, Slot::kId}},  // the event's own key, not one of its args
    {"External id", {ArgClass::kSlot, Slot::kExternalId}},
    {"external id", {ArgClass::kSlot, Slot::kExternalId}},
    {"correlation", {ArgClass::kSlot, Slot::kCorrelation}},
    {"Ev Idx", {ArgClass::kSlot, Slot::kEvIdx}},
    {"Profiler Event Index", {ArgClass::kSlot, Slot::kEvIdx}},
    {"Record function id", {ArgClass::kSlot, Slot::kRecordFunctionId}},
    {"Sequence number", {ArgClass::kSlot, Slot::kSequenceNumber}},
    {"Fwd thread id", {ArgClass::kSlot, Slot::kFwdThreadId}},
    {"Python id", {ArgClass::kSlot, Slot::kPythonId}},
    {"Python parent id", {ArgClass::kSlot, Slot::kPythonParentId}},
    {"Python module id", {ArgClass::kSlot, Slot::kPythonModuleId}},
    {"Addr", {ArgClass::kSlot, Slot::kAddr}},
    {"Bytes", {ArgClass::kSlot, Slot::kBytes}},
    {"bytes", {ArgClass::kSlot, Slot::kBytes}},
    {"Total Allocated", {ArgClass::kSlot, Slot::kTotalAllocated}},
    {"Total Reserved", {ArgClass::kSlot, Slot::kTotalReserved}},
    {"Seq", {ArgClass::kSlot, Slot::kCollectiveSeq}},
    {"cbid", {ArgClass::kKeep, Slot::kNone}},
    {"stream", {ArgClass::kKeep, Slot::kNone}},
    {"device", {ArgClass::kKeep, Slot::kNone}},
    {"sort_index", {ArgClass::kKeep, Slot::kNone}},
    {"warps per SM", {ArgClass::kKeep, Slot::kNone}},
    {"shared memory", {ArgClass::kKeep, Slot::kNone}},
    {"blocks per SM", {ArgClass::kKeep, Slot::kNone}},
    {"In msg nelems", {ArgClass::kKeep, Slot::kNone}},
    {"Out msg nelems", {ArgClass::kKeep, Slot::kNone}},
    {"est. achieved occupancy %", {ArgClass::kKeep, Slot::kNone}},
});

// What the column's number was called; empty for the spare columns, which the text alone tells of.
constexpr std::string_view KeyOfSlot(Slot slot) {
  for (const auto& [key, meaning] : kArgKeys) {
    if (meaning.slot == slot) return key;
  }
  return {};
}

// What to do with a number under this key: a column of its own, stay in the text because it takes
// few values, or decide by its size.
inline ArgKey ClassifyArg(std::string_view key) {
  // Sizes are compared first: nearly every key is ruled out by a number the compiler knows.
  const auto is = [key]<size_t i>() {
    constexpr std::string_view kKey = kArgKeys[i].first;
    return kArgKeys[i].second.kind != ArgClass::kOther && key.size() == kKey.size() &&
           std::memcmp(key.data(), kKey.data(), kKey.size()) == 0;
  };
  ArgKey found;
  [&]<size_t... i>(std::index_sequence<i...>) {
    static_cast<void>(((is.template operator()<i>() && (found = kArgKeys[i].second, true)) || ...));
  }
  (std::make_index_sequence<kArgKeys.size()>());
  return found;
}

}  // namespace tracedb
