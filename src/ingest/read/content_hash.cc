#include "tracedb/ingest/read/content_hash.h"

#include <xxhash.h>
// Where the library has it: the widest vector unit, chosen at run time.
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace tracedb {

void ContentHash::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

ContentHash::ContentHash() : state_(XXH3_createState()) { XXH3_128bits_reset(state_.get()); }

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
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  // A name that has become a pipe meanwhile is not waited for.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const std::unique_ptr<std::FILE, CloseFile> file(descriptor < 0 ? nullptr
                                                                  : fdopen(descriptor, "rb"));
  if (file == nullptr) {
    return Error{ErrorKind::kInput, path.string() + ": cannot open: " + std::strerror(errno),
                 "check the name and that you may read it"};
  }
  ContentHash hash;
  std::vector<char> block(1 << 18);
  for (;;) {
    if (stop != nullptr && stop->load()) {
      return Error{ErrorKind::kInput, "interrupted", "the database is as it was"};
    }
    const size_t got = std::fread(block.data(), 1, block.size(), file.get());
    hash.Add({block.data(), got});
    if (got == block.size()) continue;
    if (std::ferror(file.get()) != 0) {
      return Error{ErrorKind::kInput, path.string() + ": cannot read: " + std::strerror(errno), ""};
    }
    return hash.Digits();
  }
}

}  // namespace tracedb
