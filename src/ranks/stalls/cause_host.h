// What held a thread of the host in a stretch of time, determined by the slices that are long
// enough to have an index (kLongSliceNs). Reads the database only.
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

namespace tracedb {

struct HostStory {
  int64_t slice_id = 0;    // 0: no name has a quarter of the stretch
  int64_t longest_ns = 0;  // for how long the thread was in it, and in nothing deeper
  int64_t named_ns = 0;    // the same of all slices of its name
  bool backward = false;   // the thread ran the autograd engine's functions
  // What it spent the stretch with, the longest first; calls that wait for the device are left out.
  std::vector<HostPart> parts;
  int64_t event_name = 0;
  bool waits_for_device = false;  // it is a call that returns when the device has done its work
  Interval range;                 // when it was in it, at most
  int64_t whole_ns = 0;           // how long the slice was, also outside the stretch
};

class HostWatch {
 public:
  static Result<HostWatch> Open(SqliteDb& db);

  // The thread that made the runtime call; where no slice of it fills half of the stretch, the one
  // that runs the steps, or one that runs operators, if that was longer in one name. A thread of
  // the autograd engine has nothing to do before the step's thread gets there, and the step's
  // thread has nothing to do until the backward pass has ended. Who waits is in a slice that goes
  // on beyond the launch: such a slice of another thread tells nothing.
  Result<HostStory> Look(int64_t launch_slice_id, Interval range);

  // What the host had to do: for how long that thread, or one that runs the steps, was in a slice,
  // but in none that waits for the device. Calls that launch may wait for room in a queue: without
  // them it is at least that. All there was: no matter in what, but for such waits.
  enum class Work { kRecorded, kWithoutLaunches, kAll };
  Result<int64_t> WorkNs(int64_t launch_slice_id, Interval range, Work work);

 private:
  struct Track {
    int64_t id = 0;
    int64_t base_ns = 0;
    int64_t trace_id = 0;
  };
  struct WorkingTrack {
    int64_t id;
    int64_t base_ns;
    bool runs_steps;
  };
  struct EventName {
    bool annotation = false;
    bool waits_for_device = false;
    bool launches = false;
    bool step = false;
    bool backward = false;
  };
  // A slice of one of several threads begins or ends.
  struct Boundary {
    int64_t ns;
    size_t thread;
    bool is_work;
    int open;  // 1, or -1
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
  // Those that run steps come first. One look for each trace: a trace may have 30,000 threads.
  Result<const std::vector<WorkingTrack>*> WorkingTracksOf(int64_t trace_id);
  Result<const EventName*> EventNameOf(int64_t event_name);
  Result<HostStory> LookAt(int64_t track, int64_t base_ns, Interval range, bool other);
  Status Gather(SliceWindows& slices, int64_t track, int64_t base_ns, Interval range);
  struct WorkAndWaits {
    int64_t work_ns = 0, wait_ns = 0;  // of any of the threads
  };
  static WorkAndWaits Between(std::vector<Boundary>& boundaries, size_t threads);
  void Nest(Interval range);
  Result<HostStory> Tell();

  std::optional<SqliteStatement> track_of_, place_of_, working_of_, event_name_;
  std::vector<SliceWindows> long_;
  std::map<int64_t, Track> tracks_;
  std::map<int64_t, std::vector<WorkingTrack>> working_;  // by trace
  std::map<int64_t, EventName> event_names_;
  std::vector<Slice> slices_;
};

}  // namespace tracedb
