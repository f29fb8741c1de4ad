// Host slices in the order of their start -> what each took itself, summed by the row that it is
// counted in.
//
// The time of a thread is that of the innermost slice of a kind; what lasts longer than the one
// around it keeps its time after that one's end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "derive/track_threads.h"
#include "tracedb/base/apart_bytes.h"
#include "tracedb/derive/gathered/host_slices.h"

namespace tracedb {

// Of CallTimes and CallNesting, each by itself.
struct CallLimits {
  size_t depth_max = 1024;    // of a thread; what is deeper belongs to the deepest that is kept
  size_t threads_max = 4096;  // what is on others has no own time, and is on no path
  size_t held_max = 65536;    // slices that are open, of all threads
};

class alignas(kApartBytes) CallTimes {
 public:
  CallTimes() : threads_(limits_.threads_max) {}

  // Starts must not fall. `use`: the number of its row in HostUse.
  void Add(const HostSlice& slice, uint32_t use) {
    if (use >= self_ns_.size()) self_ns_.resize(use + 1);
    if (slice.dur <= 0) return;
    if (Thread* thread = threads_.Of(slice.track); thread != nullptr) Own(*thread, slice, use);
  }
  // No slice comes any more.
  void Finish();

  // By the number of the row.
  const std::vector<int64_t>& self_ns() const { return self_ns_; }

 private:
  struct Owner {  // of the thread's time, among its kind
    int64_t end;
    uint32_t use;
  };
  struct Thread {
    std::array<std::vector<Owner>, kHostKinds> owners;
    std::array<int64_t, kHostKinds> counted_to = AllLeast();
  };

  static std::array<int64_t, kHostKinds> AllLeast() {
    std::array<int64_t, kHostKinds> least;
    least.fill(std::numeric_limits<int64_t>::min());
    return least;
  }
  void Own(Thread& thread, const HostSlice& slice, uint32_t use);
  void CountSelf(Thread& thread, size_t kind, int64_t now);

  const CallLimits limits_;
  std::vector<int64_t> self_ns_;
  TrackThreads<Thread> threads_;
  size_t held_ = 0;
};

}  // namespace tracedb
