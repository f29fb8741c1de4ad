// Numbers that differ from event to event (ids, addresses, sizes) are taken out of an event's args
// and stored in integer columns; what is left of the text is the same for thousands of events and
// is stored once. A column is such a column; in the text a control character marks where it was, so
// that putting the value back restores the args key for key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace tracedb {

enum class ArgsColumn : uint8_t {
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

inline constexpr int kArgsColumns = static_cast<int>(ArgsColumn::kCount);

// Column names in the event tables, in the order of the values.
inline constexpr std::array<std::string_view, 21> kArgsColumnNames = {"event_id",
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

// The character that stands for a column in the text of args: none of JSON's blanks, never in valid
// JSON.
constexpr char ArgsMark(int column) {
  constexpr std::string_view kMarks =
      "\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18";
  static_assert(kMarks.size() == kArgsColumnNames.size());
  return kMarks[static_cast<size_t>(column)];
}

static_assert(kArgsColumns == static_cast<int>(kArgsColumnNames.size()));

// An event's values, by column.
struct ArgsValues {
  uint32_t mask = 0;       // which values are set
  uint32_t text_mask = 0;  // which of them hold texts
  std::array<int64_t, kArgsColumns> ints{};
  std::array<std::string_view, kArgsColumns> texts{};
};

// Separates args from the event's other keys in the text of its args, and the parts of a track's
// key.
inline constexpr char kPartMark = '\x1f';
inline constexpr char kAbsentMark = '\x1e';

// Bit c tells whether the control character c is a mark.
inline constexpr uint32_t kArgsMarkBits = [] {
  uint32_t bits = 0;
  for (int column = 0; column < kArgsColumns; ++column) bits |= uint32_t{1} << ArgsMark(column);
  return bits;
}();

constexpr bool IsArgsMark(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 32 && (kArgsMarkBits >> byte & 1) != 0;
}

enum class ArgClass : uint8_t { kColumn, kKeep, kOther };

struct ArgKey {
  ArgClass kind = ArgClass::kOther;
  ArgsColumn column = ArgsColumn::kNone;
};

// Numbers so small are few: under a key that is not known they stay in the text.
constexpr bool IsFewValued(int64_t value) { return value > -1000 && value < 1000; }

// Every key that is known. Of the keys of one column the first is what the column stands for where
// the args were not kept.
inline constexpr std::array kArgKeys = std::to_array<std::pair<std::string_view, ArgKey>>({
    {"id", {ArgClass::kOther, ArgsColumn::kId}},  // the event's own key, not one of its args
    {"External id", {ArgClass::kColumn, ArgsColumn::kExternalId}},
    {"external id", {ArgClass::kColumn, ArgsColumn::kExternalId}},
    {"correlation", {ArgClass::kColumn, ArgsColumn::kCorrelation}},
    {"Ev Idx", {ArgClass::kColumn, ArgsColumn::kEvIdx}},
    {"Profiler Event Index", {ArgClass::kColumn, ArgsColumn::kEvIdx}},
    {"Record function id", {ArgClass::kColumn, ArgsColumn::kRecordFunctionId}},
    {"Sequence number", {ArgClass::kColumn, ArgsColumn::kSequenceNumber}},
    {"Fwd thread id", {ArgClass::kColumn, ArgsColumn::kFwdThreadId}},
    {"Python id", {ArgClass::kColumn, ArgsColumn::kPythonId}},
    {"Python parent id", {ArgClass::kColumn, ArgsColumn::kPythonParentId}},
    {"Python module id", {ArgClass::kColumn, ArgsColumn::kPythonModuleId}},
    {"Addr", {ArgClass::kColumn, ArgsColumn::kAddr}},
    {"Bytes", {ArgClass::kColumn, ArgsColumn::kBytes}},
    {"bytes", {ArgClass::kColumn, ArgsColumn::kBytes}},
    {"Total Allocated", {ArgClass::kColumn, ArgsColumn::kTotalAllocated}},
    {"Total Reserved", {ArgClass::kColumn, ArgsColumn::kTotalReserved}},
    {"Seq", {ArgClass::kColumn, ArgsColumn::kCollectiveSeq}},
    {"cbid", {ArgClass::kKeep, ArgsColumn::kNone}},
    {"stream", {ArgClass::kKeep, ArgsColumn::kNone}},
    {"device", {ArgClass::kKeep, ArgsColumn::kNone}},
    {"sort_index", {ArgClass::kKeep, ArgsColumn::kNone}},
    {"warps per SM", {ArgClass::kKeep, ArgsColumn::kNone}},
    {"shared memory", {ArgClass::kKeep, ArgsColumn::kNone}},
    {"blocks per SM", {ArgClass::kKeep, ArgsColumn::kNone}},
    {"In msg nelems", {ArgClass::kKeep, ArgsColumn::kNone}},
    {"Out msg nelems", {ArgClass::kKeep, ArgsColumn::kNone}},
    {"est. achieved occupancy %", {ArgClass::kKeep, ArgsColumn::kNone}},
});

// What the column's number was called; empty for the spare columns, which the text alone tells of.
constexpr std::string_view KeyOfColumn(ArgsColumn column) {
  for (const auto& [key, meaning] : kArgKeys) {
    if (meaning.column == column) return key;
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
