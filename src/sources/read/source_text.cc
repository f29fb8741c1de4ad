#include "tracedb/sources/read/source_text.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ingest/read/unpack_ahead.h"

namespace tracedb {

std::string_view WithoutByteOrderMark(std::string_view text) {
  for (const std::string_view mark : {"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"}) {
    if (text.starts_with(mark)) return text.substr(mark.size());
  }
  return text;
}

SourceText::SourceText(std::unique_ptr<ByteSource> bytes, const std::atomic<bool>* stop)
    : bytes_(std::move(bytes)), stop_(stop), buffer_(2 * kLineBytesMax) {}

Result<SourceText> SourceText::Open(const std::filesystem::path& path, size_t block_bytes,
                                    const std::atomic<bool>* stop, size_t ahead_bytes) {
  TRACEDB_ASSIGN(bytes, OpenByteSource(path, block_bytes, stop));
  const bool is_packed = bytes->packing() != BytePacking::kPlain;
  if (is_packed && ahead_bytes > 0) bytes = UnpackAhead(std::move(bytes), ahead_bytes);
  return SourceText(std::move(bytes), stop);
}

Result<size_t> SourceText::Read(std::span<char> into) {
  if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) {
    return Error{ErrorKind::kInput, "interrupted", "the database is as it was"};
  }
  TRACEDB_ASSIGN(got, bytes_->Read(into));
  text_hash_.Add(into.first(got));
  text_bytes_ += got;
  if (on_progress_) on_progress_();
  return got;
}

// Brings more of the text after what is not given yet.
Status SourceText::Refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  constexpr size_t kReadBytes = size_t{256} << 10;  // which are in the cache when they are parsed
  const size_t room = std::min(buffer_.size() - end_, kReadBytes);
  TRACEDB_ASSIGN(got, Read(std::span(buffer_).subspan(end_, room)));
  end_ += got;
  is_done_ = got == 0;
  return Done{};
}

Result<bool> SourceText::NextLine(std::string_view& line) {
  line_offset_ = next_offset_;
  was_cut_ = false;
  for (size_t seen = 0;;) {  // bytes from begin_ on that hold no LF
    const char* const from = buffer_.data() + begin_;
    const size_t size = end_ - begin_;
    const auto* const found = static_cast<const char*>(std::memchr(from + seen, '\n', size - seen));
    const size_t length = found != nullptr ? static_cast<size_t>(found - from) : size;
    if (length > kLineBytesMax && !was_cut_) {
      cut_.assign(from, kLineBytesMax);
      was_cut_ = true;
    }
    if (found != nullptr || is_done_) {
      if (found == nullptr && length == 0 && !was_cut_) return false;
      const size_t taken = length + (found != nullptr ? 1 : 0);
      next_offset_ += taken;
      begin_ += taken;
      line = was_cut_ ? std::string_view(cut_) : std::string_view(from, length);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (++line_number_ == 1) line = WithoutByteOrderMark(line);
      return true;
    }
    seen = size;
    if (was_cut_) {  // the rest of it is read over
      next_offset_ += size;
      begin_ = end_;
      seen = 0;
    }
    TRACEDB_TRY(Refill());
  }
}

}  // namespace tracedb
