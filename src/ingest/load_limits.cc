#include "tracedb/ingest/load_limits.h"

#include <algorithm>
#include <thread>

namespace tracedb {

LoadLimits LoadLimits::For(size_t memory_bytes, unsigned threads) {
  constexpr size_t kMiB = size_t{1} << 20;
  LoadLimits limits;
  limits.memory_bytes = std::max(memory_bytes, kMemoryBytesMin);
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  // Reading and writing together keep less than one core busy, so two parsers suit two cores.
  limits.parsers = threads != 0 ? threads : std::clamp(cores, 1u, 6u);
  // Programs and libraries take about 12 MiB; a parser needs its window, an index of four bytes for
  // each byte of it, the batch it makes, and a dictionary. What is left is shared as below.
  const size_t spare = limits.memory_bytes - 12 * kMiB;
  limits.window_bytes = std::clamp(spare / 116 / 65536 * 65536, 2 * 65536 * size_t{1}, kMiB);
  const size_t parsers_max = std::max<size_t>(1, spare / 3 / (limits.window_bytes * 8));
  limits.parsers = static_cast<unsigned>(std::min<size_t>(limits.parsers, parsers_max));
  limits.event_bytes_max = std::clamp(spare / 48, limits.window_bytes, 16 * kMiB);
  limits.header_bytes_max = spare / 64;
  limits.dictionary_bytes_max = std::clamp(spare / 32, kMiB / 2, 64 * kMiB);
  limits.open_bytes_max = spare / 16;
  limits.launch_bytes_max = spare / 4;
  limits.derive_bytes_max = spare / 2;
  limits.sqlite_cache_kib = static_cast<int64_t>(std::min(spare / 6, 64 * kMiB) / 1024);
  return limits;
}

}  // namespace tracedb
