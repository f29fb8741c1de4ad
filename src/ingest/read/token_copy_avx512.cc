#include <immintrin.h>

#include "ingest/read/token_copy_with.h"

namespace tracedb {
namespace {

struct Avx512Copy {
  static constexpr size_t kBytes = 64;
  static constexpr size_t kUsual = 1;
  static void Copy(char* to, const char* from) {
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
  }
};

}  // namespace

void CopyTokensAvx512(TokenRun& run, const char* begin, const char* limit) {
  TokenCopier<Avx512Copy>::Run(run, begin, limit);
}

}  // namespace tracedb
