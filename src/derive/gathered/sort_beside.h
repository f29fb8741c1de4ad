// Sorts entries on a thread of its own while they are made, and while whoever wants them works on
// those before. Of few entries it is done when they are wanted.
#pragma once

#include <cstddef>
#include <filesystem>
#include <thread>
#include <vector>

#include "derive/gathered/sorted_items.h"
#include "tracedb/base/apart_bytes.h"
#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/result.h"

namespace tracedb {

class SortBeside {
 public:
  // `folder` is for what does not fit in `bytes_max`; `count`: as many as there may be.
  SortBeside(std::filesystem::path folder, size_t bytes_max, size_t count);
  ~SortBeside();
  SortBeside(const SortBeside&) = delete;
  SortBeside& operator=(const SortBeside&) = delete;

  Status Add(const SortEntry& entry);
  // Gives all that were added, in order and in lots. Once, last.
  Status ForEach(const SortedEntries::Give& give);

 private:
  using Lot = std::vector<SortEntry>;
  static constexpr size_t kLots = 4;
  static constexpr size_t kFew = 4096;  // sorted before a thread has begun

  Status AddLot();
  Status Sort();

  SortedEntries entries_;         // the thread's, where there is one
  alignas(kApartBytes) Lot lot_;  // added, and not handed on yet
  BoundedQueue<Lot> added_;
  BoundedQueue<Lot> sorted_;
  Status outcome_ = Done{};  // of the thread, once sorted_ is closed
  std::jthread thread_;
};

}  // namespace tracedb
