// The calls that wait for the GPU, by thread.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "replay/graph/job_rows.h"

namespace tracedb {

class OpenWaits {
 public:
  explicit OpenWaits(std::span<const Call> calls);

  // Whether one of them is open all the time of a hold.
  bool AnyAround(const Call& hold) const;

 private:
  using Wait = std::tuple<uint32_t, int64_t, int64_t>;  // thread, start, latest end up to this one
  std::vector<Wait> waits_;
};

}  // namespace tracedb
