// Any bytes as a gzip or zstd file: both gzip inflaters make the same of it, in bounded memory.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ingest/read/byte_inflater.h"

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
  return 0;
}
