// Sorts what was gathered in some orders, one after the other, on a thread of its own, while
// whoever wants them does something else. Of few items it is done when they are wanted.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "derive/gathered/sorted_items.h"
#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/result.h"

namespace tracedb {

template <typename Gathered>
class SortAhead {
 public:
  using Order = typename SortedItems<Gathered>::Describe;
  using Give = std::function<Status(std::span<const SortEntry>)>;

  struct Space {
    std::filesystem::path folder;  // for what does not fit in memory
    size_t bytes_max;              // each order's while it is sorted and given
  };

  SortAhead(const Gathered& items, const Space& space, std::vector<Order> orders);
  ~SortAhead();
  SortAhead(const SortAhead&) = delete;
  SortAhead& operator=(const SortAhead&) = delete;

  // Gives the entries of the next order, in lots.
  Status Next(const Give& give);

 private:
  using Lot = std::vector<SortEntry>;
  static constexpr size_t kLots = 4;
  static constexpr size_t kFew = 4096;  // sorted before a thread has begun

  Status Sort(const Order& order, const Give& give) const;
  Status SortAll();

  const Gathered& items_;
  Space space_;
  std::vector<Order> orders_;
  size_t next_ = 0;         // order, where there is no thread
  BoundedQueue<Lot> full_;  // an empty one ends its order
  Status sorted_ = Done{};  // of the thread, once full_ is closed
  std::jthread thread_;
};

}  // namespace tracedb
