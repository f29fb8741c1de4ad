#include "tracedb/base/nameless_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr size_t kRandomDigits = 16;

// linkat() of the descriptor itself is for privileged processes.
std::string ProcName(int file) { return "/proc/self/fd/" + std::to_string(file); }

}  // namespace

int OpenNameless(const fs::path& folder, unsigned mode) {
  const char* const name = folder.empty() ? "." : folder.c_str();
  const int file = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (file < 0 || access(ProcName(file).c_str(), F_OK) == 0) return file;
  close(file);
  return -1;
}

bool GiveName(int file, const fs::path& name) {
  return linkat(AT_FDCWD, ProcName(file).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

fs::path RandomName(fs::path start) {
  std::random_device random;
  std::string digits;
  while (digits.size() < kRandomDigits) {
    for (unsigned bits = random(), i = 0; i < 8; ++i, bits >>= 4) digits += kDigits[bits & 15];
  }
  start += digits;
  return start;
}

bool IsRandomName(const fs::path& start, const fs::path& name) {
  const std::string begun = start.filename().string();
  const std::string whole = name.filename().string();
  return whole.size() == begun.size() + kRandomDigits && whole.starts_with(begun) &&
         std::all_of(whole.end() - kRandomDigits, whole.end(),
                     [](char c) { return kDigits.find(c) != std::string_view::npos; });
}

}  // namespace tracedb
