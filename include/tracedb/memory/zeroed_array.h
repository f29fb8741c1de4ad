// An array of zeros that may be large and stay nearly empty: what of it is never touched takes
// neither memory nor time, and a small trace touches little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace tracedb {

template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit ZeroedArray(size_t size)
      : memory_(std::calloc(size * sizeof(T) + kPageBytes, 1)),
        size_(size),
        is_written_(size * sizeof(T) / kPieceBytes + 1) {
    if (memory_ == nullptr) throw std::bad_alloc();
    void* start = memory_.get();
    size_t room = size * sizeof(T) + kPageBytes;
    items_ = static_cast<T*>(std::align(kPageBytes, size * sizeof(T), start, room));
  }

  const T& operator[](size_t at) const { return items_[at]; }
  // For one that is read and may be written after that. A page that is read first is mapped twice:
  // as the system's page of zeros, and anew when it is written, which stops the process's other
  // threads on their cores. So of a piece that is new each page is written.
  T& ToWrite(size_t at) {
    uint8_t& is_written = is_written_[at * sizeof(T) / kPieceBytes];
    if (is_written == 0) {
      is_written = 1;
      WritePages(at * sizeof(T) / kPieceBytes * kPieceBytes);
    }
    return items_[at];
  }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kPieceBytes = 4 * kPageBytes;

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  // Nothing but zeros is there.
  void WritePages(size_t from) {
    const size_t end = size_ * sizeof(T);
    auto* const bytes = reinterpret_cast<volatile unsigned char*>(items_);
    for (size_t at = from; at < end && at < from + kPieceBytes; at += kPageBytes) bytes[at] = 0;
  }

  std::unique_ptr<void, Free> memory_;
  T* items_;  // in memory_, from a page's start
  size_t size_;
  std::vector<uint8_t> is_written_;  // by piece
};

}  // namespace tracedb
