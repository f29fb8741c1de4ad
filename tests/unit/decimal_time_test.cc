// Decimal microseconds to nanoseconds: exact to the last digit, whatever form the number has.

#include "ingest/parse/decimal_time.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "random_json.h"

namespace tracedb {
namespace {

__extension__ using Int128 = __int128;

constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();

// digits * 10^exponent as nanoseconds, rounded half away from zero: by long hand.
std::optional<int64_t> NaiveScaled(std::string digits, int exponent, bool negative) {
  bool round_up = false;
  for (; exponent < 0; ++exponent) {
    round_up = !digits.empty() && digits.back() >= '5';
    if (!digits.empty()) digits.pop_back();
  }
  Int128 value = 0;
  for (const char digit : digits) {
    value = value * 10 + (digit - '0');
    if (value > kInt64Max) return std::nullopt;
  }
  for (; exponent > 0 && value != 0; --exponent) {
    value *= 10;
    if (value > kInt64Max) return std::nullopt;
  }
  value += round_up ? 1 : 0;
  if (value > kInt64Max) return std::nullopt;
  return static_cast<int64_t>(negative ? -value : value);
}

TEST(DecimalTime, whole_microseconds_and_up_to_three_decimals_are_exact) {
  const struct {
    const char* text;
    int64_t ns;
  } kCases[] = {{"0", 0},
                {"-0", 0},
                {"1", 1000},
                {"12.5", 12500},
                {"0.001", 1},
                {"-0.001", -1},
                {"007", 7000},
                {"4329287712679.579", 4329287712679579},
                {"-4329287712679.579", -4329287712679579},
                {"1722000000000000.123", 1722000000000000123},
                {"9223372036854775.807", kInt64Max},
                {"-9223372036854775.807", -kInt64Max}};
  for (const auto& [text, ns] : kCases) EXPECT_EQ(DecimalMicrosToNs(text), ns) << text;
}

TEST(DecimalTime, a_fourth_decimal_rounds_half_away_from_zero) {
  EXPECT_EQ(DecimalMicrosToNs("0.0004"), 0);
  EXPECT_EQ(DecimalMicrosToNs("0.0005"), 1);
  EXPECT_EQ(DecimalMicrosToNs("-0.0005"), -1);
  EXPECT_EQ(DecimalMicrosToNs("0.00049999"), 0);
  EXPECT_EQ(DecimalMicrosToNs("1.9995"), 2000);
  EXPECT_EQ(DecimalMicrosToNs("1.99949"), 1999);
  EXPECT_EQ(DecimalMicrosToNs("9.9999"), 10000);
  EXPECT_EQ(DecimalMicrosToNs("4329287712679.5796"), 4329287712679580);
}

TEST(DecimalTime, exponents_move_the_point) {
  EXPECT_EQ(DecimalMicrosToNs("1e3"), 1000000);
  EXPECT_EQ(DecimalMicrosToNs("1E+3"), 1000000);
  EXPECT_EQ(DecimalMicrosToNs("15e-4"), 2);
  EXPECT_EQ(DecimalMicrosToNs("-1.5e-3"), -2);
  EXPECT_EQ(DecimalMicrosToNs("4.329287712679579e12"), 4329287712679579);
  EXPECT_EQ(DecimalMicrosToNs("1e-400"), 0);
  EXPECT_EQ(DecimalMicrosToNs("0e400"), 0);
  EXPECT_EQ(DecimalMicrosToNs("0.00000000000000000000000000000000000001e38"), 1000);
}

TEST(DecimalTime, quotient_and_remainder_of_negative_nanoseconds_are_put_together) {
  EXPECT_EQ(DecimalMicrosToNs("-5.-123"), -5123);
  EXPECT_EQ(DecimalMicrosToNs("0.-50"), -50);
  EXPECT_EQ(DecimalMicrosToNs("0.-05"), -5);
  EXPECT_EQ(DecimalMicrosToNs("-12.-07"), -12007);
  EXPECT_EQ(DecimalMicrosToNs("-9999999999999999999.-123"), std::nullopt);
}

TEST(DecimalTime, what_does_not_fit_64_bits_is_refused) {
  for (const char* text :
       {"9223372036854775.808", "9223372036854775.8075", "9223372036854776", "1e16", "1e400",
        "99999999999999999999", "18446744073709551.615", "18446744073709551.6155",
        "18446744073709551.6159", "184467440737095516.15e-1", "-18446744073709551.6155"}) {
    EXPECT_EQ(DecimalMicrosToNs(text), std::nullopt) << text;
  }
}

TEST(DecimalTime, what_is_no_number_is_refused) {
  for (const char* text :
       {"",      "-",       "+",       ".",     "-.",      "e5",    "1e",
        "1e+",   "1e-",     "1e+-3",   "1e--3", "abc",     "nan",   "inf",
        "1.2.3", "1.2x",    "1 ",      " 1",    "1,5",     "0x10",  "--1",
        "1.-",   "1.-1234", "1.-1.2",  ".-123", "1.-12e3", "1e401", "1e99999999999",
        "1.5-",  "1.--5",   "\xd9\xa1"}) {
    EXPECT_EQ(DecimalMicrosToNs(text), std::nullopt) << text;
  }
}

TEST(DecimalTime, a_number_behind_the_end_of_the_view_is_not_read) {
  const std::string text = "123.4567890";
  EXPECT_EQ(DecimalMicrosToNs(std::string_view(text).substr(0, 5)), 123400);
  EXPECT_EQ(DecimalMicrosToNs(std::string_view(text).substr(0, 3)), 123000);
}

TEST(DecimalTime, any_nanoseconds_written_as_microseconds_read_back) {
  test::Random random(3);
  for (int round = 0; round < 200000; ++round) {
    const int64_t ns = random.Between(0, kInt64Max) >> random.Below(63);
    char text[32];
    std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(ns / 1000),
                  static_cast<int>(ns % 1000));
    ASSERT_EQ(DecimalMicrosToNs(text), ns) << text;
    ASSERT_EQ(DecimalMicrosToNs(std::string("-") + text), -ns) << text;
  }
}

TEST(DecimalTime, random_decimals_agree_with_long_hand) {
  test::Random random(4);
  for (int round = 0; round < 200000; ++round) {
    const bool negative = random.OneIn(3);
    std::string whole;
    std::string fraction;
    for (size_t left = random.Below(22); left > 0; --left) whole += random.Of("0123456789");
    if (random.OneIn(8)) whole = random.Pick({"9223372036854775", "18446744073709551", "0"});
    for (size_t left = random.Below(8); left > 0; --left) fraction += random.Of("05949");
    if (whole.empty() && fraction.empty()) continue;
    std::string text = (negative ? "-" : "") + whole;
    if (!fraction.empty() || random.OneIn(9)) text += '.' + fraction;
    int power = 0;
    if (random.OneIn(3)) {
      power = static_cast<int>(random.Between(-30, 30));
      text += random.Of("eE");
      if (power >= 0 && random.OneIn(2)) text += '+';
      text += std::to_string(power);
    }
    const int exponent = 3 - static_cast<int>(fraction.size()) + power;
    ASSERT_EQ(DecimalMicrosToNs(text), NaiveScaled(whole + fraction, exponent, negative)) << text;
  }
}

}  // namespace
}  // namespace tracedb
