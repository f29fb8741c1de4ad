// One event's keys and values, taken out of the JSON parser: the only contact with simdjson's
// objects. Views point into the parsed text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include "tracedb/schema/args_columns.h"

namespace tracedb {

class EventFields {
 public:
  // Tokens as they stand in the text, strings with their quotes; empty when the key is absent.
  std::string_view phase, name, category, pid, tid, ts, dur, id, scope;
  std::string_view device, stream;  // from args

  // The args text with column marks in place of values; empty when there are no args.
  std::string args;
  // The keys that have no place elsewhere, as `"key":value,...` without braces.
  std::string others;

  uint32_t columns_mask = 0;
  uint32_t text_mask = 0;
  std::array<int64_t, kArgsColumns> ints{};
  std::array<std::string_view, kArgsColumns> texts{};
  std::array<std::string_view, kArgsColumns> tokens{};  // the values as they stand, without quotes

  // Reads all keys of `event`. An error means that the text is not what it should be: fields are
  // then half filled.
  simdjson::error_code Read(simdjson::ondemand::document& document,
                            simdjson::ondemand::object event);

 private:
  using Value = simdjson::ondemand::value;

  void Clear();
  simdjson::error_code ReadKey(simdjson::ondemand::document& document, std::string_view key,
                               Value value);
  simdjson::error_code ReadArgs(simdjson::ondemand::document& document, Value value);
  simdjson::error_code ReadArg(std::string_view key, std::string_view token, const char*& copied);
  simdjson::error_code ReadNested(std::string_view key, Value value);
  simdjson::error_code ReadOther(std::string_view key, Value value);
  void ReadId(std::string_view key, std::string_view token);
  ArgsColumn ColumnFor(std::string_view key, std::string_view number, bool is_int, int64_t value);
  ArgsColumn FreeSpareColumn() const;
  void MakeRoomForLast(std::string_view key, bool is_int);
  void SetInt(ArgsColumn column, int64_t value, std::string_view token);
  void SetText(ArgsColumn column, std::string_view text);

  uint32_t args_mask_ = 0;  // the values that args took
};

}  // namespace tracedb
