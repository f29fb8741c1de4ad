// Host slices in order, brought together on a thread of its own while whoever wants them works on
// those before: it takes half of the time. Of few slices it is done when they are wanted.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/result.h"
#include "tracedb/derive/gathered/host_slices.h"

namespace tracedb {

class SlicesAhead {
 public:
  using Take = std::function<Status(std::span<const HostSlice>)>;

  explicit SlicesAhead(const HostSlices& slices);
  ~SlicesAhead();
  SlicesAhead(const SlicesAhead&) = delete;
  SlicesAhead& operator=(const SlicesAhead&) = delete;

  // Gives all of them, in lots. Once.
  Status ForEach(const Take& take);

 private:
  using Lot = std::vector<HostSlice>;
  static constexpr size_t kLots = 4;
  static constexpr size_t kLotSlices = 2048;
  static constexpr size_t kFew = 8192;  // read before a thread has begun

  void ReadLot(Lot& lot);
  Status ReadAll();

  HostSlices::Reader reader_;
  BoundedQueue<Lot> empty_;
  BoundedQueue<Lot> full_;
  Status read_ = Done{};  // of the thread, once full_ is closed
  std::jthread thread_;
};

}  // namespace tracedb
