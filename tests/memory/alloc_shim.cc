// A library that a test preloads into the program: one piece of memory that it asks for, and with
// ALLOC_HOW=always all after it, are not to be had. Told by the environment:
//
//   ALLOC_AT     the piece by its number, from 1; 0: none, for counting
//   ALLOC_SITE   the first piece that is asked for from this place: the functions that led to it,
//                as ALLOC_SITES writes them; 0: none
//   ALLOC_HOW    once or always
//   ALLOC_COUNT  a file that gets the number of pieces when the program ends
//   ALLOC_SITES  a file that gets each such place
#include <execinfo.h>
#include <link.h>
#include <malloc.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* piece, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

std::atomic<long> pieces = 0;
std::atomic<bool> is_hit = false;
long hit = 0;
uint64_t hit_site = 0;
bool always = false, looks_at_sites = false;
thread_local bool is_looking = false;

// Of a hash's places; more of them than a program of this size has.
std::array<std::atomic<uint64_t>, size_t{1} << 20> sites;

long NumberIn(const char* name) {
  const char* const text = std::getenv(name);
  long number = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

__attribute__((constructor)) void ReadSettings() {
  hit = NumberIn("ALLOC_AT");
  hit_site = static_cast<uint64_t>(NumberIn("ALLOC_SITE"));
  const char* const how = std::getenv("ALLOC_HOW");
  always = how != nullptr && std::strcmp(how, "always") == 0;
  if (hit_site == 0 && std::getenv("ALLOC_SITES") == nullptr) return;
  is_looking = true;  // the unwinder has what it needs from its first call
  void* frame = nullptr;
  backtrace(&frame, 1);
  is_looking = false;
  looks_at_sites = true;
}

__attribute__((destructor)) void TellCount() {
  looks_at_sites = false;
  if (const char* const name = std::getenv("ALLOC_COUNT"); name != nullptr) {
    if (FILE* const file = std::fopen(name, "w"); file != nullptr) {
      std::fprintf(file, "%ld\n", pieces.load());
      std::fclose(file);
    }
  }
  if (const char* const name = std::getenv("ALLOC_SITES"); name != nullptr) {
    if (FILE* const file = std::fopen(name, "w"); file != nullptr) {
      for (const auto& site : sites) {
        if (site != 0) std::fprintf(file, "%ld\n", static_cast<long>(site.load()));
      }
      std::fclose(file);
    }
  }
}

// Where a function lies in its library, which lies elsewhere in each run.
uint64_t PlaceOf(void* function) {
  struct dl_find_object found;
  if (_dl_find_object(function, &found) != 0) return 1;
  return static_cast<uint64_t>(static_cast<char*>(function) -
                               static_cast<char*>(found.dlfo_map_start)) +
         1;
}

// The functions that ask, without this one and malloc's: enough to tell who uses a container.
uint64_t SiteHere() {
  constexpr int kOwn = 3, kFrames = 5;
  is_looking = true;
  std::array<void*, kOwn + kFrames> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  is_looking = false;
  uint64_t hash = 1469598103934665603ULL;
  for (int i = kOwn; i < count; ++i) {
    hash = (hash ^ PlaceOf(frames[static_cast<size_t>(i)])) * 1099511628211ULL;
    hash ^= hash >> 29;
  }
  return (hash >> 1) | 1;
}

void Note(uint64_t site) {
  for (size_t i = site;; ++i) {
    uint64_t is = 0;
    auto& place = sites[i % sites.size()];
    if (place.compare_exchange_strong(is, site) || is == site) return;
  }
}

bool IsRefused() {
  if (is_looking) return false;
  const long piece = ++pieces;
  bool is_here = hit != 0 && piece == hit;
  if (looks_at_sites && !is_hit) {
    const uint64_t site = SiteHere();
    if (hit_site == 0) Note(site);
    is_here = is_here || site == hit_site;
  }
  const bool was_hit = is_here ? is_hit.exchange(true) : is_hit.load();
  if (was_hit ? !always : !is_here) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {

void* malloc(size_t size) { return IsRefused() ? nullptr : __libc_malloc(size); }

void* calloc(size_t count, size_t size) {
  return IsRefused() ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* piece, size_t size) {
  return size > 0 && IsRefused() ? nullptr : __libc_realloc(piece, size);
}

void* memalign(size_t alignment, size_t size) {
  return IsRefused() ? nullptr : __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** piece, size_t alignment, size_t size) {
  *piece = memalign(alignment, size);
  return *piece == nullptr ? ENOMEM : 0;
}

}  // extern "C"
