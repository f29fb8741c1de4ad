#include "sources/logs/log_line.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace tracedb {
namespace {

std::string RandomLine(std::mt19937& random, size_t bytes_max) {
  constexpr std::string_view kBytes = "ab0 [;m@~|:\x1b\x1b\x1b[\t\r\x07\x1f\x7f\x80\xc3\xff";
  std::string line;
  // Long stretches without a control character as well: they are passed over in blocks.
  const bool is_plain = random() % 2 == 0;
  for (size_t left = random() % bytes_max; left > 0; --left) {
    const bool is_odd = !is_plain || random() % 40 == 0;
    line += is_odd ? kBytes[random() % kBytes.size()] : static_cast<char>(' ' + random() % 95);
    if (is_odd && random() % 20 == 0) line += '\0';
  }
  return line;
}

size_t FirstControl(std::string_view text, size_t at) {
  while (at < text.size() && static_cast<unsigned char>(text[at]) >= 32) ++at;
  return at;
}

std::string Uncoloured(std::string_view raw) {
  std::string plain;
  for (size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] == '\0') continue;
    if (raw[at] != '\x1b') {
      plain += raw[at];
      continue;
    }
    if (at + 1 == raw.size() || raw[at + 1] != '[') continue;
    for (at += 2; at < raw.size() && (raw[at] < '@' || raw[at] > '~');) ++at;
  }
  return plain;
}

TEST(FindControl, finds_the_first_byte_below_a_blank_from_every_place_on) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    const std::string line = RandomLine(random, 120);
    for (size_t at = 0; at <= line.size(); ++at) {
      ASSERT_EQ(FindControl(line, at), FirstControl(line, at)) << testing::PrintToString(line);
    }
  }
}

TEST(LogLineCleaner, takes_out_escape_sequences_and_nuls_alone) {
  std::mt19937 random(8);
  LogLineCleaner cleaner;
  for (int i = 0; i < 20000; ++i) {
    const std::string line = RandomLine(random, 150);
    ASSERT_EQ(std::string(cleaner.Clean(line).whole), Uncoloured(line))
        << testing::PrintToString(line);
  }
}

TEST(LogLineCleaner, says_where_the_first_colon_and_the_first_bar_are) {
  LogLineCleaner cleaner;
  const LogLine line = cleaner.Clean("0: [Rank 0]  a b: c | d: e |");
  EXPECT_EQ(line.text, "a b: c | d: e |");
  EXPECT_EQ(line.colon, 3u);
  EXPECT_EQ(line.bar, 7u);
  EXPECT_EQ(cleaner.Clean("a").colon, std::string_view::npos);
  EXPECT_EQ(cleaner.Clean("").bar, std::string_view::npos);
}

}  // namespace
}  // namespace tracedb
