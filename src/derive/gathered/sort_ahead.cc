#include "derive/gathered/sort_ahead.h"

#include <utility>

#include "tracedb/base/run_caught.h"

namespace tracedb {

template <typename Gathered>
SortAhead<Gathered>::SortAhead(const Gathered& items, const Space& space, std::vector<Order> orders)
    : items_(items), space_(space), orders_(std::move(orders)), full_(kLots) {
  if (items.count() <= kFew) return;
  thread_ = std::jthread([this] {
    sorted_ = RunCaught([this] { return SortAll(); });
    full_.Close();
  });
}

template <typename Gathered>
SortAhead<Gathered>::~SortAhead() {
  full_.Close();
}

template <typename Gathered>
Status SortAhead<Gathered>::Sort(const Order& order, const Give& give) const {
  SortedItems<Gathered> sorted(space_.folder, space_.bytes_max);
  const Order own = order;  // what it remembers lies apart from what those of other threads do
  TRACEDB_TRY(sorted.Sort(items_, own));
  return sorted.ForEach(give);
}

template <typename Gathered>
Status SortAhead<Gathered>::SortAll() {
  const Error nobody{ErrorKind::kClosed, "nobody takes what is sorted", ""};
  const Give hand_on = [&](std::span<const SortEntry> entries) -> Status {
    return full_.Push(Lot(entries.begin(), entries.end())) ? Status(Done{}) : nobody;
  };
  for (const Order& order : orders_) {
    TRACEDB_TRY(Sort(order, hand_on));
    if (!full_.Push({})) return nobody;
  }
  return Done{};
}

template <typename Gathered>
Status SortAhead<Gathered>::Next(const Give& give) {
  if (items_.count() <= kFew) return Sort(orders_[next_++], give);
  for (;;) {
    auto lot = full_.Pop();
    if (!lot.has_value()) {
      if (thread_.joinable()) thread_.join();
      return sorted_;
    }
    if (lot->empty()) return Done{};
    TRACEDB_TRY(give(*lot));
  }
}

template class SortAhead<GpuActivities>;
template class SortAhead<LongSlices>;

}  // namespace tracedb
