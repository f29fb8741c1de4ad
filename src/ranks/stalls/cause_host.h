// What held a thread of the host in a stretch of time, determined by the slices that are long
// enough to have an index (kLongSliceNs). Reads the database only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ranks/stalls/slice_windows.h"
#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct HostStory {
  int64_t slice_id = 0;    // 0: nothing is recorded
  int64_t longest_ns = 0;  // for how long the thread was in it, and in nothing deeper
  int64_t event_name = 0;
  bool waits_for_device = false;  // it is a call that returns when the device has done its work
  Interval range;                 // when it was in it, at most
  int64_t whole_ns = 0;           // how long the slice was, also outside the stretch
};

class HostWatch {
 public:
  static Result<HostWatch> Open(SqliteDb& db);

  // The thread that made the runtime call, or the one that runs the steps where that tells more: a
  // thread of the autograd engine has nothing to do before the other gets there. Once it is there
  // it waits in a slice that goes on beyond the launch: such a slice tells nothing.
  Result<HostStory> Look(int64_t launch_slice_id, Interval range);

 private:
  struct Track {
    int64_t id = 0;
    int64_t base_ns = 0;
    std::vector<std::pair<int64_t, int64_t>> stepping;  // other threads: id and base_ns
  };
  struct EventName {
    bool annotation = false;
    bool waits_for_device = false;
    bool step = false;
  };
  struct Slice {
    int64_t id;
    Interval range;
    int64_t event_name;
    int64_t own_ns;  // in the stretch, and in none of the slices within
    int parent;      // -1: none
  };

  HostWatch() = default;
  Result<const Track*> TrackOf(int64_t launch_slice_id);
  Result<const EventName*> EventNameOf(int64_t event_name);
  Result<HostStory> LookAt(int64_t track, int64_t base_ns, Interval range, bool other);
  Status Gather(SliceWindows& slices, int64_t track, int64_t base_ns, Interval range);
  void Nest(Interval range);
  Result<HostStory> Tell();

  std::optional<SqliteStatement> track_of_, base_of_, stepping_, event_name_;
  std::vector<SliceWindows> long_;
  std::map<int64_t, Track> tracks_;
  std::map<int64_t, EventName> event_names_;
  std::vector<Slice> slices_;
};

}  // namespace tracedb
