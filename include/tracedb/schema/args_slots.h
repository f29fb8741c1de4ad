// Numbers that differ from event to event (ids, addresses, sizes) are taken out of an event's args
// and stored in integer columns; what is left of the text is the same for thousands of events and
// is stored once. A slot is such a column; in the text a control character marks where it was, so
// that putting the value back restores the args key for key.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tracedb/schema/slot_columns.h"

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

// An event's values, by slot.
struct SlotValues {
  uint32_t mask = 0;       // which slots are set
  uint32_t text_mask = 0;  // which of them hold texts
  std::array<int64_t, kSlots> ints{};
  std::array<std::string_view, kSlots> texts{};
};

static_assert(kSlots == static_cast<int>(kSlotColumns.size()));

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

// What to do with a number under this key: a column of its own, stay in the text because it takes
// few values, or decide by its size.
inline ArgKey ClassifyArg(std::string_view key) {
  using enum ArgClass;
  // Sizes agree already: with a constant size the comparison is a few instructions.
  const auto is = [key]<size_t n>(const char(&name)[n]) {
    return std::memcmp(key.data(), name, n - 1) == 0;
  };
  switch (key.size()) {
    case 3:
      if (is("Seq")) return {kSlot, Slot::kCollectiveSeq};
      break;
    case 4:
      if (is("Addr")) return {kSlot, Slot::kAddr};
      if (is("cbid")) return {kKeep, Slot::kNone};
      break;
    case 5:
      if (is("Bytes") || is("bytes")) return {kSlot, Slot::kBytes};
      break;
    case 6:
      if (is("Ev Idx")) return {kSlot, Slot::kEvIdx};
      if (is("stream") || is("device")) return {kKeep, Slot::kNone};
      break;
    case 9:
      if (is("Python id")) return {kSlot, Slot::kPythonId};
      break;
    case 10:
      if (is("sort_index")) return {kKeep, Slot::kNone};
      break;
    case 11:
      if (is("correlation")) return {kSlot, Slot::kCorrelation};
      if (is("External id") || is("external id")) return {kSlot, Slot::kExternalId};
      break;
    case 12:
      if (is("warps per SM")) return {kKeep, Slot::kNone};
      break;
    case 13:
      if (is("Fwd thread id")) return {kSlot, Slot::kFwdThreadId};
      if (is("shared memory") || is("blocks per SM")) return {kKeep, Slot::kNone};
      if (is("In msg nelems")) return {kKeep, Slot::kNone};
      break;
    case 14:
      if (is("Out msg nelems")) return {kKeep, Slot::kNone};
      if (is("Total Reserved")) return {kSlot, Slot::kTotalReserved};
      break;
    case 15:
      if (is("Sequence number")) return {kSlot, Slot::kSequenceNumber};
      if (is("Total Allocated")) return {kSlot, Slot::kTotalAllocated};
      break;
    case 16:
      if (is("Python parent id")) return {kSlot, Slot::kPythonParentId};
      if (is("Python module id")) return {kSlot, Slot::kPythonModuleId};
      break;
    case 18:
      if (is("Record function id")) return {kSlot, Slot::kRecordFunctionId};
      break;
    case 20:
      if (is("Profiler Event Index")) return {kSlot, Slot::kEvIdx};
      break;
    case 25:
      if (is("est. achieved occupancy %")) return {kKeep, Slot::kNone};
      break;
    default:
      break;
  }
  return {};
}

}  // namespace tracedb
