// Host slices in the order of their start -> which calls are within which, on each thread: on which
// path each made its launches.
//
// A slice is within another of its thread that is open when it starts. What lasts longer than the
// one around it, which real traces have, is within it all the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "derive/call_paths.h"
#include "derive/call_times.h"
#include "derive/call_uses.h"
#include "derive/graphs/graph_captures.h"
#include "derive/launch_table.h"
#include "derive/sync_calls.h"
#include "derive/track_threads.h"
#include "tracedb/base/apart_bytes.h"
#include "tracedb/derive/gathered/host_slices.h"
#include "tracedb/memory/number_hash.h"
#include "tracedb/memory/zeroed_array.h"

namespace tracedb {

// A launch's way, and for a backward pass that of the forward operator that it belongs to.
struct LaunchPath {
  PathId path = 0;
  PathId forward = 0;
};

// The paths of operators by a number that each thread counts, of the last ones only.
class RecentPaths {
 public:
  // Holds `entries_max`, a power of two, at most.
  explicit RecentPaths(size_t entries_max)
      : entries_max_(std::max(entries_max, kPlaces)),
        entries_(std::min(entries_max_, kStartEntries)) {}
  // What one takes.
  static constexpr size_t kBytesEach = 32;

  void Put(int64_t thread, int64_t number, LaunchPath path) {
    Entry* place = PlaceFor(thread, number);
    // A smaller table keeps what the largest would.
    while (place->put != 0 && !Is(*place, thread, number) && entries_.size() < entries_max_) {
      MakeRoom();
      place = PlaceFor(thread, number);
    }
    *place = {number, thread, path, ++puts_};
  }
  // Null when it is not there any more.
  const LaunchPath* Find(int64_t thread, int64_t number) const {
    const Entry* const set = &entries_[SetOf(thread, number)];
    for (const Entry* entry = set; entry != set + kPlaces; ++entry) {
      if (Is(*entry, thread, number)) return &entry->path;
    }
    return nullptr;
  }

 private:
  struct Entry {
    int64_t number = 0;
    int64_t thread = 0;
    LaunchPath path;
    uint64_t put = 0;  // the how many-th; 0: empty
  };
  static_assert(sizeof(Entry) == kBytesEach);

  static bool Is(const Entry& entry, int64_t thread, int64_t number) {
    return entry.put != 0 && entry.number == number && entry.thread == thread;
  }
  // Each number has a few places side by side, of which the oldest goes. Numbers are counted up, so
  // that those of one thread lie side by side and the last ones are all there; the places are for
  // threads that count at the same time.
  static constexpr size_t kPlaces = 4;
  // Of so many a small trace touches few pages.
  static constexpr size_t kStartEntries = 1024;
  size_t SetOf(int64_t thread, int64_t number) const {
    const uint64_t apart = static_cast<uint64_t>(thread) * 0x9e3779b97f4a7c15 >> 32;
    const auto bits = static_cast<uint64_t>(number);
    return (bits + (bits >> 24) + apart) * kPlaces & (entries_.size() - 1);
  }
  // Its own, or one that is empty, or the oldest.
  Entry* PlaceFor(int64_t thread, int64_t number) {
    Entry* const set = &entries_.ToWrite(SetOf(thread, number));
    Entry* place = set;
    for (Entry* entry = set; entry != set + kPlaces; ++entry) {
      if (Is(*entry, thread, number)) return entry;
      if (entry->put < place->put) place = entry;
    }
    return place;
  }
  void MakeRoom() {
    ZeroedArray<Entry> smaller =
        std::exchange(entries_, ZeroedArray<Entry>(std::min(entries_.size() * 4, entries_max_)));
    for (size_t at = 0; at < smaller.size(); ++at) {
      const Entry& entry = smaller[at];
      if (entry.put != 0) *PlaceFor(entry.thread, entry.number) = entry;
    }
  }

  size_t entries_max_;
  ZeroedArray<Entry> entries_;
  uint64_t puts_ = 0;
};

class alignas(kApartBytes) CallNesting {
 public:
  using TakeCall = std::function<Status(const LaunchCall&)>;

  // `recent`: so many operators are remembered by number; a power of two. What is passed by
  // reference must outlive it.
  CallNesting(size_t recent, CallPaths& paths, SyncCalls& syncs, GraphCaptures& graphs);

  // Starts must not fall. `counted`: what CallUses says of the slice. Gives `take` a call that has
  // a correlation.
  Status Add(const HostSlice& slice, const CallUse& counted, const TakeCall& take);

  // How long the slices of a use were, by its number; those within another of their name aside.
  const std::vector<int64_t>& totals_ns() const { return totals_ns_; }

  // For a GPU activity without a call: the path of the operator with its External id.
  LaunchPath PathOf(int64_t external_id) const;

 private:
  struct Open {
    int64_t end;
    LaunchPath path;
    PathId last_child = 0;  // the path of the last one within it; 0: none yet
  };
  struct Thread {
    uint32_t number = 0;  // from 1
    std::vector<Open> open;
    PathId last_root = 0;  // the path of the last one that is within nothing
    // The first end of those that end before one above them.
    int64_t crossed_at = std::numeric_limits<int64_t>::max();
  };

  void Close(Thread& thread, int64_t now);
  void CloseCrossed(Thread& thread, int64_t now);
  bool HasRoom(size_t depth) const { return depth < limits_.depth_max && held_ < limits_.held_max; }
  LaunchPath Enter(Thread& thread, const HostSlice& slice);
  void AddTotal(uint32_t use, int64_t ns);
  void Remember(const HostSlice& slice, LaunchPath& path);
  PathId ForwardOf(const HostSlice& slice);

  const CallLimits limits_;
  CallPaths& paths_;
  SyncCalls& syncs_;
  GraphCaptures& graphs_;
  std::vector<int64_t> totals_ns_;
  RecentPaths by_external_id_;
  RecentPaths by_sequence_;
  std::vector<int64_t> forward_tracks_;                    // that have sequence numbers
  std::unordered_map<int64_t, int64_t> track_of_forward_;  // "Fwd thread id" -> track
  TrackThreads<Thread> threads_;
  size_t held_ = 0;
};

}  // namespace tracedb
