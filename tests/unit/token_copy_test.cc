// CopyTokens: every width makes what copying byte by byte does, and stops at the same token.

#include "ingest/read/token_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace tracedb {
namespace {

std::vector<CopyTokens> AllWidths() {
  std::vector<CopyTokens> all = {CopyTokensPlain};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) all.push_back(CopyTokensAvx2);
  if (__builtin_cpu_supports("avx512bw") != 0) all.push_back(CopyTokensAvx512);
#endif
  return all;
}

struct Tokens {
  std::vector<DeflateToken> tokens;
  std::string literals;
  std::string text;
};

// Copies of all lengths, from all distances that there is text for.
Tokens RandomTokens(std::mt19937& random, size_t count) {
  Tokens made;
  for (size_t i = 0; i < count; ++i) {
    const auto literals = i == 0 ? 5 : random() % 8 == 0 ? random() % 256 : random() % 6;
    for (uint32_t k = 0; k < literals; ++k) made.text += static_cast<char>('a' + random() % 26);
    made.literals.append(made.text, made.text.size() - literals);
    const size_t most = std::min<size_t>(made.text.size(), random() % 3 == 0 ? 32768 : 100);
    const size_t distance = 1 + random() % most;
    const uint32_t length = random() % 20 == 0 ? 0 : 3 + random() % 256;
    for (uint32_t k = 0; k < length; ++k) made.text += made.text[made.text.size() - distance];
    made.tokens.push_back(
        DeflateToken::Of(static_cast<uint32_t>(literals), length, static_cast<uint32_t>(distance)));
  }
  made.literals.append(DeflateTokens::kSlackBytes, '\0');
  return made;
}

TokenRun RunOf(const Tokens& tokens, std::vector<char>& room) {
  return {tokens.tokens.data(), tokens.tokens.data() + tokens.tokens.size(),
          reinterpret_cast<const uint8_t*>(tokens.literals.data()), room.data()};
}

TEST(CopyTokens, every_width_makes_the_text_of_byte_by_byte) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const Tokens tokens = RandomTokens(random, 500);
    for (const CopyTokens copy : AllWidths()) {
      std::vector<char> room(tokens.text.size() + kTokenRoomBytes);
      TokenRun run = RunOf(tokens, room);
      copy(run, room.data(), room.data() + tokens.text.size() + 1);
      EXPECT_EQ(run.token, run.end);
      ASSERT_EQ(std::string(room.data(), run.out), tokens.text);
    }
  }
}

TEST(CopyTokens, a_limit_ends_it_and_it_goes_on_from_there) {
  std::mt19937 random(5);
  const Tokens tokens = RandomTokens(random, 300);
  for (const CopyTokens copy : AllWidths()) {
    std::vector<char> room(tokens.text.size() + kTokenRoomBytes);
    TokenRun run = RunOf(tokens, room);
    for (size_t limit = 100; run.token < run.end; limit += 100) {
      copy(run, room.data(), room.data() + std::min(limit, tokens.text.size() + 1));
    }
    EXPECT_EQ(std::string(room.data(), run.out), tokens.text);
  }
}

TEST(CopyTokens, a_copy_of_what_was_before_is_left) {
  for (const CopyTokens copy : AllWidths()) {
    Tokens tokens;
    tokens.literals = "abcde" + std::string(DeflateTokens::kSlackBytes, '\0');
    tokens.tokens = {DeflateToken::Of(2, 3, 2), DeflateToken::Of(3, 10, 9)};
    std::vector<char> room(2 * kTokenRoomBytes);
    TokenRun run = RunOf(tokens, room);
    copy(run, room.data(), room.data() + kTokenRoomBytes);
    EXPECT_EQ(run.token, tokens.tokens.data() + 1);  // it begins one before the text
    EXPECT_EQ(*run.literals, 'c');
    EXPECT_EQ(std::string(room.data(), run.out), "ababa");
  }
}

}  // namespace
}  // namespace tracedb
