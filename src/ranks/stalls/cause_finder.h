// What held the rank that came last to a collective: its host, its device, or another rank that it
// waited for itself. Reads the database only: finders of several connections may at once.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "ranks/stalls/cause_device.h"
#include "ranks/stalls/cause_earliest.h"
#include "ranks/stalls/cause_host.h"
#include "ranks/stalls/stall.h"
#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

class CauseFinder {
 public:
  static Result<CauseFinder> Open(SqliteDb& db, const RankClocks& clocks);

  // Fills in the launch of `stall`. In what other collective the rank was late is not looked for
  // (cause_carried.h).
  Result<Cause> Find(Stall& stall);

 private:
  CauseFinder(DeviceWatch device, HostWatch host, EarliestStart earliest, SqliteStatement launch)
      : device_(std::move(device)),
        host_(std::move(host)),
        earliest_(std::move(earliest)),
        launch_(std::move(launch)) {}

  Result<Cause> HeldByHost(const Stall& stall, int64_t launch_id, Interval range);
  Result<Cause> HeldByDevice(const Stall& stall, Interval range, bool may_ask_host);
  // What the device waited for its host for before the stretch: it may be late since then.
  Status LookBehind(const Stall& stall, Cause& cause);
  Result<HostBefore> HostBeforeGap(const Stall& stall, const DeviceStory& device);

  DeviceWatch device_;
  HostWatch host_;
  EarliestStart earliest_;
  SqliteStatement launch_;
};

}  // namespace tracedb
