#include "ingest/build/empty_rows.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "tracedb/schema/empty_database.h"

namespace tracedb {
namespace {

bool WriteAll(int file, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t some = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return false;
    offset += static_cast<uint64_t>(some);
    bytes.remove_prefix(static_cast<size_t>(some));
  }
  return true;
}

}  // namespace

// What is zero is not written: most of the file. The first bytes come first: if the program is
// killed after them, they say whose the file is, and the next ingest removes it.
Status WriteEmptyDatabase(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  bool written = file >= 0;
  for (const EmptyDatabase::Part& part : EmptyDatabase::parts()) {
    written = written && WriteAll(file, part.bytes, part.offset);
  }
  written = written && ftruncate(file, static_cast<off_t>(EmptyDatabase::bytes())) == 0;
  int why = errno;
  if (file >= 0 && close(file) != 0 && written) {
    written = false;
    why = errno;
  }
  if (written) return Done{};
  return Error{ErrorKind::kOutput, path.string() + ": cannot write: " + std::strerror(why),
               "check free space and quota, or choose another place with --db"};
}

}  // namespace tracedb
