// A file that a job has left, as lines of text: unpacked, in bounded memory, with where each line
// begins.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/ingest/read/byte_source.h"
#include "tracedb/ingest/read/content_hash.h"

namespace tracedb {

// `text` without the mark of UTF-8 or UTF-16 at its beginning.
std::string_view WithoutByteOrderMark(std::string_view text);

class SourceText {
 public:
  // A longer line is given as its beginning, and was_cut() says so.
  static constexpr size_t kLineBytesMax = size_t{1} << 20;

  // `path` is a regular file; its content says what it is packed with. Once `stop` is true,
  // reading fails. `block_bytes` limits what is read at a time (0: no limit), for tests. A packed
  // file is unpacked on a thread of its own, up to `ahead_bytes` ahead (0: it is not).
  static Result<SourceText> Open(const std::filesystem::path& path, size_t block_bytes,
                                 const std::atomic<bool>* stop, size_t ahead_bytes = 0);

  // The next line, without its LF or CR LF, and the first without a byte order mark, until the next
  // call. False: there is none.
  Result<bool> NextLine(std::string_view& line);
  // Of the line given last.
  uint64_t line_offset() const { return line_offset_; }  // bytes from the start of the text
  uint64_t line_number() const { return line_number_; }  // from 1
  bool was_cut() const { return was_cut_; }

  // For what is no lines: fills a part of `into`; 0 at the end. Not to be mixed with NextLine().
  Result<size_t> Read(std::span<char> into);

  uint64_t text_bytes() const { return text_bytes_; }  // read so far, unpacked
  uint64_t packed_bytes() const { return bytes_->packed_bytes(); }
  // The compressed stream broke off or was wrong: the rest is missing.
  const std::optional<ByteDamage>& damage() const { return bytes_->damage(); }
  // Once it has been read to its end: hashes of the text, and of the file as it is.
  std::string text_hash() const { return text_hash_.Digits(); }
  std::string file_hash() const { return bytes_->file_hash(); }
  // Called now and then while reading.
  void OnProgress(std::function<void()> progress) { on_progress_ = std::move(progress); }

 private:
  SourceText(std::unique_ptr<ByteSource> bytes, const std::atomic<bool>* stop);
  Status Refill();

  std::unique_ptr<ByteSource> bytes_;
  const std::atomic<bool>* stop_;
  ContentHash text_hash_;
  std::vector<char> buffer_;
  std::string cut_;   // the beginning of a line that is too long
  size_t begin_ = 0;  // of what is not given yet
  size_t end_ = 0;
  bool is_done_ = false;
  bool was_cut_ = false;
  uint64_t line_offset_ = 0;
  uint64_t next_offset_ = 0;
  uint64_t line_number_ = 0;
  uint64_t text_bytes_ = 0;
  std::function<void()> on_progress_;
};

}  // namespace tracedb
