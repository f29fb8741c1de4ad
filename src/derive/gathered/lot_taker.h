// Work in two stages at once: what one makes is taken by the other in lots, by a thread of its own
// where cores are to spare, else in between.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "tracedb/base/apart_bytes.h"
#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/result.h"
#include "tracedb/base/run_caught.h"

namespace tracedb {

template <typename Lot>
class alignas(kApartBytes) LotTaker {
 public:
  // Is called with all lots, in the order in which they were given; not any more after an error.
  using Take = std::function<Status(Lot&)>;
  // Given and not taken yet, at most; an error leaves them.
  static constexpr size_t kLots = 4;

  LotTaker(bool on_thread, Take take)
      : on_thread_(on_thread), take_(std::move(take)), given_(kLots) {}
  ~LotTaker() { given_.Close(); }
  LotTaker(const LotTaker&) = delete;
  LotTaker& operator=(const LotTaker&) = delete;

  // An error may be that of a lot given before.
  Status Give(Lot lot) {
    if (!on_thread_) return take_(lot);
    if (!thread_.joinable()) thread_ = std::jthread([this] { TakeAll(); });
    if (given_.Push(std::move(lot))) return Done{};
    thread_.join();  // it has ended early: this says why
    return taken_;
  }
  // Waits until all have been taken. Once, last.
  Status Finish() {
    given_.Close();
    if (thread_.joinable()) thread_.join();
    return taken_;
  }

 private:
  void TakeAll() {
    taken_ = RunCaught([this]() -> Status {
      while (auto lot = given_.Pop()) TRACEDB_TRY(take_(*lot));
      return Done{};
    });
    given_.Close();
  }

  const bool on_thread_;
  const Take take_;
  BoundedQueue<Lot> given_;
  Status taken_ = Done{};  // by the thread, once it has ended
  std::jthread thread_;
};

// Makes the lots of single items. Of less than a lot none goes to a thread.
template <typename Item>
class alignas(kApartBytes) ItemTaker {
 public:
  using Take = std::function<Status(std::span<const Item>)>;

  ItemTaker(bool on_thread, Take take)
      : take_(std::move(take)),
        lots_(on_thread, [this](std::vector<Item>& items) { return take_(items); }) {}

  Status Add(const Item& item) {
    if (items_.empty()) items_.reserve(kLotItems);
    items_.push_back(item);
    return items_.size() < kLotItems ? Status(Done{}) : lots_.Give(std::exchange(items_, {}));
  }
  Status Finish() {
    TRACEDB_TRY(lots_.Finish());
    return take_(items_);
  }

 private:
  static constexpr size_t kLotItems = 2048;

  const Take take_;
  std::vector<Item> items_;  // added, and not given yet
  LotTaker<std::vector<Item>> lots_;
};

}  // namespace tracedb
