#include "ranks/stalls/cause_host.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "tracedb/schema/event_tables.h"
#include "tracedb/schema/waiting_calls.h"

namespace tracedb {
namespace {

// Of slices that begin before the stretch, at most so many are looked at: whatever still holds the
// thread then began not long ago, or has many within it and is no hold.
constexpr int kEarlierMax = 256;
constexpr int64_t kSlicesMax = 8192;
constexpr int64_t kLeastShare = 4;  // a name with less than a quarter of the stretch is not told
constexpr size_t kKnownMax = 4096;  // of what is kept from one look to the next

// Threads of a job that run operators are few: the steps', and one of the autograd engine a device.
// A library's own threads, which wait most of the time, run none. So many are looked at beside the
// one that launched.
constexpr int kOthersMax = 16;

std::string WorkingSql() {
  return "SELECT id, base_ns, id IN (SELECT track FROM _step) AS runs_steps FROM _track "
         "WHERE trace_id = ?1 AND (id IN (SELECT track FROM _step) OR EXISTS "
         "(SELECT 1 FROM _cpu_slice c INDEXED BY _cpu_slice_long "
         "JOIN _event_name e ON e.id = c.event_name WHERE c.track = _track.id AND c.dur >= " +
         std::to_string(kLongSliceNs) +
         " AND e.category = 'cpu_op')) ORDER BY runs_steps DESC, id LIMIT " +
         std::to_string(kOthersMax + 1);
}

bool LaunchesOnGpu(std::string_view name) {
  return (name.starts_with("cu") || name.starts_with("hip")) &&
         (name.find("Launch") != name.npos || name.find("Async") != name.npos);
}

}  // namespace

Result<HostWatch> HostWatch::Open(SqliteDb& db) {
  HostWatch watch;
  const auto prepare = [&db](std::optional<SqliteStatement>& to, const char* sql) -> Status {
    TRACEDB_ASSIGN(statement, db.Prepare(sql));
    to.emplace(std::move(statement));
    return Done{};
  };
  TRACEDB_TRY(prepare(watch.track_of_, "SELECT track FROM _runtime_slice WHERE id = ?1"));
  TRACEDB_TRY(prepare(watch.place_of_, "SELECT base_ns, trace_id FROM _track WHERE id = ?1"));
  TRACEDB_TRY(prepare(watch.working_of_, WorkingSql().c_str()));
  TRACEDB_TRY(prepare(watch.event_name_, "SELECT name, category FROM _event_name WHERE id = ?1"));
  for (const EventTable table : kLongSliceTables) {
    const std::string name(EventTableName(table));
    TRACEDB_ASSIGN(rows, SliceWindows::Open(
                             db, "SELECT id, ts, dur, event_name, 0 FROM " + name + " INDEXED BY " +
                                     name + "_long WHERE dur >= " + std::to_string(kLongSliceNs) +
                                     " AND id NOT IN (SELECT id FROM _impossible_time)"));
    watch.long_.push_back(std::move(rows));
  }
  return watch;
}

Result<const HostWatch::Track*> HostWatch::TrackOf(int64_t launch_slice_id) {
  TRACEDB_TRY(track_of_->Bind(1, launch_slice_id));
  TRACEDB_ASSIGN(any, track_of_->Step());
  const int64_t id = any ? track_of_->Int(0) : 0;
  track_of_->Reset();
  const auto known = tracks_.find(id);
  if (known != tracks_.end()) return &known->second;
  if (tracks_.size() >= kKnownMax) tracks_.clear();
  Track& track = tracks_[id];
  track.id = id;
  TRACEDB_TRY(place_of_->Bind(1, id));
  TRACEDB_ASSIGN(found, place_of_->Step());
  if (found) {
    track.base_ns = place_of_->Int(0);
    track.trace_id = place_of_->Int(1);
  }
  place_of_->Reset();
  return &track;
}

Result<const std::vector<HostWatch::WorkingTrack>*> HostWatch::WorkingTracksOf(int64_t trace_id) {
  const auto known = working_.find(trace_id);
  if (known != working_.end()) return &known->second;
  if (working_.size() >= kKnownMax) working_.clear();
  std::vector<WorkingTrack>& tracks = working_[trace_id];
  TRACEDB_TRY(working_of_->Bind(1, trace_id));
  for (;;) {
    TRACEDB_ASSIGN(row, working_of_->Step());
    if (!row) break;
    tracks.push_back({working_of_->Int(0), working_of_->Int(1), working_of_->Int(2) != 0});
  }
  working_of_->Reset();
  return &tracks;
}

Result<const HostWatch::EventName*> HostWatch::EventNameOf(int64_t id) {
  const auto known = event_names_.find(id);
  if (known != event_names_.end()) return &known->second;
  if (event_names_.size() >= kKnownMax) event_names_.clear();
  EventName& event_name = event_names_[id];
  TRACEDB_TRY(event_name_->Bind(1, id));
  TRACEDB_ASSIGN(any, event_name_->Step());
  if (any) {
    const std::string_view name = event_name_->Text(0);
    event_name.annotation = event_name_->Text(1) == "user_annotation";
    event_name.waits_for_device = WaitsForGpu(name);
    event_name.launches = LaunchesOnGpu(name);
    event_name.step = name.starts_with("ProfilerStep#");
    event_name.backward = name.starts_with("autograd::engine::evaluate_function:");
  }
  event_name_->Reset();
  return &event_name;
}

Result<HostStory> HostWatch::Look(int64_t launch_slice_id, Interval range) {
  TRACEDB_ASSIGN(track, TrackOf(launch_slice_id));
  TRACEDB_ASSIGN(story, LookAt(track->id, track->base_ns, range, false));
  if (2 * story.longest_ns >= range.length()) return story;
  TRACEDB_ASSIGN(working, WorkingTracksOf(track->trace_id));
  int looked_at = 0;
  for (const WorkingTrack& track_of : *working) {
    if (track_of.id == track->id) continue;
    if (++looked_at > kOthersMax) break;
    TRACEDB_ASSIGN(other, LookAt(track_of.id, track_of.base_ns, range, true));
    const bool clear = track_of.runs_steps && 2 * other.longest_ns >= range.length();
    if (clear || other.named_ns > story.named_ns) story = std::move(other);
    if (clear) break;
  }
  if (kLeastShare * story.named_ns < range.length()) {
    story.slice_id = story.event_name = 0;
    story.waits_for_device = false;
  }
  return story;
}

Result<int64_t> HostWatch::WorkNs(int64_t launch_slice_id, Interval range, Work work) {
  if (range.length() <= 0) return int64_t{0};
  TRACEDB_ASSIGN(track, TrackOf(launch_slice_id));
  std::vector<WorkingTrack> threads = {{track->id, track->base_ns, false}};
  TRACEDB_ASSIGN(working, WorkingTracksOf(track->trace_id));
  for (const WorkingTrack& other : *working) {
    if (other.runs_steps && other.id != track->id) threads.push_back(other);
  }
  std::vector<Boundary> boundaries;
  for (size_t thread = 0; thread < threads.size(); ++thread) {
    slices_.clear();
    for (SliceWindows& rows : long_) {
      TRACEDB_TRY(Gather(rows, threads[thread].id, threads[thread].base_ns, range));
    }
    for (const Slice& slice : slices_) {
      TRACEDB_ASSIGN(event_name, EventNameOf(slice.event_name));
      const Interval within = slice.range.Intersection(range);
      const bool is_work = !event_name->waits_for_device &&
                           (work != Work::kWithoutLaunches || !event_name->launches);
      if (within.length() <= 0) continue;
      boundaries.push_back({within.start_ns, thread, is_work, 1});
      boundaries.push_back({within.end_ns, thread, is_work, -1});
    }
  }
  const WorkAndWaits found = Between(boundaries, threads.size());
  return work == Work::kAll ? DifferenceNs(range.length(), found.wait_ns) : found.work_ns;
}

HostWatch::WorkAndWaits HostWatch::Between(std::vector<Boundary>& boundaries, size_t threads) {
  std::sort(boundaries.begin(), boundaries.end(),
            [](const Boundary& a, const Boundary& b) { return a.ns < b.ns; });
  struct Open {
    int work = 0, waits = 0;
    bool at_work() const { return work > 0 && waits == 0; }
  };
  std::vector<Open> open(threads);
  WorkAndWaits found;
  int64_t reached_ns = 0;
  int at_work = 0, waiting = 0;
  for (const Boundary& boundary : boundaries) {
    const int64_t since_ns = DifferenceNs(boundary.ns, reached_ns);
    if (at_work > 0) found.work_ns = SumNs(found.work_ns, since_ns);
    if (waiting > 0) found.wait_ns = SumNs(found.wait_ns, since_ns);
    reached_ns = boundary.ns;
    Open& thread = open[boundary.thread];
    at_work -= thread.at_work() ? 1 : 0;
    (boundary.is_work ? thread.work : thread.waits) += boundary.open;
    at_work += thread.at_work() ? 1 : 0;
    waiting += boundary.is_work ? 0 : boundary.open;
  }
  return found;
}

// What another thread is still in at the end waits for the launching one: it does not hold it.
Result<HostStory> HostWatch::LookAt(int64_t track, int64_t base_ns, Interval range, bool other) {
  slices_.clear();
  for (SliceWindows& rows : long_) TRACEDB_TRY(Gather(rows, track, base_ns, range));
  if (other) std::erase_if(slices_, [&](const Slice& s) { return s.range.end_ns > range.end_ns; });
  Nest(range);
  TRACEDB_ASSIGN(story, Tell());
  story.range = story.range.Intersection(range);
  return story;
}

Status HostWatch::Gather(SliceWindows& slices, int64_t track, int64_t base_ns, Interval range) {
  int earlier = 0;
  int64_t count = 0;
  Status known = Done{};
  const auto take = [&](const SliceRow& row) {
    if (++count > kSlicesMax) return false;
    const int64_t start_ns = SumNs(row.ts, base_ns);
    const Interval slice{start_ns, SumNs(start_ns, row.dur)};
    if (slice.start_ns < range.start_ns) ++earlier;
    if (slice.end_ns > range.start_ns) {
      const Result<const EventName*> event_name = EventNameOf(row.event_name);
      if (!event_name.ok()) known = event_name.error();
      if (!known.ok()) return false;
      if (!event_name.value()->step) slices_.push_back({row.id, slice, row.event_name, 0, -1});
    }
    return earlier < kEarlierMax;
  };
  TRACEDB_TRY(slices.ForEachBefore(track, DifferenceNs(range.end_ns, base_ns), take));
  return known;
}

// Finds each slice's parent, and takes from the parent's own time what the slice has of it.
void HostWatch::Nest(Interval range) {
  std::sort(slices_.begin(), slices_.end(), [](const Slice& a, const Slice& b) {
    if (a.range.start_ns != b.range.start_ns) return a.range.start_ns < b.range.start_ns;
    return a.range.end_ns != b.range.end_ns ? a.range.end_ns > b.range.end_ns : a.id < b.id;
  });
  std::vector<int> open;
  for (size_t i = 0; i < slices_.size(); ++i) {
    Slice& slice = slices_[i];
    while (!open.empty() &&
           slices_[static_cast<size_t>(open.back())].range.end_ns <= slice.range.start_ns) {
      open.pop_back();
    }
    slice.parent = open.empty() ? -1 : open.back();
    const int64_t from_ns = std::max(slice.range.start_ns, range.start_ns);
    slice.own_ns =
        std::max<int64_t>(0, DifferenceNs(std::min(slice.range.end_ns, range.end_ns), from_ns));
    if (slice.parent >= 0) {
      Slice& parent = slices_[static_cast<size_t>(slice.parent)];
      const int64_t to_ns = std::min({slice.range.end_ns, range.end_ns, parent.range.end_ns});
      parent.own_ns =
          DifferenceNs(parent.own_ns, std::max<int64_t>(0, DifferenceNs(to_ns, from_ns)));
    }
    open.push_back(static_cast<int>(i));
  }
}

// The name in which the thread was longest, and the longest slice of it. Around a slice that is
// nearly as long an annotation says more to a person.
Result<HostStory> HostWatch::Tell() {
  HostStory story;
  std::map<int64_t, std::pair<int64_t, size_t>> by_name;  // own time summed, the longest slice
  std::map<int64_t, int64_t> slices_of;                   // by name
  for (size_t i = 0; i < slices_.size(); ++i) {
    TRACEDB_ASSIGN(event_name, EventNameOf(slices_[i].event_name));
    story.backward = story.backward || event_name->backward;
    const auto [at, is_new] = by_name.try_emplace(slices_[i].event_name, 0, i);
    at->second.first += slices_[i].own_ns;
    ++slices_of[slices_[i].event_name];
    if (slices_[i].own_ns > slices_[at->second.second].own_ns) at->second.second = i;
  }
  int64_t most_ns = 0;
  size_t best = 0;
  for (const auto& [event_name, sum] : by_name) {
    if (sum.first <= most_ns) continue;
    most_ns = sum.first;
    best = sum.second;
  }
  if (most_ns == 0) return story;
  for (const auto& [event_name, sum] : by_name) {
    TRACEDB_ASSIGN(known, EventNameOf(event_name));
    if (!known->waits_for_device && sum.first > 0)
      story.parts.push_back({event_name, sum.first, slices_of[event_name], slices_[sum.second].id});
  }
  std::stable_sort(story.parts.begin(), story.parts.end(),
                   [](const HostPart& a, const HostPart& b) { return a.own_ns > b.own_ns; });
  if (story.parts.size() > kHostPartsMax) story.parts.resize(kHostPartsMax);
  const Slice* named = &slices_[best];
  story.longest_ns = named->own_ns;
  story.named_ns = most_ns;
  TRACEDB_ASSIGN(inner, EventNameOf(named->event_name));
  const bool is_annotation = inner->annotation;
  story.waits_for_device = inner->waits_for_device;
  const int64_t wide_ns = named->range.length() + named->range.length() / 4;
  for (int at = named->parent; at >= 0; at = slices_[static_cast<size_t>(at)].parent) {
    const Slice& around = slices_[static_cast<size_t>(at)];
    if (is_annotation || around.range.length() > wide_ns) break;
    TRACEDB_ASSIGN(event_name, EventNameOf(around.event_name));
    if (!event_name->annotation) continue;
    named = &around;
    break;
  }
  story.slice_id = named->id;
  story.event_name = named->event_name;
  story.range = named->range;
  story.whole_ns = named->range.length();
  return story;
}

}  // namespace tracedb
