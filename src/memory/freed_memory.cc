#include "tracedb/memory/freed_memory.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <limits>

namespace tracedb {
namespace {

// All that could be, where the system does not say.
size_t ResidentBytes() {
  constexpr size_t kUnknown = std::numeric_limits<size_t>::max();
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return kUnknown;
  unsigned long long all = 0;
  unsigned long long resident = 0;
  const int read = std::fscanf(file, "%llu %llu", &all, &resident);
  std::fclose(file);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (read != 2 || page_bytes <= 0) return kUnknown;
  return static_cast<size_t>(resident) * static_cast<size_t>(page_bytes);
}

}  // namespace

void GiveFreedMemoryBack(size_t bytes_max) {
  if (ResidentBytes() > bytes_max / 2) malloc_trim(0);
}

}  // namespace tracedb
