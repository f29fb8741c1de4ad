// Deflate's symbols without its copying: blocks that begin at any bit become tokens, each some
// literal bytes and a copy of text before them. What that text is need not be known, so pieces of
// one stream are decoded side by side.
//
//   "abcabcabc!"   the literals abc!,   tokens (3 of them, 6 bytes from 3 before), (1, no copy)
//
// A block that is not as every encoder writes it is refused, also where zlib would take it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ingest/read/deflate_codes.h"
#include "tracedb/base/uninitialized_bytes.h"

namespace tracedb {

struct DeflateToken {
  static constexpr uint32_t kLiteralsMax = 255;

  uint32_t bits;  // literals before the copy: 8 bits; its length: 9, 0 for none; distance - 1: 15

  static DeflateToken Of(uint32_t literals, uint32_t length, uint32_t distance) {
    return {literals | length << 8 | (distance - 1) << 17};
  }
  uint32_t literals() const { return bits & 0xff; }
  uint32_t length() const { return bits >> 8 & 0x1ff; }
  uint32_t distance() const { return (bits >> 17) + 1; }
};

// Of whole blocks. What its room is not used for takes no memory.
class DeflateTokens {
 public:
  // A third of `bytes` is for literals.
  explicit DeflateTokens(size_t bytes)
      : tokens(bytes / 3 * 2 / sizeof(DeflateToken)), literals(bytes / 3) {}

  uint64_t begin_bit = 0;  // in the data that they were decoded from
  uint64_t end_bit = 0;
  size_t token_count = 0;
  size_t literal_count = 0;
  std::vector<DeflateToken, UninitializedAllocator<DeflateToken>> tokens;
  // After the literals there is room for a copy of a few of them to read too much.
  std::vector<uint8_t, UninitializedAllocator<uint8_t>> literals;

  static constexpr size_t kSlackBytes = 16;
};

// Not thread safe. 25 KiB, and takes no memory beside itself.
class DeflateDecoder {
 public:
  // Bytes that must be readable after the data.
  static constexpr size_t kSlackBytes = 16;

  // The blocks from `begin_bit` on, up to the first that begins at `until_bit` or later. They end
  // before that where the next block is the stream's last, is refused, does not end in `data`, or
  // has no room.
  void Decode(std::span<const uint8_t> data, uint64_t begin_bit, uint64_t until_bit,
              DeflateTokens& into);

  // The first bit from `from_bit` to before `until_bit` at which a block with codes of its own that
  // is not the last one begins, as far as its header tells.
  std::optional<uint64_t> FindBlock(std::span<const uint8_t> data, uint64_t from_bit,
                                    uint64_t until_bit);

 private:
  // Bits of the data, the next one the lowest.
  struct Input {
    Input(std::span<const uint8_t> data, uint64_t bit);
    uint64_t Position() const { return static_cast<uint64_t>(at - begin) * 8 - count; }
    bool IsOver() const { return at > end; }
    void Refill();  // to 56 bits at least; twice between looks at IsOver, at most
    void Drop(unsigned bits) { left >>= bits, count -= bits; }
    uint32_t Take(unsigned bits) {
      const auto taken = static_cast<uint32_t>(left & ((uint64_t{1} << bits) - 1));
      Drop(bits);
      return taken;
    }

    const uint8_t* begin;
    const uint8_t* at;
    const uint8_t* end;
    uint64_t left = 0;
    unsigned count = 0;
  };

  bool DecodeBlock(Input& input, DeflateTokens& into);
  bool DecodeStored(Input& input, DeflateTokens& into);
  bool DecodeCoded(Input& input, DeflateTokens& into);
  bool ReadCodes(Input& input);
  bool EndRun(DeflateTokens& into);

  DeflateCodes codes_;
  DeflateLengthCode length_code_;
  size_t run_begin_ = 0;  // the first literal that is in no token yet
};

}  // namespace tracedb
