// OpenByteSource: what kind of file it is, all of its text, and what is wrong with it.

#include "tracedb/ingest/read/byte_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ingest/read/unpack_ahead.h"
#include "packed_bytes.h"
#include "query_fixture.h"
#include "random_json.h"
#include "tracedb/ingest/read/content_hash.h"

namespace tracedb {
namespace {

struct Text {
  std::string bytes;
  std::optional<ByteDamage> damage;
  BytePacking packing = BytePacking::kPlain;
  uint64_t packed_bytes = 0;
  std::string file_hash;

  bool operator==(const Text& other) const {
    const auto told = [](const Text& text) {
      const ByteDamage of = text.damage.value_or(ByteDamage());
      return std::tuple(text.bytes, text.damage.has_value(), of.loses_text, of.packed_offset,
                        of.what, text.packing, text.packed_bytes, text.file_hash);
    };
    return told(*this) == told(other);
  }
};

class ByteSourceTest : public testing::Test {
 protected:
  // Reads a file of this content to its end, on this thread and ahead on another, which must give
  // the same; an error fails the test.
  Text ReadAll(const std::string& content, size_t block_bytes = 0, size_t room = 4096) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
    Text text = ReadOnce(block_bytes, room, 0);
    constexpr size_t kAhead = 16384;
    EXPECT_EQ(text, ReadOnce(block_bytes, room, kAhead));
    EXPECT_EQ(text, ReadOnce(block_bytes, room, kAhead, true));
    return text;
  }

  Text ReadOnce(size_t block_bytes, size_t room, size_t ahead, bool hash_beside = false) {
    auto source = OpenByteSource(path_, block_bytes);
    if (!source.ok()) {
      ADD_FAILURE() << source.error().what;
      return {};
    }
    if (ahead > 0) source = UnpackAhead(std::move(source.value()), ahead, hash_beside);
    Text text;
    std::vector<char> into(room);
    for (;;) {
      const auto count = source.value()->Read({into.data(), into.size()});
      if (!count.ok() || count.value() == 0) break;
      EXPECT_LE(count.value(), into.size());
      if (block_bytes > 0) {
        EXPECT_LE(count.value(), block_bytes);
      }
      text.bytes.append(into.data(), count.value());
    }
    EXPECT_EQ(source.value()->Read({into.data(), into.size()}).value(), 0u);
    text.damage = source.value()->damage();
    text.packing = source.value()->packing();
    text.packed_bytes = source.value()->packed_bytes();
    text.file_hash = source.value()->file_hash();
    ContentHash hash;
    hash.Add(text.bytes);
    EXPECT_EQ(source.value()->text_hash(), hash_beside ? hash.Digits() : "");
    return text;
  }

  // Opening a file of this content must fail and say this.
  void ExpectRefused(const std::string& content, const std::string& part) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
    const auto source = OpenByteSource(path_, 0);
    ASSERT_FALSE(source.ok()) << part;
    EXPECT_EQ(source.error().what.find(path_.string()), 0u) << source.error().what;
    EXPECT_NE(source.error().what.find(part), std::string::npos) << source.error().what;
    EXPECT_FALSE(source.error().advice.empty());
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "trace.json";
};

TEST_F(ByteSourceTest, plain_text_comes_as_it_is_whatever_the_pieces) {
  std::string text = "{\"a\":1}";
  for (int i = 0; i < 100000; ++i) text += std::to_string(i);
  for (const size_t block : {0u, 1000u, 70000u}) {
    const Text read = ReadAll(text, block, 100000);
    EXPECT_EQ(read.bytes, text);
    EXPECT_EQ(read.packing, BytePacking::kPlain);
    EXPECT_EQ(read.packed_bytes, text.size());
    EXPECT_FALSE(read.damage.has_value());
  }
  EXPECT_EQ(ReadAll("{}", 1).bytes, "{}");
}

TEST_F(ByteSourceTest, the_files_hash_is_known_once_it_has_been_read) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i);
  for (const std::string& content : {text, test::Gzipped(text), test::Zstandard(text)}) {
    const std::string hash = ReadAll(content, 1000).file_hash;
    EXPECT_EQ(hash, HashFile(path_).value());
    EXPECT_EQ(OpenByteSource(path_, 0).value()->file_hash(), "");
  }
  const std::string padded = test::Gzipped(text) + std::string(500000, '\0');
  const std::string hash_of_padded = ReadAll(padded).file_hash;  // writes the file, so it is first
  EXPECT_EQ(hash_of_padded, HashFile(path_).value());
}

