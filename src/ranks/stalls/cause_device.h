// What a rank's device did in a stretch of time: work, wait for other ranks in collectives, or
// nothing. Times are by the rank's own clock. Reads the database only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ranks/stalls/slice_windows.h"
#include "ranks/stalls/stall.h"
#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

struct DeviceStory {
  struct Item {
    int64_t kernel_id = 0;  // 0: there is none
    int64_t event_name = 0;
    int64_t length_ns = 0;  // in the stretch
  };
  int64_t busy_ns = 0;       // some kernel, copy or fill works
  int64_t wait_ns = 0;       // none does, but a collective waits for another rank, or may
  int64_t idle_ns = 0;       // nothing runs
  Item work;                 // the longest kernel, copy or fill
  Item wait;                 // the longest wait
  int64_t wait_for_id = 0;   // of which this part was the last to start; 0: nobody tells
  Interval gap;              // the longest stretch without anything,
  int64_t after_gap_id = 0;  // and what came then; 0: what the stretch ends with
};

class DeviceWatch {
 public:
  static Result<DeviceWatch> Open(SqliteDb& db, const RankClocks& clocks);

  // On the device of `kernel_id`, which is left out itself.
  Result<DeviceStory> Look(int64_t kernel_id, Interval range);

  // Of those that ran in the stretch that was looked at last; all of what each took.
  KernelSum SumOf(int64_t event_name) const;

 private:
  struct Track {
    int64_t id;
    int64_t base_ns;
  };
  struct Piece {
    int64_t kernel_id;
    int64_t event_name;
    Interval range;
    int64_t wait_for_id;  // 0: it works
  };
  // It may wait for a rank that was not recorded: nobody tells.
  static constexpr int64_t kUnrecorded = -1;
  // Of a collective: the part that was the last to start, and when that was by another's clock.
  struct LastPart {
    int64_t id = 0;  // 0: there is none
    int64_t start_ns = 0;
    bool lacks_ranks = false;  // some that take part were not recorded
  };

  explicit DeviceWatch(const RankClocks& clocks) : clocks_(&clocks) {}
  Result<const std::vector<Track>*> TracksOf(int64_t kernel_id);
  Status Gather(const Track& track, int64_t kernel_id, Interval& range);
  Status AddKernel(const SliceRow& row, const Track& track);
  Result<bool> AddWait(int64_t kernel_id, int64_t event_name, Interval kernel);
  Result<LastPart> LastPartOf(int64_t kernel_id);
  DeviceStory Tell(Interval range);

  const RankClocks* clocks_;
  std::optional<SqliteStatement> track_of_, tracks_, parts_;
  std::optional<SliceWindows> slices_;
  std::map<int64_t, std::vector<Track>> known_;  // by a track of the device
  std::map<int64_t, LastPart> last_parts_;       // by the kernel of one part
  std::vector<Piece> pieces_;
  Interval looked_at_;
};

}  // namespace tracedb
