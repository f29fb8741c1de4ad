// AfterBlanks against a look at each byte.

#include "tracedb/json/json_blanks.h"

#include <gtest/gtest.h>

#include <string>

#include "random_json.h"

namespace tracedb {
namespace {

TEST(JsonBlanks, agrees_with_a_look_at_each_byte) {
  test::Random random(7);
  constexpr std::string_view kBytes = " \t\r\n,{x\x01\xa0\x8d";
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    const bool mixed = random.Below(2) == 0;
    const char only = kBytes[random.Below(5)];
    for (size_t left = random.Below(120); left > 0; --left) {
      text += mixed ? kBytes[random.Below(5)] : only;
    }
    if (random.Below(4) != 0) text += kBytes[random.Below(kBytes.size())];
    text += "  ";
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const size_t from = random.Below(text.size() + 1);
    const size_t blanks = std::min(text.find_first_not_of(" \t\r\n", from), text.size());
    const size_t commas = std::min(text.find_first_not_of(" \t\r\n,", from), text.size());
    ASSERT_EQ(AfterBlanks(begin + from, end) - begin, static_cast<ptrdiff_t>(blanks)) << text;
    ASSERT_EQ(AfterBlanks<Blanks::kBlanksAndCommas>(begin + from, end) - begin,
              static_cast<ptrdiff_t>(commas))
        << text;
  }
}

}  // namespace
}  // namespace tracedb
