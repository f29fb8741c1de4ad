// GzipPieces: a file unpacked in pieces side by side is the text, and has the damage, of one that
// is unpacked from front to end.

#include "ingest/read/gzip_pieces.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "packed_bytes.h"
#include "random_json.h"
#include "tracedb/ingest/read/byte_source.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMiB = size_t{1} << 20;
constexpr UnpackThreads kThreads{3, 7 * kMiB};
constexpr size_t kRoomBytes = 256 * 1024;

struct Packing {
  const char* name;
  int level;
  int strategy;
  int memory_level;   // how many symbols a block has
  size_t flush_each;  // bytes of text; 0: never
  int flush;
};

std::string Packed(const std::string& text, const Packing& packing) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, packing.level, Z_DEFLATED, 15 + 16, packing.memory_level,
                         packing.strategy),
            Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + text.size() / 10 + 1024, '\0');
  std::string in = text;
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const size_t each = packing.flush_each == 0 ? in.size() : packing.flush_each;
  for (size_t at = 0; at < in.size(); at += each) {
    stream.next_in = reinterpret_cast<Bytef*>(in.data() + at);
    stream.avail_in = static_cast<uInt>(std::min(each, in.size() - at));
    const bool is_last = at + each >= in.size();
    const int code = deflate(&stream, is_last ? Z_FINISH : packing.flush);
    EXPECT_EQ(code, is_last ? Z_STREAM_END : Z_OK);
  }
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Like a trace's: much repeats, and numbers differ.
std::string EventText(size_t bytes, uint64_t seed) {
  test::Random random(seed);
  std::string text = "[";
  while (text.size() < bytes) {
    text += R"({"ph": "X", "cat": "kernel", "name": "kernel)" + std::to_string(random.Below(300)) +
            R"(", "pid": 0, "tid": 7, "ts": )" + std::to_string(random.Below(1'000'000'000)) +
            ", \"dur\": " + std::to_string(random.Below(9999)) + "},\n    ";
    if (random.Below(50) == 0) text += std::string(random.Below(700), ' ');
    if (random.Below(400) == 0) {
      for (size_t i = random.Below(2000); i > 0; --i) {
        text += static_cast<char>('!' + random.Below(90));
      }
    }
  }
  return text;
}

struct Outcome {
  std::string text;
  std::string damage;  // with its place
  bool loses_text = false;
  std::string hash;

  bool operator==(const Outcome&) const = default;
};

class GzipPiecesTest : public testing::Test {
 protected:
  GzipPiecesTest()
      : file_(fs::path(testing::TempDir()) / ("pieces" + std::to_string(getpid()) + ".gz")) {}
  ~GzipPiecesTest() override { fs::remove(file_); }

  void Write(const std::string& bytes) const {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes;
  }

  Outcome Read(const UnpackThreads& threads, size_t room_bytes = kRoomBytes) const {
    Outcome outcome;
    auto source = OpenByteSource(file_, 0, nullptr, threads);
    EXPECT_TRUE(source.ok());
    std::vector<char> room(room_bytes);
    for (;;) {
      const auto count = source.value()->Read(room);
      EXPECT_TRUE(count.ok());
      if (!count.ok() || count.value() == 0) break;
      outcome.text.append(room.data(), count.value());
    }
    if (const auto& damage = source.value()->damage(); damage.has_value()) {
      outcome.damage = damage->what + " at " + std::to_string(damage->packed_offset);
      outcome.loses_text = damage->loses_text;
    }
    outcome.hash = source.value()->file_hash();
    return outcome;
  }

  // Both ways are the same; returns what it is.
  Outcome ReadBoth(const std::string& what) const {
    const Outcome one = Read({});
    const Outcome pieces = Read(kThreads);
    EXPECT_EQ(pieces.damage, one.damage) << what;
    EXPECT_EQ(pieces.text.size(), one.text.size()) << what;
    EXPECT_TRUE(pieces == one) << what;
    return one;
  }

