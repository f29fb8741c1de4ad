#include "derive/sort_ahead.h"

#include <algorithm>
#include <utility>

#include "tracedb/base/run_caught.h"

namespace tracedb {

template <typename Gathered>
SortAhead<Gathered>::SortAhead(const Gathered& items, size_t bytes_max, std::vector<Order> orders)
    : empty_(kLots), full_(1) {
  for (size_t i = 1; i < kLots; ++i) static_cast<void>(empty_.Push({}));
  const size_t entries_max = std::max<size_t>(1, bytes_max / kLots / sizeof(SortEntry));
  thread_ = std::jthread([this, &items, entries_max, orders = std::move(orders)] {
    sorted_ = RunCaught([&] { return Sort(items, entries_max, orders); });
    full_.Close();
  });
}

template <typename Gathered>
SortAhead<Gathered>::~SortAhead() {
  empty_.Close();
  full_.Close();
}

template <typename Gathered>
Status SortAhead<Gathered>::Sort(const Gathered& items, size_t entries_max,
                                 const std::vector<Order>& orders) {
  const Error nobody{ErrorKind::kClosed, "nobody takes what is sorted", ""};
  for (const Order& order : orders) {
    SortedItems<Gathered> sorted(items, entries_max, order.describe);
    TRACEDB_TRY(sorted.ForEach(order.groups, [&](Lot& lot) -> Status {
      if (lot.empty()) return Done{};
      auto next = empty_.Pop();
      if (!next.has_value()) return nobody;
      std::swap(lot, *next);
      return full_.Push(std::move(*next)) ? Status(Done{}) : nobody;
    }));
    if (!full_.Push({})) return nobody;
  }
  return Done{};
}

template <typename Gathered>
Status SortAhead<Gathered>::Next(const Give& give) {
  for (;;) {
    auto lot = full_.Pop();
    if (!lot.has_value()) {
      if (thread_.joinable()) thread_.join();
      return sorted_;
    }
    if (lot->empty()) return Done{};
    TRACEDB_TRY(give(*lot));
    static_cast<void>(empty_.Push(std::move(*lot)));
  }
}

template class SortAhead<GpuActivities>;
template class SortAhead<LongSlices>;

}  // namespace tracedb
