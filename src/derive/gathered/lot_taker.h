// Items are taken in lots while more of them are made: by a thread of its own where cores are to
// spare, else in between. Of less than a lot it is always in between.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/result.h"
#include "tracedb/base/run_caught.h"

namespace tracedb {

template <typename Item>
class LotTaker {
 public:
  // Is called with all items, in the order in which they were added; not any more after an error.
  using Take = std::function<Status(std::span<const Item>)>;

  LotTaker(bool on_thread, Take take)
      : on_thread_(on_thread), take_(std::move(take)), full_(kLots) {}
  ~LotTaker() { full_.Close(); }
  LotTaker(const LotTaker&) = delete;
  LotTaker& operator=(const LotTaker&) = delete;

  // An error may be that of an item added before.
  Status Add(const Item& item) {
    if (lot_.empty()) lot_.reserve(kLotItems);
    lot_.push_back(item);
    return lot_.size() < kLotItems ? Status(Done{}) : HandOn();
  }
  // Waits until all have been taken. Once, last.
  Status Finish() {
    if (!thread_.joinable()) return TakeLot();
    if (!lot_.empty()) TRACEDB_TRY(HandOn());
    full_.Close();
    thread_.join();
    return taken_;
  }

 private:
  using Lot = std::vector<Item>;
  static constexpr size_t kLots = 4;
  static constexpr size_t kLotItems = 2048;

  Status TakeLot() {
    const Status taken = take_(lot_);
    lot_.clear();
    return taken;
  }
  Status HandOn() {
    if (!on_thread_) return TakeLot();
    if (!thread_.joinable()) thread_ = std::jthread([this] { TakeAll(); });
    if (full_.Push(std::exchange(lot_, {}))) return Done{};
    thread_.join();  // it has ended early: this says why
    return taken_;
  }
  void TakeAll() {
    taken_ = RunCaught([this]() -> Status {
      while (const auto lot = full_.Pop()) TRACEDB_TRY(take_(*lot));
      return Done{};
    });
    full_.Close();
  }

  const bool on_thread_;
  const Take take_;
  Lot lot_;  // added, and not handed on yet
  BoundedQueue<Lot> full_;
  Status taken_ = Done{};  // by the thread, once it has ended
  std::jthread thread_;
};

}  // namespace tracedb
