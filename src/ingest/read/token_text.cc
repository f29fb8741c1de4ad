#include "ingest/read/token_text.h"

#include <algorithm>
#include <cstring>

namespace tracedb {

static_assert(TokenText::kRoomBytesMin >= kTokenRoomBytes);

size_t TokenText::Write(const DeflateTokens& tokens, size_t& next, size_t& literals_at,
                        std::span<char> into) {
  char* const begin = into.data();
  const char* const limit = begin + into.size() - std::min(into.size(), kRoomBytesMin);
  TokenRun run{tokens.tokens.data() + next, tokens.tokens.data() + tokens.token_count,
               tokens.literals.data() + literals_at, begin};
  for (;;) {
    copy_(run, begin, limit);
    if (run.token == run.end || run.out >= limit) break;
    const DeflateToken token = *run.token++;  // it copies what was written before
    std::memcpy(run.out, run.literals, token.literals());
    run.literals += token.literals();
    run.out = CopyOld(run.out + token.literals(), begin, token.distance(), token.length());
  }
  next = static_cast<size_t>(run.token - tokens.tokens.data());
  literals_at = static_cast<size_t>(run.literals - tokens.literals.data());
  const auto written = static_cast<size_t>(run.out - begin);
  Remember(into.first(written));
  return written;
}

// A copy that begins in what was written before.
char* TokenText::CopyOld(char* out, const char* begin, size_t distance, size_t length) const {
  const size_t back = std::min(distance - static_cast<size_t>(out - begin), history_bytes_);
  const size_t old = std::min(length, back);
  std::memcpy(out, history_.data() + history_.size() - back, old);
  return old == length ? out + old : CopyNear(out + old, distance, length - old);
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
