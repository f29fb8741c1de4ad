// A collective that kept ranks waiting, and what held the rank that came last to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tracedb/base/interval.h"

namespace tracedb {

struct Stall {
  int64_t id = 0;
  int64_t trace_id = 0;
  std::optional<int64_t> step;
  int64_t first_ns = 0;  // by the aligned clocks
  int64_t start_ns = 0;
  int64_t together_ns = 0;
  Interval range;  // the same stretch by the rank's own clock
  int64_t launch_id = 0;
  std::optional<int64_t> launch_ns;
};

// All kernels of one name.
struct KernelSum {
  int64_t ns = 0;
  int64_t count = 0;
};

// What a thread of the host spent a stretch with, of one name.
struct HostPart {
  int64_t event_name;
  int64_t own_ns;  // in the stretch, and in nothing deeper
  int64_t slices;
  int64_t slice_id;  // the longest of them
};
inline constexpr size_t kHostPartsMax = 8;

// Before the stretch the device ran out of work: what held its host then.
struct HostBefore {
  int64_t slice_id = 0;  // the longest; 0: no name is told, but the text
  int64_t event_name = 0;
  int64_t whole_ns = 0;  // how long it was
  std::string_view text;
  std::vector<HostPart> parts;  // all that the thread did, the longest first
  bool is_known() const { return !text.empty(); }
};

// What held the rank that came last. kNone: the trace does not tell.
enum class CauseKind { kNone, kHost, kDeviceWork, kDeviceIdle, kUpstream };

struct Cause {
  CauseKind kind = CauseKind::kNone;
  int64_t slice_id = 0;  // of kUpstream the part that it waited in
  // Its name: of an event (_event_name.id; 0: none), or a text; of kUpstream that of the
  // collective. Not the names themselves: they may be long, and thousands of causes are on their
  // way at once.
  int64_t event_name = 0;
  std::string_view text;
  int64_t upstream_id = 0;
  int64_t carried_id = 0;
  int64_t clear_ns = 0;  // how much of the stretch one thing explains
  // Of kDeviceWork: in this step, and since the step before began.
  HostBefore in_step, since_step_before;
  // All kernels of the name, in the stretch and since the ranks were last together, in the step;
  // and since then, how long nothing ran.
  KernelSum near;
  KernelSum named;
  int64_t idle_ns = 0;
};

// A stall, and what held it once that is found.
struct StallCause {
  Stall stall;
  Cause cause;
};

}  // namespace tracedb
