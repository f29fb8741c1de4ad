// How many queries compute at a time. Who waits for its client's network holds no slot, so slow
// clients keep nobody from computing.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

namespace tracedb {

class QuerySlots {
 public:
  explicit QuerySlots(int slots) : free_(slots) {}

  // Waits for a slot; false when `give_up`, asked several times a second, says so before.
  [[nodiscard]] bool Take(const std::function<bool()>& give_up);
  void GiveBack();

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  int free_;
};

// At most one slot, given back when this goes.
class HeldSlot {
 public:
  explicit HeldSlot(QuerySlots& slots) : slots_(slots) {}
  ~HeldSlot() { GiveBack(); }
  HeldSlot(const HeldSlot&) = delete;
  HeldSlot& operator=(const HeldSlot&) = delete;

  [[nodiscard]] bool Take(const std::function<bool()>& give_up);
  void GiveBack();

 private:
  QuerySlots& slots_;
  bool held_ = false;
};

}  // namespace tracedb
