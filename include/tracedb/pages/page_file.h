// A SQLite database file to which whole pages are added at the end, past SQLite.
//
// SQLite makes the file and its schema; pages are added here; then SQLite goes on. No connection
// may be in a transaction meanwhile, in this process or another: there are no locks, and closing
// the file here would drop SQLite's. One that is in none, and not in its exclusive mode, sees at
// its next read that the file has changed. Until Finish() has succeeded the file is no sound
// database: write to a file that nobody uses yet.
//
// Knows page numbers and the file's header, not what is in the pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "tracedb/base/result.h"
#include "tracedb/pages/btree_page.h"

namespace tracedb {

class PageFlush;

struct PageFileOptions {
  // Tells the kernel every 32 MiB to start writing to the disk, so that the sync at the end
  // finds little left to do.
  bool start_writeback_early = false;
  bool write_on_thread = false;  // beside whoever adds pages, where cores are to spare
  bool sync_at_finish = false;   // Finish() returns only when the disk has it all
};

// Not thread safe.
class PageFile {
 public:
  // A page just added. `bytes` points into the write buffer, has any contents, and is to be
  // filled whole before the next call of any function of the file.
  struct NewPage {
    uint32_t number = 0;
    std::span<uint8_t> bytes;
  };

  // Refuses what could not be a sound database afterwards: WAL mode, auto_vacuum, UTF-16 text, a
  // rollback journal that SQLite would play back, a length that is not the header's.
  static Result<std::unique_ptr<PageFile>> Open(const std::filesystem::path& path,
                                                const PageFileOptions& options = {});

  // Closes the file; without a Finish() before, what was buffered is dropped.
  ~PageFile();
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  PageSizes sizes() const { return sizes_; }
  uint32_t page_count() const { return page_count_; }

  // The number that the next AddPage() gives.
  uint32_t NextPageNumber() const;
  Result<NewPage> AddPage();

  // For pages that were in the file when it was opened, but for page 1: the first bytes of one.
  Status ReadOldStart(uint32_t number, std::span<uint8_t> bytes) const;
  // A whole one.
  Status WriteOldPage(uint32_t number, std::span<const uint8_t> bytes);

  // Writes what is buffered and the header, and closes the file. To be called once, last. Once a
  // write has failed, this and every further write return that same error.
  Status Finish();

 private:
  static constexpr size_t kHeaderBytes = 100;

  PageFile(const std::filesystem::path& path, const PageFileOptions& options);

  Status OpenFile();
  Status CheckHeader(uint64_t file_bytes);
  Status CheckNoHotJournal() const;
  Error Refuse(const std::string& why, const std::string& advice) const;

  Status Flush();
  Status WriteAt(uint64_t offset, std::span<const uint8_t> bytes);
  Status ReadAt(uint64_t offset, std::span<uint8_t> bytes) const;
  Status FinishHeader();
  Status Sync();
  Error Fail(const char* doing, int error_number);
  Error Fail(Error error);

  std::filesystem::path path_;
  PageFileOptions options_;
  int file_ = -1;
  PageSizes sizes_;
  std::array<uint8_t, kHeaderBytes> header_ = {};
  uint32_t old_page_count_ = 0;  // when it was opened
  uint32_t page_count_ = 0;
  uint32_t lock_page_ = 0;  // never used: SQLite's locks lie on its bytes

  std::unique_ptr<uint8_t[]> buffer_;
  size_t buffered_bytes_ = 0;
  std::unique_ptr<PageFlush> flush_;
  std::optional<Error> failure_;  // the first one; nothing is written after it
};

}  // namespace tracedb
