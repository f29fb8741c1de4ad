// What the tests of the layer `ingest` share: seeded random numbers and JSON-like text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb::test {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // A number from 0 to below `bound`.
  size_t Below(size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(engine_);
  }
  int64_t Between(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(engine_);
  }
  bool OneIn(size_t count) { return Below(count) == 0; }
  char Of(std::string_view bytes) { return bytes[Below(bytes.size())]; }
  std::string Pick(std::initializer_list<std::string_view> texts) {
    return std::string(texts.begin()[Below(texts.size())]);
  }

 private:
  std::mt19937_64 engine_;
};

// The inside of a valid JSON string: quotes and backslashes behind backslashes, brackets, blanks.
inline std::string RandomStringInside(Random& random, size_t pieces_max = 12) {
  std::string text;
  for (size_t left = random.Below(pieces_max + 1); left > 0; --left) {
    text += random.Pick({"a", "xyz", "{", "}", "[", "]", ",", ":", " ", "\\\"", "\\\\", "\\n",
                         "\\u00e9", "\xc3\xa9", "\\/", "\\\\\\\\", "0x7f", "'"});
  }
  return text;
}

// A valid JSON value, nested at most `depth` deep, with blanks in odd places.
inline std::string RandomJson(Random& random, int depth) {
  const auto blank = [&] { return random.Pick({"", "", "", " ", "\n\t", "  "}); };
  switch (random.Below(depth > 0 ? 8 : 6)) {
    case 0:
      return '"' + RandomStringInside(random) + '"';
    case 1:
      return std::to_string(random.Between(-2000, 2000));
    case 2:
      return std::to_string(random.Between(INT64_MIN, INT64_MAX));
    case 3:
      return random.Pick({"0.5", "-1.25e3", "12345.678", "1E5", "-0", "0.0", "-0.0",
                          "18446744073709551616", "123456789012345678901234567890"});
    case 4:
      return random.Pick({"true", "false", "null"});
    case 5:
      return random.Pick({"\"0x7f00deadbeef\"", "\"0x1\"", "\"0xabcdef\""});
    case 6: {
      std::string list = "[" + blank();
      for (size_t left = random.Below(4); left > 0; --left) {
        list += RandomJson(random, depth - 1) + blank();
        if (left > 1) list += "," + blank();
      }
      return list + "]";
    }
    default: {
      std::string object = "{" + blank();
      for (size_t left = random.Below(4); left > 0; --left) {
        object += '"' + RandomStringInside(random, 4) + '"' + blank() + ":" + blank();
        object += RandomJson(random, depth - 1) + blank();
        if (left > 1) object += "," + blank();
      }
      return object + "}";
    }
  }
}

// Sizes that add up to `total`, from 1 to `size_max` each.
inline std::vector<size_t> RandomCuts(Random& random, size_t total, size_t size_max) {
  std::vector<size_t> sizes;
  while (total > 0) {
    sizes.push_back(std::min(total, 1 + random.Below(size_max)));
    total -= sizes.back();
  }
  return sizes;
}

}  // namespace tracedb::test
