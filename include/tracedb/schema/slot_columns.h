// The part of the schema that whoever writes event rows and whoever puts their args together again
// must agree on: columns for the numbers that were taken out of a text, and the characters that
// stand in the text where they were.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tracedb {

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

}  // namespace tracedb
