// ByteInflater: each library behind it unpacks the same bytes and finds the same damage.

#include "ingest/read/byte_inflater.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "packed_bytes.h"
#include "random_json.h"

namespace tracedb {
namespace {

struct Kind {
  const char* name;
  std::unique_ptr<ByteInflater> (*make)();
  std::string (*pack)(const std::string&);
};

struct Unpacked {
  std::string text;
  std::string trouble;
  int members = 0;
  size_t taken = 0;
};

class ByteInflaterTest : public testing::TestWithParam<Kind> {
 protected:
  // Gives at most `in_max` bytes and room for at most `out_max` at a time.
  Unpacked Unpack(const std::string& packed, size_t in_max, size_t out_max) {
    const auto inflater = GetParam().make();
    Unpacked unpacked;
    std::vector<char> out(out_max);
    while (unpacked.trouble.empty()) {
      const size_t left = packed.size() - unpacked.taken;
      const InflateStep step = inflater->Inflate(
          {packed.data() + unpacked.taken, std::min(in_max, left)}, {out.data(), out.size()});
      EXPECT_LE(step.taken, std::min(in_max, left));
      EXPECT_LE(step.made, out.size());
      unpacked.text.append(out.data(), step.made);
      unpacked.taken += step.taken;
      unpacked.trouble = step.trouble;
      if (step.member_done) {
        ++unpacked.members;
        if (unpacked.taken == packed.size()) break;
        inflater->Restart();
      } else if (step.taken == 0 && step.made == 0) {
        break;
      }
    }
    return unpacked;
  }

  std::string Text(test::Random& random, size_t pieces) {
    std::string text;
    while (pieces-- > 0) text += test::RandomJson(random, 3);
    return text;
  }
};

TEST_P(ByteInflaterTest, any_sizes_of_input_and_output_unpack_the_same) {
  test::Random random(19);
  for (int round = 0; round < 60; ++round) {
    const std::string text = Text(random, random.Below(300));
    const std::string packed = GetParam().pack(text);
    for (const size_t in_max : {size_t{1}, 1 + random.Below(100), packed.size()}) {
      for (const size_t out_max : {size_t{1}, 1 + random.Below(1000), text.size() + 1}) {
        const Unpacked unpacked = Unpack(packed, in_max, out_max);
        ASSERT_EQ(unpacked.text, text);
        ASSERT_EQ(unpacked.trouble, "");
        ASSERT_EQ(unpacked.members, 1);
        ASSERT_EQ(unpacked.taken, packed.size());
      }
    }
  }
}

TEST_P(ByteInflaterTest, members_one_behind_the_other_are_told_apart) {
  std::string packed;
  std::string text;
  for (int i = 0; i < 20; ++i) {
    const std::string part(static_cast<size_t>(i * 37), static_cast<char>('a' + i));
    packed += GetParam().pack(part);
    text += part;
  }
  for (const size_t in_max : {size_t{1}, size_t{13}, packed.size()}) {
    const Unpacked unpacked = Unpack(packed, in_max, 64);
    EXPECT_EQ(unpacked.text, text);
    EXPECT_EQ(unpacked.members, 20);
    EXPECT_EQ(unpacked.trouble, "");
  }
}

TEST_P(ByteInflaterTest, a_stream_cut_at_any_byte_is_never_done) {
  test::Random random(20);
  const std::string text = Text(random, 20);
  const std::string packed = GetParam().pack(text);
  for (size_t size = 0; size < packed.size(); ++size) {
    const Unpacked unpacked = Unpack(packed.substr(0, size), 50, 100);
    ASSERT_EQ(unpacked.members, 0) << size;
    ASSERT_TRUE(text.starts_with(unpacked.text)) << size;
  }
}

TEST_P(ByteInflaterTest, a_wrong_checksum_is_trouble) {
  std::string packed = GetParam().pack("some text, some text, some text");
  // gzip: checksum, then size; Zstandard: the checksum is the end.
  const size_t at = packed.size() - (packed[0] == '\x1f' ? 8 : 4);
  packed[at] = static_cast<char>(packed[at] ^ 1);
  const Unpacked unpacked = Unpack(packed, packed.size(), 1000);
  EXPECT_NE(unpacked.trouble, "");
  EXPECT_EQ(unpacked.members, 0);
}

TEST_P(ByteInflaterTest, a_bit_turned_anywhere_is_found_or_does_no_harm) {
  test::Random random(21);
  const std::string text = Text(random, 30);
  const std::string packed = GetParam().pack(text);
  for (size_t at = 0; at < packed.size(); ++at) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random.Below(8)));
    const Unpacked unpacked = Unpack(damaged, damaged.size(), 100);
    if (unpacked.members > 0 && unpacked.trouble.empty()) {
      ASSERT_EQ(unpacked.text, text) << at;
    }
  }
}

const Kind kKinds[] = {
    {"gzip", MakeGzipInflater, [](const std::string& text) { return test::Gzipped(text); }},
    {"gzip_stored", MakeGzipInflater,
     [](const std::string& text) { return test::Gzipped(text, 0); }},
    {"zlib", MakeZlibInflater, [](const std::string& text) { return test::Gzipped(text); }},
    {"zstd", MakeZstdInflater, [](const std::string& text) { return test::Zstandard(text); }},
};

INSTANTIATE_TEST_SUITE_P(Kinds, ByteInflaterTest, testing::ValuesIn(kKinds),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tracedb
