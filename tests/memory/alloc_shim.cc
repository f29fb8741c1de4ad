// A library that a test preloads into the program: the N-th piece of memory that it asks for, and
// with ALLOC_HOW=always all after it, are not to be had. Told by the environment:
//
//   ALLOC_AT     the piece, from 1; 0: none, for counting
//   ALLOC_HOW    once or always
//   ALLOC_COUNT  a file that gets the number of pieces when the program ends
#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <charconv>
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
long hit = 0;
bool always = false;

__attribute__((constructor)) void ReadSettings() {
  const char* const at = std::getenv("ALLOC_AT");
  const char* const how = std::getenv("ALLOC_HOW");
  if (at != nullptr) std::from_chars(at, at + std::strlen(at), hit);
  always = how != nullptr && std::strcmp(how, "always") == 0;
}

__attribute__((destructor)) void TellCount() {
  const char* const name = std::getenv("ALLOC_COUNT");
  if (name == nullptr) return;
  if (FILE* const file = std::fopen(name, "w"); file != nullptr) {
    std::fprintf(file, "%ld\n", pieces.load());
    std::fclose(file);
  }
}

bool IsRefused() {
  const long piece = ++pieces;
  if (hit == 0 || piece < hit || (piece > hit && !always)) return false;
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
