// Digits and literals read many bytes at a time, against the same a byte at a time.

#include "ingest/parse/quick_digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "random_json.h"

namespace tracedb {
namespace {

std::string Padded(const std::string& text) { return text + std::string(32, '\0'); }

TEST(QuickDigits, any_number_of_digits_before_anything) {
  test::Random random(3);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (size_t count = random.Below(20); count > 0; --count) {
      text += static_cast<char>('0' + random.Below(10));
    }
    const size_t digits = text.size();
    // Every byte that is no digit ends them: those beside the digits, and those above 127.
    if (round % 3 > 0) text += "/:;.,} -+eE\x80\xb0\xb9\xff"[random.Below(14)];
    if (round % 3 > 1) text += "12345678";
    const QuickDigits read = ReadDigits(Padded(text).data());
    ASSERT_EQ(read.count, digits) << text;
    const uint64_t wanted = digits == 0 ? 0 : std::stoull(text.substr(0, digits));
    ASSERT_EQ(read.value, wanted) << text;
  }
}

TEST(QuickDigits, every_byte_but_ten_is_no_digit) {
  for (int c = 0; c < 256; ++c) {
    const std::string text = Padded(std::string("4") + static_cast<char>(c));
    const bool digit = c >= '0' && c <= '9';
    EXPECT_EQ(ReadEightDigits(text.data()).count, digit ? 2u : 1u) << c;
  }
}

TEST(QuickDigits, thousandths) {
  const auto read = [](const std::string& text) { return ReadThousandths(Padded(text).data()); };
  EXPECT_EQ(read("5,").value, 500u);
  EXPECT_EQ(read("05,").value, 50u);
  EXPECT_EQ(read("120,").value, 120u);
  EXPECT_EQ(read("1299").value, 129u);
  EXPECT_EQ(read("1299").count, 3u);
  EXPECT_EQ(read("123456789").value, 123u);
  EXPECT_EQ(read("007\n").value, 7u);
  EXPECT_EQ(read(",1").count, 0u);
}

TEST(QuickDigits, same_bytes_of_every_size_and_every_difference) {
  test::Random random(4);
  for (size_t size = 0; size < 70; ++size) {
    std::string text;
    for (size_t i = 0; i < size; ++i) text += static_cast<char>(random.Below(256));
    // What is behind the size does not count.
    EXPECT_TRUE(SameBytes((text + "abcdefghijklmnopqrst").data(), Padded(text).data(), size));
    for (size_t at = 0; at < size; ++at) {
      std::string other = text;
      other[at] = static_cast<char>(other[at] ^ (1 << random.Below(8)));
      EXPECT_FALSE(SameBytes(Padded(text).data(), Padded(other).data(), size)) << size << " " << at;
    }
  }
}

}  // namespace
}  // namespace tracedb