TEST_F(ByteSourceTest, packing_is_told_by_the_bytes_and_not_by_the_name) {
  EXPECT_EQ(ReadAll(test::Gzipped("hello")).packing, BytePacking::kGzip);
  EXPECT_EQ(ReadAll(test::Zstandard("hello")).packing, BytePacking::kZstd);
  EXPECT_EQ(ReadAll(test::Zstandard("hello")).bytes, "hello");
}

TEST_F(ByteSourceTest, several_members_or_frames_are_one_text) {
  std::string gzip;
  std::string zstd;
  std::string text;
  test::Random random(22);
  for (int i = 0; i < 30; ++i) {
    const std::string part = random.OneIn(5) ? "" : test::RandomJson(random, 4);
    gzip += test::Gzipped(part);
    zstd += test::Zstandard(part);
    text += part;
  }
  for (const size_t block : {0u, 1u, 7u}) {
    for (const std::string& packed : {gzip, zstd}) {
      const Text read = ReadAll(packed, block, 50);
      EXPECT_EQ(read.bytes, text);
      EXPECT_FALSE(read.damage.has_value());
    }
  }
}

TEST_F(ByteSourceTest, members_larger_than_the_buffers_are_read_whole) {
  test::Random random(23);
  std::string text(3'000'000, ' ');
  for (char& c : text) c = static_cast<char>('a' + random.Below(26));
  for (const std::string& packed : {test::Gzipped(text) + test::Gzipped(text, 1),
                                    test::Zstandard(text) + test::Zstandard(text)}) {
    const Text read = ReadAll(packed, 0, 65536);
    EXPECT_EQ(read.bytes, text + text);
    EXPECT_FALSE(read.damage.has_value());
    EXPECT_EQ(read.packed_bytes, packed.size());
  }
}

TEST_F(ByteSourceTest, zero_bytes_behind_the_last_member_are_padding) {
  for (const size_t zeros : {1u, 511u, 300000u}) {
    const Text read = ReadAll(test::Gzipped("hello") + std::string(zeros, '\0'));
    EXPECT_EQ(read.bytes, "hello");
    EXPECT_FALSE(read.damage.has_value());
  }
  const Text between =
      ReadAll(test::Gzipped("he") + std::string(300000, '\0') + test::Gzipped("llo"));
  EXPECT_EQ(between.bytes, "hello");
  EXPECT_FALSE(between.damage.has_value());
}

TEST_F(ByteSourceTest, other_bytes_behind_the_last_member_are_noted_and_lose_nothing) {
  for (const char* garbage : {"garbage", "\x1f\x20 garbage", "(garbage", "\x28\xb5 x"}) {
    for (const std::string& packed : {test::Gzipped("hello"), test::Zstandard("hello")}) {
      const Text read = ReadAll(packed + garbage);
      EXPECT_EQ(read.bytes, "hello");
      ASSERT_TRUE(read.damage.has_value());
      EXPECT_FALSE(read.damage->loses_text) << garbage;
      EXPECT_GE(read.damage->packed_offset, packed.size());
      EXPECT_LE(read.damage->packed_offset, packed.size() + std::string(garbage).size());
    }
  }
}

TEST_F(ByteSourceTest, a_file_cut_at_any_byte_keeps_its_beginning_and_is_damaged) {
  test::Random random(24);
  std::string text = "{";
  for (int i = 0; i < 20; ++i) text += test::RandomJson(random, 3);
  const std::string first = test::Gzipped(text);
  const std::string packed = first + test::Gzipped(text);
  for (size_t size = 3; size < packed.size(); ++size) {
    const Text read = ReadAll(packed.substr(0, size));
    ASSERT_TRUE((text + text).starts_with(read.bytes)) << size;
    ASSERT_EQ(read.damage.has_value(), size != first.size()) << size;
    if (size >= first.size()) {
      ASSERT_GE(read.bytes.size(), text.size()) << size;
    }
    if (size != first.size()) {
      ASSERT_TRUE(read.damage->loses_text) << size;
    }
  }
  const std::string frame = test::Zstandard(text);
  for (size_t size = 5; size < frame.size(); ++size) {
    const Text read = ReadAll(frame.substr(0, size));
    ASSERT_TRUE(text.starts_with(read.bytes)) << size;
    ASSERT_TRUE(read.damage.has_value() && read.damage->loses_text) << size;
  }
}

