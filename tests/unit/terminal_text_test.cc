#include "tracedb/text/terminal_text.h"

#include <gtest/gtest.h>

namespace tracedb {
namespace {

TEST(WrapLines, breaks_at_words_and_sets_in_what_goes_on) {
  EXPECT_EQ(WrapLines("one two three four five six\n", 20), "one two three four\n  five six\n");
  EXPECT_EQ(WrapLines("  one two three four five", 20), "  one two three four\n    five");
}

TEST(WrapLines, leaves_what_fits_and_what_is_for_no_terminal) {
  EXPECT_EQ(WrapLines("a\n\nb\n", 20), "a\n\nb\n");
  EXPECT_EQ(WrapLines("a long line that nobody watches\n", 0), "a long line that nobody watches\n");
  EXPECT_EQ(WrapLines("", 20), "");
}

TEST(WrapLines, a_word_longer_than_a_line_is_broken) {
  EXPECT_EQ(WrapLines("abcdefghijklmnopqrstuvwxyz: x", 20), "abcdefghijklmnopqrst\n  uvwxyz: x");
}

}  // namespace
}  // namespace tracedb
