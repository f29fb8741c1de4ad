// Numbers and texts of a pickle: what an opcode has after it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sources/values/plain_values.h"
#include "sources/values/source_bytes.h"
#include "tracedb/base/result.h"

namespace tracedb {

class PickleScalars {
 public:
  static constexpr size_t kTextBytesMax = size_t{1} << 20;  // a longer one is an error

  PickleScalars(SourceBytes& bytes, PlainValues& values) : bytes_(bytes), values_(values) {}

  static bool IsScalar(unsigned char opcode);
  // The value after a scalar's opcode; null: the file ends within.
  Result<std::optional<ValueId>> Take(unsigned char opcode);

  // A number of so many bytes, the least first; null: the file ends within.
  Result<std::optional<uint64_t>> TakeCount(size_t bytes);
  // Up to the next line feed; null: the file ends before it.
  Result<std::optional<std::string>> TakeLine();

 private:
  Result<std::optional<ValueId>> TakeLong(size_t length_bytes);
  Result<std::optional<ValueId>> TakeText(size_t length_bytes);
  Result<std::optional<ValueId>> TakeWritten(unsigned char opcode);

  SourceBytes& bytes_;
  PlainValues& values_;
  std::string scratch_;
};

}  // namespace tracedb
