// Tokens of Deflate as text, as long as they copy from where they write.
#pragma once

#include <cstdint>

#include "ingest/read/deflate_tokens.h"

namespace tracedb {

// Where the copying is: the next token, its literals, and where its text goes.
struct TokenRun {
  const DeflateToken* token;
  const DeflateToken* end;
  const uint8_t* literals;
  char* out;
};

// What a token may write, and what its copying writes and reads too much.
inline constexpr size_t kTokenRoomBytes = 1024;

// Goes on until the tokens are over, `out` has reached `limit`, or a token copies what was before
// `begin`: that one has not been taken then. kTokenRoomBytes must be there after `limit`. Picks the
// widest copies that the processor has: text that was written with a wide store a moment ago is
// there at once for a load of a part of it, that of several stores is not.
using CopyTokens = void (*)(TokenRun& run, const char* begin, const char* limit);
CopyTokens WidestCopy();

// The versions it picks from; the wide ones exist on x86-64 only.
void CopyTokensPlain(TokenRun& run, const char* begin, const char* limit);
void CopyTokensAvx2(TokenRun& run, const char* begin, const char* limit);
void CopyTokensAvx512(TokenRun& run, const char* begin, const char* limit);

// A copy that begins `distance` before `out`, maybe of what it writes itself; returns its end.
char* CopyNear(char* out, size_t distance, size_t length);

}  // namespace tracedb
