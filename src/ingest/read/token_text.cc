#include "ingest/read/token_text.h"

#include <algorithm>
#include <cstring>

#include "tracedb/base/prefetch.h"

namespace tracedb {
namespace {

constexpr size_t kCopyBytes = 16;
constexpr size_t kUsualCopies = 4;  // of a piece of text
static_assert(kCopyBytes <= DeflateTokens::kSlackBytes);

// The lines that come after what is written next: other cores have had them, and a core waits for
// each that it has not asked for.
constexpr ptrdiff_t kStretchBytes = 1024;
constexpr ptrdiff_t kAheadBytes = 2048;

inline void AskForLines(const char* out, const char* limit) {
  constexpr ptrdiff_t kLineBytes = 64;
  const char* const first = out + kAheadBytes;
  const ptrdiff_t count = std::min(kStretchBytes, limit - first);
  for (ptrdiff_t i = 0; i < count; i += kLineBytes) PrefetchToWrite(first + i);
}

// Both copy 16 bytes at a time: the first writes up to 15 too many, the second up to 64.
inline char* CopyLiterals(char* out, const uint8_t* from, size_t count) {
  size_t done = 0;
  do {
    std::memcpy(out + done, from + done, kCopyBytes);
    done += kCopyBytes;
  } while (done < count);
  return out + count;
}

inline char* CopyText(char* out, size_t distance, size_t length) {
  char* const end = out + length;
  if (distance < kCopyBytes) {
    // What repeats after `distance` does so after a multiple of it as well.
    const size_t multiple = distance * ((kCopyBytes - 1 + distance) / distance);
    const char* from = out - distance;
    for (const char* const first_end = out + std::min(length, multiple); out < first_end;) {
      *out++ = *from++;
    }
    if (length <= multiple) return end;
    distance = multiple;
  }
  // Most copies are of less: whether they are is not worth a branch that is guessed wrongly.
  for (size_t i = 0; i < kUsualCopies; ++i, out += kCopyBytes) {
    std::memcpy(out, out - distance, kCopyBytes);
  }
  for (; out < end; out += kCopyBytes) std::memcpy(out, out - distance, kCopyBytes);
  return end;
}

}  // namespace

size_t TokenText::Write(const DeflateTokens& tokens, size_t& next, size_t& literals_at,
                        std::span<char> into) {
  char* const begin = into.data();
  char* out = begin;
  const char* const limit = begin + into.size() - std::min(into.size(), kRoomBytesMin);
  const uint8_t* literals = tokens.literals.data() + literals_at;
  const DeflateToken* token = tokens.tokens.data() + next;
  const DeflateToken* const end = tokens.tokens.data() + tokens.token_count;
  while (token < end && out < limit) {
    const char* const stretch_end = out + std::min<ptrdiff_t>(kStretchBytes, limit - out);
    AskForLines(out, limit);
    for (; token < end && out < stretch_end; ++token) {
      const uint32_t count = token->literals();
      out = CopyLiterals(out, literals, count);
      literals += count;
      const size_t length = token->length();
      const size_t distance = token->distance();
      if (distance > static_cast<size_t>(out - begin)) [[unlikely]] {
        out = CopyOld(out, begin, distance, length);
      } else {
        out = CopyText(out, distance, length);
      }
    }
  }
  next = static_cast<size_t>(token - tokens.tokens.data());
  literals_at = static_cast<size_t>(literals - tokens.literals.data());
  const auto written = static_cast<size_t>(out - begin);
  Remember(into.first(written));
  return written;
}

// A copy that begins in what was written before.
char* TokenText::CopyOld(char* out, const char* begin, size_t distance, size_t length) const {
  const size_t back = std::min(distance - static_cast<size_t>(out - begin), history_bytes_);
  const size_t old = std::min(length, back);
  std::memcpy(out, history_.data() + history_.size() - back, old);
  return old == length ? out + old : CopyText(out + old, distance, length - old);
}

void TokenText::Remember(std::span<const char> text) {
  bytes_ += text.size();
  const size_t added = std::min(text.size(), history_.size());
  std::memmove(history_.data(), history_.data() + added, history_.size() - added);
  std::memcpy(history_.data() + history_.size() - added, text.data() + text.size() - added, added);
  history_bytes_ = std::min(history_bytes_ + added, history_.size());
}

std::span<const char> TokenText::History() const {
  return std::span(history_).last(history_bytes_);
}

bool TokenText::ReachesTooFar(const DeflateTokens& tokens) const {
  uint64_t bytes = bytes_;
  for (size_t i = 0; i < tokens.token_count && bytes < kHistoryBytes; ++i) {
    const DeflateToken& token = tokens.tokens[i];
    bytes += token.literals();
    if (token.length() > 0 && token.distance() > bytes) return true;
    bytes += token.length();
  }
  return false;
}

}  // namespace tracedb
