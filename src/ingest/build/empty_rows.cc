#include "ingest/build/empty_rows.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tracedb/schema/empty_database.h"

namespace tracedb {
namespace {

// Of the file from `from` on, as far as one call takes it: parts, and zeros between them.
std::vector<iovec> NextPieces(uint64_t from) {
  // In the middle of a page: a load that comes a little after stores by the last 12 bits of its
  // address waits for them. What follows a part begins a few bytes into a page, and from the begin
  // of one it is copied at half the speed.
  constexpr size_t kPageBytes = 4096;
  constexpr size_t kZerosFrom = kPageBytes / 2;
  alignas(kPageBytes) static const std::array<char, kZerosFrom + 65536> kZeros{};
  constexpr size_t kPiecesMax = 512;
  std::vector<iovec> pieces;
  const auto add = [&pieces](const char* bytes, size_t count) {
    pieces.push_back({const_cast<char*>(bytes), count});  // it is only read
  };
  const auto zeros_to = [&](uint64_t to) {
    while (from < to && pieces.size() < kPiecesMax) {
      const size_t count = std::min<uint64_t>(to - from, kZeros.size() - kZerosFrom);
      add(kZeros.data() + kZerosFrom, count);
      from += count;
    }
  };
  for (const EmptyDatabase::Part& part : EmptyDatabase::parts()) {
    const uint64_t end = part.offset + part.bytes.size();
    if (end <= from) continue;
    zeros_to(part.offset);
    if (pieces.size() >= kPiecesMax) return pieces;
    const size_t skip = from - part.offset;
    add(part.bytes.data() + skip, part.bytes.size() - skip);
    from = end;
  }
  zeros_to(EmptyDatabase::bytes());
  return pieces;
}

bool WriteAll(int file) {
  for (uint64_t done = 0; done < EmptyDatabase::bytes();) {
    const std::vector<iovec> pieces = NextPieces(done);
    const ssize_t some =
        pwritev(file, pieces.data(), static_cast<int>(pieces.size()), static_cast<off_t>(done));
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return false;
    done += static_cast<uint64_t>(some);
  }
  return true;
}

bool WriteSchema(int file, EmptyDatabase::Schema schema) {
  for (const EmptyDatabase::Part& page : EmptyDatabase::SchemaPages(schema)) {
    for (size_t done = 0; done < page.bytes.size();) {
      const ssize_t some = pwrite(file, page.bytes.data() + done, page.bytes.size() - done,
                                  static_cast<off_t>(page.offset + done));
      if (some < 0 && errno == EINTR) continue;
      if (some <= 0) return false;
      done += static_cast<size_t>(some);
    }
  }
  return true;
}

Status Write(const std::filesystem::path& path, EmptyDatabase::Schema schema, bool is_new) {
  const int file = open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  bool written = file >= 0;
  written = written && (!is_new || WriteAll(file));
  const bool has_it = is_new && schema == EmptyDatabase::Schema::kWhole;
  written = written && (has_it || WriteSchema(file, schema));
  int why = errno;
  if (file >= 0 && close(file) != 0 && written) {
    written = false;
    why = errno;
  }
  if (written) return Done{};
  return Error{ErrorKind::kOutput, path.string() + ": cannot write: " + std::strerror(why),
               "check free space and quota, or choose another place with --db"};
}

}  // namespace

// Zeros as well, which are most of the file: where they were left out, each table's first page
// became a piece of the file by itself on a disk, and was looked for there when it was read. The
// first bytes come first: if the program is killed after them, they say whose the file is, and the
// next ingest removes it.
Status WriteEmptyDatabase(const std::filesystem::path& path, EmptyDatabase::Schema schema) {
  return Write(path, schema, true);
}

Status ShowSchema(const std::filesystem::path& path, EmptyDatabase::Schema schema) {
  return Write(path, schema, false);
}

}  // namespace tracedb
