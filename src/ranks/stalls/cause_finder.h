// What held the rank that came last to a collective: its host, its device, or another rank that it
// waited for itself. Reads the database only: finders of several connections may at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "ranks/stalls/cause_device.h"
#include "ranks/stalls/cause_host.h"
#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

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
};

// A stall, and what held it once that is found.
struct StallCause {
  Stall stall;
  Cause cause;
};

class CauseFinder {
 public:
  static Result<CauseFinder> Open(SqliteDb& db, const RankClocks& clocks);

  // Fills in the launch of `stall`. What put the rank behind earlier is not looked for
  // (cause_carried.h).
  Result<Cause> Find(Stall& stall);

 private:
  CauseFinder(DeviceWatch device, HostWatch host, SqliteStatement launch,
              SqliteStatement kernel_name)
      : device_(std::move(device)),
        host_(std::move(host)),
        launch_(std::move(launch)),
        kernel_name_(std::move(kernel_name)) {}

  Result<Cause> HeldByHost(const Stall& stall, int64_t launch_id, Interval range);
  Result<Cause> HeldByDevice(const Stall& stall, Interval range, bool may_ask_host);
  Result<int64_t> KernelName(int64_t kernel_id);

  DeviceWatch device_;
  HostWatch host_;
  SqliteStatement launch_, kernel_name_;
};

}  // namespace tracedb
