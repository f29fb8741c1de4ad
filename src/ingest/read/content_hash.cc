#include "tracedb/ingest/read/content_hash.h"

#include <xxhash.h>
// Where the library has it: the widest vector unit, chosen at run time.
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "tracedb/base/descriptor.h"

namespace tracedb {

void ContentHash::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

ContentHash::ContentHash() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_.get());
}

void ContentHash::Add(std::span<const char> bytes) {
  XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

std::string ContentHash::Digits() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return digits;
}

Result<std::string> HashFile(const std::filesystem::path& path, const std::atomic<bool>* stop) {
  // A name that has become a pipe meanwhile is not waited for.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) {
    return Error{ErrorKind::kInput, path.string() + ": cannot open: " + std::strerror(errno),
                 "check the name and that you may read it"};
  }
  ContentHash hash;
  std::vector<char> block(1 << 18);
  for (;;) {
    if (stop != nullptr && stop->load()) {
      return Error{ErrorKind::kInput, "interrupted", "the database is as it was"};
    }
    const ssize_t got = read(file.number, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Error{ErrorKind::kInput, path.string() + ": cannot read: " + std::strerror(errno), ""};
    }
    if (got == 0) return hash.Digits();
    hash.Add({block.data(), static_cast<size_t>(got)});
  }
}

}  // namespace tracedb
