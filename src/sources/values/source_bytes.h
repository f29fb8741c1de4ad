// The bytes of a source that is no lines, in order, from a small buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/sources/read/source_text.h"

namespace tracedb {

class SourceBytes {
 public:
  static constexpr size_t kBufferBytes = size_t{64} << 10;

  explicit SourceBytes(SourceText& text) : text_(text), buffer_(kBufferBytes) {}

  // Null: there is none.
  Result<std::optional<unsigned char>> Next() {
    if (at_ == end_) TRACEDB_TRY(Refill());
    if (at_ == end_) return std::optional<unsigned char>();
    return std::optional(static_cast<unsigned char>(buffer_[at_++]));
  }
  // As Next(), and it stays.
  Result<std::optional<unsigned char>> Peek() {
    TRACEDB_ASSIGN(byte, Next());
    if (byte.has_value()) --at_;
    return byte;
  }
  // So many bytes, or as many as there are.
  Status Take(size_t count, std::string& bytes);

  uint64_t offset() const { return before_ + at_; }  // of the next byte, unpacked

 private:
  Status Refill();

  SourceText& text_;
  std::vector<char> buffer_;
  size_t at_ = 0;
  size_t end_ = 0;
  uint64_t before_ = 0;
};

}  // namespace tracedb
