#include "serve/query_slots.h"

#include <chrono>
#include <utility>

namespace tracedb {

bool QuerySlots::Take(const std::function<bool()>& give_up) {
  std::unique_lock lock(mutex_);
  while (free_ == 0) {
    if (give_up()) return false;
    freed_.wait_for(lock, std::chrono::milliseconds(100));
  }
  --free_;
  return true;
}

void QuerySlots::GiveBack() {
  {
    std::lock_guard lock(mutex_);
    ++free_;
  }
  freed_.notify_one();
}

bool HeldSlot::Take(const std::function<bool()>& give_up) {
  if (!held_) held_ = slots_.Take(give_up);
  return held_;
}

void HeldSlot::GiveBack() {
  if (std::exchange(held_, false)) slots_.GiveBack();
}

}  // namespace tracedb
