// Bytes that are written before they are read: room that nothing is put into costs nothing, as the
// system gives memory page by page when it is first touched.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace tracedb {

// As std::allocator, but what a vector grows by is left as it is.
template <typename T>
struct UninitializedAllocator : std::allocator<T> {
  template <typename U>
  struct rebind {
    using other = UninitializedAllocator<U>;
  };
  template <typename U>
  void construct(U* at) {
    std::uninitialized_default_construct_n(at, 1);
  }
  template <typename U, typename... From>
  void construct(U* at, From&&... from) {
    std::construct_at(at, std::forward<From>(from)...);
  }
};

using UninitializedBytes = std::vector<char, UninitializedAllocator<char>>;

}  // namespace tracedb
