#include "pages/page_flush.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "tracedb/base/run_caught.h"

namespace tracedb {
namespace {

constexpr uint64_t kWritebackBytes = uint64_t{32} << 20;
constexpr size_t kBuffers = 3;  // with a thread: one is filled, one written, one waits

std::string AdviceFor(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free some space on that disk, or choose a place on another one";
    case EFBIG:
      return "the file system or a limit (ulimit -f) allows no longer file: choose another place "
             "or raise the limit";
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
      return "check that the file exists and may be written";
    case EIO:
      return "the disk reports an error: see the system's log";
    default:
      return "";
  }
}

}  // namespace

Error PageFileError(const std::filesystem::path& path, const char* doing, int error_number) {
  return Error{ErrorKind::kOutput,
               path.string() + ": " + doing + ": " + std::system_category().message(error_number),
               AdviceFor(error_number)};
}

Status WriteWhole(int file, const std::filesystem::path& path, uint64_t offset,
                  std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    // A short write is tried again for the rest, which then gives the reason as an error.
    if (wrote <= 0) return PageFileError(path, "cannot write to it", wrote < 0 ? errno : ENOSPC);
    offset += static_cast<uint64_t>(wrote);
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return Done{};
}

PageFlush::PageFlush(int file, std::filesystem::path path, uint64_t end, const Options& options)
    : file_(file),
      path_(std::move(path)),
      options_(options),
      end_(end),
      writeback_from_(end),
      empty_(kBuffers),
      filled_(kBuffers) {}

PageFlush::~PageFlush() {
  empty_.Close();
  filled_.Close();
}

Result<PageFlush::Buffer> PageFlush::Write(Buffer filled, size_t bytes) {
  Filled given{std::move(filled), bytes};
  TRACEDB_ASSIGN(beside, HasThread(bytes));
  if (!beside) {
    TRACEDB_TRY(WriteNow(given));
    return std::move(given.buffer);
  }
  auto next = filled_.Push(std::move(given)) ? empty_.Pop() : std::nullopt;
  if (next.has_value()) return std::move(*next);
  thread_.join();  // it has ended early: this says why
  return written_.error();
}

// One is started with the first buffer that is full: those that are not come last.
Result<bool> PageFlush::HasThread(size_t bytes) {
  if (thread_.joinable()) return true;
  TRACEDB_TRY(written_);
  if (!options_.on_thread || bytes < kBufferBytes) return false;
  try {
    thread_ = std::jthread([this] { WriteAll(); });
  } catch (const std::system_error&) {  // no more threads are to be had: it goes without
    options_.on_thread = false;
    return false;
  }
  for (size_t i = 1; i < kBuffers; ++i) static_cast<void>(empty_.Push(MakeBuffer()));
  return true;
}

void PageFlush::WriteAll() {
  pthread_setname_np(pthread_self(), "trace-flush");
  written_ = RunCaught([this]() -> Status {
    while (auto filled = filled_.Pop()) {
      TRACEDB_TRY(WriteNow(*filled));
      static_cast<void>(empty_.Push(std::move(filled->buffer)));
    }
    return Done{};
  });
  filled_.Close();
  empty_.Close();
}

Status PageFlush::Finish() {
  filled_.Close();
  if (thread_.joinable()) thread_.join();
  return written_;
}

Status PageFlush::WriteNow(const Filled& filled) {
  TRACEDB_TRY(WriteWhole(file_, path_, end_, {filled.buffer.get(), filled.bytes}));
  end_ += filled.bytes;
  const bool starts = options_.start_writeback_early && end_ - writeback_from_ >= kWritebackBytes;
  return starts ? StartWriteback() : Status(Done{});
}

Status PageFlush::StartWriteback() {
#ifdef SYNC_FILE_RANGE_WRITE
  if (sync_file_range(file_, static_cast<off_t>(writeback_from_),
                      static_cast<off_t>(end_ - writeback_from_), SYNC_FILE_RANGE_WRITE) != 0) {
    if (errno == EIO || errno == ENOSPC || errno == EDQUOT) {
      return PageFileError(path_, "cannot bring it to the disk", errno);
    }
    options_.start_writeback_early = false;  // this file system cannot; it was only a hint
  }
#endif
  writeback_from_ = end_;
  return Done{};
}

}  // namespace tracedb
