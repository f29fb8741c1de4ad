// Any bytes as a gzip or zstd file: both gzip inflaters make the same of it, in bounded memory; and
// as blocks of Deflate that begin at any bit, of which zlib makes the same where they are sound.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/read/byte_inflater.h"
#include "ingest/read/deflate_tokens.h"
#include "ingest/read/token_text.h"

namespace {

using namespace tracedb;

struct Unpacked {
  std::string text;
  bool trouble = false;
  bool done = false;
};

Unpacked Unpack(ByteInflater& inflater, const std::string& packed, size_t piece) {
  constexpr size_t kTextMax = 1 << 20;
  Unpacked unpacked;
  std::vector<char> out(piece);
  size_t at = 0;
  while (!unpacked.done && !unpacked.trouble && unpacked.text.size() < kTextMax) {
    const size_t count = std::min(piece, packed.size() - at);
    const InflateStep step = inflater.Inflate({packed.data() + at, count}, out);
    if (step.taken > count || step.made > out.size()) std::abort();
    at += step.taken;
    unpacked.text.append(out.data(), step.made);
    unpacked.trouble = !step.trouble.empty();
    unpacked.done = step.member_done;
    if (step.taken == 0 && step.made == 0 && at == packed.size()) break;
    if (step.taken == 0 && step.made == 0 && count == 0) break;
  }
  return unpacked;
}

// zlib's text of the same data, without a header, begins with this.
void CompareWithZlib(const std::string& packed, const std::string& made) {
  constexpr std::string_view kHeader("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  const auto plain = MakeZlibInflater();
  const Unpacked unpacked = Unpack(*plain, std::string(kHeader) + packed, 4096);
  if (!std::string_view(unpacked.text)
           .starts_with(
               std::string_view(made).substr(0, std::min(made.size(), unpacked.text.size()))) ||
      (unpacked.text.size() < made.size() && unpacked.text.size() < (1 << 20))) {
    std::fprintf(stderr, "zlib's text is another one\n");
    std::abort();
  }
}

// What a decoder makes of blocks from `first_bit` on, and zlib of the same ones.
void DecodeBlocks(const std::string& packed, unsigned first_bit) {
  std::string padded = packed + std::string(DeflateDecoder::kSlackBytes, '\0');
  const std::span<const uint8_t> data(reinterpret_cast<const uint8_t*>(padded.data()),
                                      packed.size());
  DeflateDecoder decoder;
  DeflateTokens tokens(size_t{1} << 16);
  const auto found = decoder.FindBlock(data, first_bit, data.size() * 8);
  for (const uint64_t from : {uint64_t{first_bit}, found.value_or(0)}) {
    decoder.Decode(data, from, data.size() * 8, tokens);
    if (tokens.end_bit > data.size() * 8 || tokens.token_count > tokens.tokens.size() ||
        tokens.literal_count + DeflateTokens::kSlackBytes > tokens.literals.size()) {
      std::abort();
    }
    TokenText text;
    if (text.ReachesTooFar(tokens)) continue;
    std::vector<char> room(size_t{1} << 14);
    std::string made;
    for (size_t next = 0, literals = 0; next < tokens.token_count && made.size() < (1 << 20);) {
      made.append(room.data(), text.Write(tokens, next, literals, room));
    }
    if (from == 0 && tokens.end_bit > 0) CompareWithZlib(packed, made);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string packed(reinterpret_cast<const char*>(data), size);
  const auto fast = MakeGzipInflater();
  const auto plain = MakeZlibInflater();
  const auto zstd = MakeZstdInflater();
  const Unpacked by_fast = Unpack(*fast, packed, 4096);
  const Unpacked by_plain = Unpack(*plain, packed, 4096);
  // Where both accept the member, they agree on every byte.
  if (by_fast.done && by_plain.done && by_fast.text != by_plain.text) {
    std::fprintf(stderr, "the inflaters differ\n");
    std::abort();
  }
  if (by_plain.done && !by_fast.done && by_fast.text.size() < (1 << 20)) {
    std::fprintf(stderr, "only zlib takes it\n");
    std::abort();
  }
  Unpack(*zstd, packed, 4096);
  for (const unsigned first_bit : {0U, 5U}) {
    if (size > 1) DecodeBlocks(packed, first_bit);
  }
  return 0;
}
