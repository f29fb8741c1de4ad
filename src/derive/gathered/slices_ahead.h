// Host slices in order, brought together on a thread of its own while whoever wants them works on
// those before: it takes half of the time. Of few slices it is done when they are wanted.
#pragma once

#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tracedb/base/apart_bytes.h"
#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/result.h"
#include "tracedb/derive/gathered/host_slices.h"

namespace tracedb {

class alignas(kApartBytes) SlicesAhead {
 public:
  using Lot = std::vector<HostSlice>;
  static constexpr size_t kLotsInStages = 12;
  static constexpr size_t kLotSlices = 2048;  // at most

  // `in_stages`: whoever takes lots hands them on to another thread, so that more are on their way,
  // and reading them is the work of several threads.
  SlicesAhead(const HostSlices& slices, bool in_stages);
  ~SlicesAhead();
  SlicesAhead(const SlicesAhead&) = delete;
  SlicesAhead& operator=(const SlicesAhead&) = delete;

  // The next ones; nothing after the last, and when reading failed, as status() tells then.
  std::optional<Lot> Next();
  const Status& status() const { return read_; }
  // Takes a lot back, whose memory is for others: there are a few, and reading waits for one. Any
  // thread may.
  void Return(Lot lot);

 private:
  static constexpr size_t kLots = 4;
  static constexpr size_t kFew = 8192;  // read before a thread has begun

  static void ReadLot(HostSlices::Reader& reader, Lot& lot);
  Status ReadAll();

  const HostSlices& slices_;
  std::optional<HostSlices::Reader> reader_;  // where there is no thread
  const bool in_stages_;
  const bool has_thread_;
  BoundedQueue<Lot> empty_;
  BoundedQueue<Lot> full_;
  Status read_ = Done{};  // by the thread before full_ is closed
  std::jthread thread_;
};

}  // namespace tracedb
