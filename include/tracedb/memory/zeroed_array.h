// An array of zeros that may be large and stay nearly empty: a page of it takes memory and time
// when it is first touched, which a small trace does to few of them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace tracedb {

template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit ZeroedArray(size_t size)
      : items_(static_cast<T*>(std::calloc(size, sizeof(T)))), size_(size) {
    if (items_ == nullptr && size != 0) throw std::bad_alloc();
  }

  T& operator[](size_t at) { return items_[at]; }
  const T& operator[](size_t at) const { return items_[at]; }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* items) const { std::free(items); }
  };
  std::unique_ptr<T[], Free> items_;
  size_t size_;
};

}  // namespace tracedb
