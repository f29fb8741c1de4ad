// Deflate's copying: tokens become text, in the order of the stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ingest/read/deflate_tokens.h"
#include "ingest/read/token_copy.h"

namespace tracedb {

// Not thread safe.
class TokenText {
 public:
  static constexpr size_t kHistoryBytes = 32 * 1024;  // how far back a copy may begin
  static constexpr size_t kRoomBytesMin = kTokenRoomBytes;

  // The tokens from `next` on as text, until they are over or less than kRoomBytesMin is left of
  // `into`; how many bytes that are. `next` and `literals_at` go on by what was taken.
  size_t Write(const DeflateTokens& tokens, size_t& next, size_t& literals_at,
               std::span<char> into);

  // Whether a copy among these tokens, which are next, begins before the text.
  bool ReachesTooFar(const DeflateTokens& tokens) const;

  uint64_t bytes() const { return bytes_; }  // written so far
  // The last of them, 32 KiB at most.
  std::span<const char> History() const;

 private:
  char* CopyOld(char* out, const char* begin, size_t distance, size_t length) const;
  void Remember(std::span<const char> text);

  const CopyTokens copy_ = WidestCopy();
  std::array<char, kHistoryBytes> history_;  // before what is being written; at its end
  size_t history_bytes_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace tracedb