TEST_F(ByteSourceTest, a_wrong_checksum_is_damage_behind_the_text) {
  std::string packed = test::Gzipped("hello hello hello");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);
  const Text read = ReadAll(packed);
  EXPECT_EQ(read.bytes, "hello hello hello");
  ASSERT_TRUE(read.damage.has_value());
  EXPECT_TRUE(read.damage->loses_text);
  EXPECT_FALSE(read.damage->what.empty());
}

TEST_F(ByteSourceTest, zstandard_frames_to_be_skipped_hold_no_text) {
  const std::string skippable("\x50\x2a\x4d\x18\x04\0\0\0abcd", 12);
  EXPECT_EQ(ReadAll(test::Zstandard("he") + skippable + test::Zstandard("llo")).bytes, "hello");
  EXPECT_EQ(ReadAll(skippable + test::Zstandard("hello")).bytes, "hello");
}

TEST_F(ByteSourceTest, files_of_other_kinds_are_refused_by_name) {
  ExpectRefused(std::string("\xfd"
                            "7zXZ\0rest of it",
                            16),
                "xz");
  ExpectRefused("BZh91AY&SY", "bzip2");
  ExpectRefused("PK\x03\x04 and more", "zip");
  ExpectRefused("\x04\x22\x4d\x18 and more", "lz4");
  ExpectRefused(std::string("SQLite format 3\0", 16), "SQLite");
  ExpectRefused("", "empty");
}

TEST_F(ByteSourceTest, what_cannot_be_opened_or_read_is_an_error_that_names_it) {
  const auto missing = OpenByteSource(folder_.path() / "missing.json", 0);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().what.find("missing.json"), std::string::npos);
  const auto folder = OpenByteSource(folder_.path(), 0);
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.error().what.find("cannot read"), std::string::npos) << folder.error().what;
}

// Text without end, or with an error after so many reads.
class EndlessSource : public ByteSource {
 public:
  explicit EndlessSource(int reads_max) : reads_left_(reads_max) {}
  Result<size_t> Read(std::span<char> into) override {
    if (reads_left_-- == 0) return Error{ErrorKind::kInput, "the disk is gone", ""};
    std::fill(into.begin(), into.end(), 'x');
    return into.size();
  }
  const std::optional<ByteDamage>& damage() const override { return damage_; }
  BytePacking packing() const override { return BytePacking::kGzip; }
  uint64_t packed_bytes() const override { return 7; }
  std::string file_hash() const override { return "not to be asked for"; }

 private:
  int reads_left_;
  std::optional<ByteDamage> damage_ = ByteDamage();
};

TEST(UnpackAhead, whoever_leaves_early_learns_of_no_end) {
  for (const bool hash_beside : {false, true}) {
    for (const int reads : {0, 1, 100}) {
      auto source = UnpackAhead(std::make_unique<EndlessSource>(-1), 4096, hash_beside);
      std::vector<char> into(1000);
      for (int i = 0; i < reads; ++i) EXPECT_GT(source->Read(into).value(), 0u);
      EXPECT_EQ(source->file_hash(), "");
      EXPECT_EQ(source->text_hash(), "");
      EXPECT_FALSE(source->damage().has_value());
      EXPECT_EQ(source->packed_bytes(), reads == 0 ? 0u : 7u);
    }
  }
}

TEST(UnpackAhead, an_error_comes_after_what_was_read_before_it) {
  for (const bool hash_beside : {false, true}) {
    auto source = UnpackAhead(std::make_unique<EndlessSource>(10), 6144, hash_beside);
    std::vector<char> into(5000);
    size_t got = 0;
    auto count = source->Read(into);
    for (; count.ok() && count.value() > 0; count = source->Read(into)) got += count.value();
    ASSERT_FALSE(count.ok());
    EXPECT_EQ(count.error().what, "the disk is gone");
    EXPECT_EQ(got, 10u * 1024);
    EXPECT_FALSE(source->Read(into).ok());
  }
}

}  // namespace
}  // namespace tracedb
