#include "ingest/read/token_copy.h"

#include <algorithm>

#include "ingest/read/token_copy_with.h"

namespace tracedb {
namespace {

struct PlainCopy {
  static constexpr size_t kBytes = 16;
  static constexpr size_t kUsual = 4;
  static void Copy(char* to, const char* from) { std::memcpy(to, from, kBytes); }
};

}  // namespace

void CopyTokensPlain(TokenRun& run, const char* begin, const char* limit) {
  TokenCopier<PlainCopy>::Run(run, begin, limit);
}

CopyTokens WidestCopy() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512bw") != 0) return CopyTokensAvx512;
  if (__builtin_cpu_supports("avx2") != 0) return CopyTokensAvx2;
#endif
  return CopyTokensPlain;
}

char* CopyNear(char* out, size_t distance, size_t length) {
  constexpr size_t kBytes = PlainCopy::kBytes;
  char* const end = out + length;
  if (distance < kBytes) {
    // What repeats after `distance` does so after a multiple of it as well.
    const size_t multiple = distance * ((kBytes - 1 + distance) / distance);
    const char* from = out - distance;
    for (const char* const first_end = out + std::min(length, multiple); out < first_end;) {
      *out++ = *from++;
    }
    distance = multiple;
  }
  for (; out < end; out += kBytes) PlainCopy::Copy(out, out - distance);
  return end;
}

}  // namespace tracedb
