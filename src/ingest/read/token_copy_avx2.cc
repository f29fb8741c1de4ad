#include <immintrin.h>

#include "ingest/read/token_copy_with.h"

namespace tracedb {
namespace {

struct Avx2Copy {
  static constexpr size_t kBytes = 32;
  static constexpr size_t kUsual = 2;
  static void Copy(char* to, const char* from) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
};

}  // namespace

void CopyTokensAvx2(TokenRun& run, const char* begin, const char* limit) {
  TokenCopier<Avx2Copy>::Run(run, begin, limit);
}

}  // namespace tracedb
