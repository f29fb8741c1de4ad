// Sorts what was gathered in several orders, one after the other, on a thread of its own, while
// whoever wants them still writes those of the order before.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "derive/sorted_items.h"
#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/result.h"

namespace tracedb {

template <typename Gathered>
class SortAhead {
 public:
  struct Order {
    uint32_t groups;
    typename SortedItems<Gathered>::Describe describe;
  };

  using Give = std::function<Status(std::span<const SortEntry>)>;

  // All lots that are on their way take `bytes_max` together.
  SortAhead(const Gathered& items, size_t bytes_max, std::vector<Order> orders);
  ~SortAhead();
  SortAhead(const SortAhead&) = delete;
  SortAhead& operator=(const SortAhead&) = delete;

  // Gives the entries of the next order, in lots.
  Status Next(const Give& give);

 private:
  using Lot = std::vector<SortEntry>;
  static constexpr size_t kLots = 3;  // one being sorted, one waiting, one being used

  Status Sort(const Gathered& items, size_t entries_max, const std::vector<Order>& orders);

  BoundedQueue<Lot> empty_;
  BoundedQueue<Lot> full_;  // an empty one ends its order
  Status sorted_ = Done{};  // of the thread, once full_ is closed
  std::jthread thread_;
};

}  // namespace tracedb
