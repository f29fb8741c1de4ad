// Puts a file's filled buffers where they belong, at once or by a thread beside whoever fills them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <thread>

#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/result.h"

namespace tracedb {

// Not thread safe. What of a file is written by it nobody else may write or read before Finish.
class PageFlush {
 public:
  static constexpr size_t kBufferBytes = size_t{256} << 10;  // a multiple of every page size
  using Buffer = std::unique_ptr<uint8_t[]>;
  struct Options {
    bool start_writeback_early = false;  // as PageFileOptions has it
    bool on_thread = false;
  };

  // `file` is open for as long as this is there; its end is at `end`.
  PageFlush(int file, std::filesystem::path path, uint64_t end, const Options& options);
  ~PageFlush();
  PageFlush(const PageFlush&) = delete;
  PageFlush& operator=(const PageFlush&) = delete;

  // For the first time.
  static Buffer MakeBuffer() { return std::make_unique_for_overwrite<uint8_t[]>(kBufferBytes); }
  // `bytes` of a buffer go to the file's end; returns another one to fill. An error may be that of
  // one given before; nothing more can be given then.
  Result<Buffer> Write(Buffer filled, size_t bytes);
  // Waits until all is written.
  Status Finish();

 private:
  struct Filled {
    Buffer buffer;
    size_t bytes = 0;
  };

  Result<bool> HasThread(size_t bytes);
  Status WriteNow(const Filled& filled);
  Status StartWriteback();
  void WriteAll();

  const int file_;
  const std::filesystem::path path_;
  Options options_;
  uint64_t end_;             // of what has been written
  uint64_t writeback_from_;  // before it, writing to the disk has been started
  BoundedQueue<Buffer> empty_;
  BoundedQueue<Filled> filled_;
  Status written_ = Done{};  // by the thread, once it has ended
  std::jthread thread_;
};

// With what the system says of `error_number`, and what can be done.
Error PageFileError(const std::filesystem::path& path, const char* doing, int error_number);

// All of `bytes`.
Status WriteWhole(int file, const std::filesystem::path& path, uint64_t offset,
                  std::span<const uint8_t> bytes);

}  // namespace tracedb
