// The loop over tokens, for copies of any width. Each file that includes it has its own, compiled
// for its processor: nothing here may be shared with another.
#pragma once

#include <cstring>

#include "ingest/read/token_copy.h"

namespace tracedb {

// `Wide` copies kBytes at a time, kUsual times before it looks whether that was enough.
template <typename Wide>
struct TokenCopier {
  static constexpr size_t kLiteralBytes = 16;
  static_assert(kLiteralBytes <= DeflateTokens::kSlackBytes);

  // Writes up to 15 too many.
  static char* Literals(char* out, const uint8_t* from, size_t count) {
    size_t done = 0;
    do {
      std::memcpy(out + done, from + done, kLiteralBytes);
      done += kLiteralBytes;
    } while (done < count);
    return out + count;
  }

  // Writes up to 64 too many. Most copies are of less than that: whether they are is not worth a
  // branch that is guessed wrongly.
  static char* Text(char* out, size_t distance, size_t length) {
    if (distance < Wide::kBytes) return CopyNear(out, distance, length);
    char* const end = out + length;
    for (size_t i = 0; i < Wide::kUsual; ++i, out += Wide::kBytes) Wide::Copy(out, out - distance);
    for (; out < end; out += Wide::kBytes) Wide::Copy(out, out - distance);
    return end;
  }

  static void Run(TokenRun& run, const char* begin, const char* limit) {
    const DeflateToken* token = run.token;
    const DeflateToken* const end = run.end;
    const uint8_t* literals = run.literals;
    char* out = run.out;
    for (; token < end && out < limit; ++token) {
      const uint32_t count = token->literals();
      const size_t distance = token->distance();
      if (distance > static_cast<size_t>(out - begin) + count) [[unlikely]]
        break;
      out = Literals(out, literals, count);
      literals += count;
      out = Text(out, distance, token->length());
    }
    run = {token, end, literals, out};
  }
};

}  // namespace tracedb
