// Host slices in any order -> their step, and the row of sums by step and name that each is counted
// in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "derive/host_use.h"
#include "derive/step_finder.h"
#include "tracedb/base/apart_bytes.h"
#include "tracedb/derive/gathered/host_slices.h"

namespace tracedb {

// What a slice is counted for.
struct CallUse {
  int64_t step_number = 0;  // where it has a step
  uint32_t use = 0;         // in HostUse
  bool has_step = false;

  StepNumber step() const { return has_step ? StepNumber(step_number) : std::nullopt; }
};

class alignas(kApartBytes) CallUses {
 public:
  // `base_ns` is added to times to find their step. What is passed by reference must outlive it.
  CallUses(StepFinder& steps, int64_t base_ns, HostUse& uses)
      : steps_(steps), base_ns_(base_ns), uses_(uses) {}

  // Counts a slice. Fills `counted`, which is written part by part where it stays: a copy of all of
  // it would have to wait for each part.
  void Add(const HostSlice& slice, CallUse& counted);

 private:
  uint32_t UseOf(const StepNumber& step, const HostSlice& slice);

  StepFinder& steps_;
  int64_t base_ns_;
  HostUse& uses_;
  // The rows of sums that were found last, all of one step: most slices are of a few names.
  struct NearUse {
    int64_t event_name = -1;
    int64_t args_text = 0;
    HostKind kind = HostKind::kOperator;
    uint32_t use = 0;
  };
  static constexpr size_t kNearUses = 2048;  // a power of two; a step has some hundred names
  StepNumber near_step_;
  std::vector<NearUse> near_uses_ = std::vector<NearUse>(kNearUses);
};

}  // namespace tracedb
