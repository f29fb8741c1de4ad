// The text of an event's args without the numbers that vary (each has a mark in its place), checked
// once for all the events that share it, and what the analysis wants to know of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tracedb/schema/args_columns.h"

namespace tracedb {

struct ArgsText {
  std::optional<std::string>
      args;  // valid JSON but for the column marks, no blanks outside strings
  std::optional<std::string> others;  // "key":value,... of the event's other keys

  std::optional<std::string> collective, dtype, group_name, group_description, group_ranks;
  std::optional<int64_t> in_nelems, out_nelems, group_size, src_rank, dst_rank;
  std::optional<std::string> grid, block;
  std::optional<int64_t> registers, shared_memory_bytes, device_type, device_id;
  std::optional<double> occupancy_pct;
  bool repaired = false;  // it was not valid JSON as it stood
};

class ArgsTextReader {
 public:
  ArgsTextReader();
  ~ArgsTextReader();
  ArgsTextReader(const ArgsTextReader&) = delete;
  ArgsTextReader& operator=(const ArgsTextReader&) = delete;

  // `text` is as the parser makes it: args, and after kPartMark the other keys.
  ArgsText Read(std::string_view text);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The text with its marks replaced by the values.
std::string FilledArgsText(std::string_view args_text, const ArgsValues& values);

// A filled text, taken apart.
struct ArgsTextParts {
  explicit ArgsTextParts(std::string_view filled);
  std::string args;    // empty: none
  std::string others;  // "key":value,... of the other keys
};

// "[1, 0]" -> "[0,1]"; nothing when it is no list of numbers, is shortened ("...") or is empty.
std::optional<std::string> SortedRanks(std::string_view list);

// The members of two JSON objects in one; where both have a key, `second` wins.
std::string MergedObjects(std::string_view first, std::string_view second);

}  // namespace tracedb
