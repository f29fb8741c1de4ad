// The last node, and the last one of something else: another thread, another stream.
#pragma once

#include <cstdint>

#include "replay/graph/job_rows.h"

namespace tracedb {

struct LastOfTwo {
  uint32_t what = kNone, node = kNone;
  uint32_t other_what = kNone, other_node = kNone;

  void See(uint32_t seen, uint32_t at) {
    if (what != seen) {
      other_what = what;
      other_node = node;
    }
    what = seen;
    node = at;
  }
  uint32_t NotOf(uint32_t seen) const { return what != seen ? node : other_node; }
};

}  // namespace tracedb