  // How much of the text comes from pieces, and not from the decoder after them.
  size_t TextOfPieces() const {
    std::ifstream in(file_, std::ios::binary);
    std::vector<char> first(64 * 1024);
    in.read(first.data(), static_cast<std::streamsize>(first.size()));
    first.resize(static_cast<size_t>(in.gcount()));
    const auto more = [&](std::span<char> into) -> Result<size_t> {
      in.read(into.data(), static_cast<std::streamsize>(into.size()));
      return static_cast<size_t>(in.gcount());
    };
    const auto pieces = GzipPieces::Begin(first, more, kThreads);
    if (pieces == nullptr) return 0;
    std::vector<char> room(kRoomBytes);
    size_t bytes = 0;
    for (;;) {
      const auto count = pieces->Read(room);
      EXPECT_TRUE(count.ok());
      if (!count.ok() || count.value() == 0) return bytes;
      bytes += count.value();
    }
  }

  fs::path file_;
};

TEST_F(GzipPiecesTest, EveryWayOfPackingIsTheText) {
  const std::string text = EventText(24 * kMiB, 1);
  for (const Packing& packing : {
           Packing{"usual", 6, Z_DEFAULT_STRATEGY, 8, 0, Z_NO_FLUSH},
           Packing{"quick", 1, Z_DEFAULT_STRATEGY, 8, 0, Z_NO_FLUSH},
           Packing{"best, large blocks", 9, Z_DEFAULT_STRATEGY, 9, 0, Z_NO_FLUSH},
           Packing{"small blocks", 6, Z_DEFAULT_STRATEGY, 1, 0, Z_NO_FLUSH},
           Packing{"filtered", 6, Z_FILTERED, 8, 0, Z_NO_FLUSH},
           Packing{"empty blocks between", 6, Z_DEFAULT_STRATEGY, 8, 100'000, Z_SYNC_FLUSH},
           Packing{"no copies over places", 6, Z_DEFAULT_STRATEGY, 8, 300'000, Z_FULL_FLUSH},
       }) {
    Write(Packed(text, packing));
    const Outcome outcome = ReadBoth(packing.name);
    EXPECT_TRUE(outcome.text == text) << packing.name;
    EXPECT_EQ(outcome.damage, "") << packing.name;
    EXPECT_GT(TextOfPieces(), text.size() * 8 / 10) << packing.name;
  }
  for (const Packing& packing : {Packing{"stored", 0, Z_DEFAULT_STRATEGY, 8, 0, Z_NO_FLUSH},
                                 Packing{"literals alone", 6, Z_HUFFMAN_ONLY, 8, 0, Z_NO_FLUSH},
                                 Packing{"copies of one byte", 6, Z_RLE, 8, 0, Z_NO_FLUSH},
                                 Packing{"fixed codes", 6, Z_FIXED, 8, 0, Z_NO_FLUSH}}) {
    Write(Packed(text.substr(0, 4 * kMiB), packing));
    const Outcome outcome = ReadBoth(packing.name);
    EXPECT_TRUE(outcome.text == text.substr(0, 4 * kMiB)) << packing.name;
  }
}

TEST_F(GzipPiecesTest, MembersAndWhatComesAfterThem) {
  const std::string text = EventText(12 * kMiB, 2);
  const std::string one = test::Gzipped(text);
  const std::string small = test::Gzipped("and so on");
  Write(one + small + one);
  EXPECT_TRUE(ReadBoth("three members").text == text + "and so on" + text);
  Write(small + one);
  EXPECT_TRUE(ReadBoth("a small one first").text == "and so on" + text);
  Write(one + std::string(4096, '\0'));
  EXPECT_EQ(ReadBoth("zeros after it").damage, "");
  Write(one + "something else");
  EXPECT_NE(ReadBoth("something after it").damage, "");
  Write(test::Gzipped(""));
  EXPECT_EQ(ReadBoth("nothing").text, "");
  std::string with_name = one;
  with_name[3] = 8;
  with_name.insert(10, std::string("rank0.pt.trace.json") + '\0');
  Write(with_name);
  EXPECT_TRUE(ReadBoth("a name").text == text);
  EXPECT_GT(TextOfPieces(), text.size() / 2);
}

// Of a text that repeats after more than its blocks, so that a copy may reach before a piece.
TEST_F(GzipPiecesTest, WhatRepeatsFromFarAway) {
  test::Random random(3);
  std::string far;
  while (far.size() < 32'000) far += static_cast<char>(random.Below(256));
  std::string text;
  while (text.size() < 8 * kMiB) {
    text += far;
    text += static_cast<char>(random.Below(256));
    text[text.size() - 1 - random.Below(far.size())] = 'x';
    if (random.Below(4) == 0) {
      for (char& byte : far) byte = static_cast<char>(random.Below(256));
    }
  }
  Write(test::Gzipped(text, 9));
  EXPECT_TRUE(ReadBoth("far away").text == text);
}

TEST_F(GzipPiecesTest, DamageIsFoundWhereItIsFoundWithoutPieces) {
  const std::string whole = test::Gzipped(EventText(10 * kMiB, 4));
  test::Random random(5);
  for (int trial = 0; trial < 48; ++trial) {
    std::string bytes = whole;
    const size_t at = trial % 3 == 0 ? random.Below(40) : random.Below(bytes.size());
    switch (trial % 4) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes.erase(at, 1 + random.Below(300'000));
        break;
      default:
        std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at),
                    std::min<size_t>(bytes.size() - at, 1 + random.Below(4096)), '\0');
    }
    if (bytes.size() < 18) continue;
    Write(bytes);
    const Outcome one = ReadBoth("trial " + std::to_string(trial) + " at " + std::to_string(at));
    const size_t room = trial % 2 == 0 ? 1000 : 100'000;
    EXPECT_TRUE(Read({}, room) == one) << trial << ": room for " << room;
  }
}

// zlib's text, where it takes a byte at a time, to the first that cannot be: ISA-L has some bytes
// too many or too few. Also with a header that has all a header may have.
TEST_F(GzipPiecesTest, TextEndsWhereDamageBegins) {
  const std::string plain = test::Gzipped(EventText(kMiB, 7));
  std::string with_all = plain;
  with_all[3] = 4 | 8 | 16;
  with_all.insert(10, std::string("\x05\0extra", 7) + std::string("a name\0a comment\0", 17));
  test::Random random(8);
  int damaged = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::string bytes = trial % 2 == 0 ? plain : with_all;
    const size_t at = 60 + random.Below(trial % 4 < 2 ? 2000 : bytes.size() - 70);
    bytes.erase(at, 1 + random.Below(5));
    const auto zlib = MakeZlibInflater();
    std::string text;
    std::string trouble;
    std::vector<char> room(kRoomBytes);
    for (size_t i = 0; i < bytes.size() && trouble.empty(); ++i) {
      const InflateStep step = zlib->Inflate({&bytes[i], 1}, room);
      text.append(room.data(), step.made);
      trouble = step.trouble;
      if (step.member_done) break;
    }
    Write(bytes);
    const Outcome outcome = ReadBoth("trial " + std::to_string(trial));
    EXPECT_EQ(outcome.text.size(), text.size()) << trial << ": " << trouble;
    EXPECT_TRUE(outcome.text == text) << trial;
    damaged += trouble.empty() ? 0 : 1;
  }
  EXPECT_GT(damaged, 40);
}

// The last eight bytes say what the text is, and how long.
TEST_F(GzipPiecesTest, AWrongChecksumIsFound) {
  std::string bytes = test::Gzipped(EventText(8 * kMiB, 6));
  for (const size_t back : {1U, 5U, 8U}) {
    std::string wrong = bytes;
    wrong[wrong.size() - back] = static_cast<char>(wrong[wrong.size() - back] + 1);
    Write(wrong);
    EXPECT_NE(ReadBoth("checksum").damage, "") << back;
  }
}

}  // namespace
}  // namespace tracedb
