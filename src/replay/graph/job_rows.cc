#include "replay/graph/job_rows.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "replay/graph/capture_traces.h"
#include "replay/graph/matched_parts.h"
#include "replay/graph/numbered_values.h"
#include "replay/graph/open_waits.h"
#include "replay/graph/recorder_holds.h"
#include "tracedb/schema/full_queues.h"
#include "tracedb/schema/rank_clock.h"
#include "tracedb/schema/waiting_calls.h"

namespace tracedb {
namespace {

enum class CallName : uint8_t { kOther, kWait, kWaitForAll, kStreamWait };

CallName NameOfCall(std::string_view name) {
  const auto has = [name](std::string_view part) { return name.find(part) != name.npos; };
  if (WaitsForGpu(name)) {
    return has("DeviceSynchronize") || has("CtxSynchronize") ? CallName::kWaitForAll
                                                             : CallName::kWait;
  }
  return has("StreamWaitEvent") ? CallName::kStreamWait : CallName::kOther;
}

class JobReader {
 public:
  JobReader(SqliteDb& db, size_t rows_max) : db_(db), rows_max_(rows_max) {}

  Result<JobRows> Read(int64_t capture_id) {
    TRACEDB_ASSIGN(clocks, RankClocks::Read(db_));
    TRACEDB_ASSIGN(impossible, ImpossibleTimes(db_));
    impossible_ = std::move(impossible);
    TRACEDB_ASSIGN(traces, TracesOfCapture(db_, capture_id));
    for (const CaptureTrace& trace : traces) {
      rows_.traces.push_back({trace.trace_id, trace.rank});
      TRACEDB_TRY(ReadTrace(clocks.Of(trace.trace_id), trace));
    }
    rows_.activities.shrink_to_fit();
    rows_.calls.shrink_to_fit();
    TRACEDB_TRY(ReadMatchedParts(db_, capture_id, rows_));
    return std::move(rows_);
  }

 private:
  struct Track {
    int64_t base_ns;
    uint32_t number;  // of its stream or thread
  };

  Status ReadTrace(const RankClock& clock, const CaptureTrace& trace) {
    const int64_t first = trace.first_row;
    const int64_t last = trace.last_row;
    clock_ = clock;
    last_track_ = nullptr;
    tracks_.clear();
    processes_.clear();
    streams_.clear();
    const size_t activities_before = rows_.activities.size();
    TRACEDB_TRY(ReadActivities(first, last));
    launches_.clear();
    for (size_t i = activities_before; i < rows_.activities.size(); ++i) {
      if (launch_of_[i - activities_before] != 0) {
        launches_.emplace_back(launch_of_[i - activities_before], static_cast<uint32_t>(i));
      }
    }
    launch_of_ = {};
    std::sort(launches_.begin(), launches_.end());
    const size_t calls_before = rows_.calls.size();
    TRACEDB_TRY(ReadCalls(first, last));
    NoteLaunchesElsewhere(activities_before);
    NoteFullQueues(calls_before);
    TRACEDB_TRY(ReadSteps(first, last));
    return AddHolds(trace, calls_before);
  }

  uint32_t Trace() const { return static_cast<uint32_t>(rows_.traces.size() - 1); }

  // Most rows are of the track of the row before.
  Result<const Track*> TrackOf(int64_t id, bool is_stream) {
    if (last_track_ != nullptr && last_track_->first == id) return &last_track_->second;
    const auto known = tracks_.find(id);
    if (known != tracks_.end()) {
      last_track_ = &*known;
      return &known->second;
    }
    if (!track_.has_value()) {
      TRACEDB_ASSIGN(track, db_.Prepare("SELECT base_ns, pid, device, stream FROM _track "
                                        "WHERE id = ?1"));
      track_.emplace(std::move(track));
    }
    TRACEDB_TRY(track_->Bind(1, id));
    TRACEDB_ASSIGN(any, track_->Step());
    Track track{any ? track_->Int(0) : 0, 0};
    if (is_stream) {
      // Tracks of other processes or threads may be the same stream.
      std::pair<std::string, std::string> stream(any ? track_->Text(2) : "",
                                                 any ? track_->Text(3) : "");
      const auto next = static_cast<uint32_t>(rows_.stream_traces.size());
      const auto [place, is_new] = streams_.emplace(std::move(stream), next);
      if (is_new) rows_.stream_traces.push_back(Trace());
      track.number = place->second;
    } else {
      const auto [place, is_new] =
          processes_.emplace(any ? track_->Text(1) : "", rows_.process_count);
      if (is_new) ++rows_.process_count;
      track.number = static_cast<uint32_t>(rows_.threads.size());
      rows_.threads.push_back({id, place->second, Trace()});
    }
    track_->Reset();
    return &tracks_.emplace(id, track).first->second;
  }

  Result<CallName> CallNameOf(int64_t id) {
    const auto known = call_names_.find(id);
    if (known != call_names_.end()) return known->second;
    if (!name_.has_value()) {
      TRACEDB_ASSIGN(name, db_.Prepare("SELECT name FROM _event_name WHERE id = ?1"));
      name_.emplace(std::move(name));
    }
    TRACEDB_TRY(name_->Bind(1, id));
    TRACEDB_ASSIGN(any, name_->Step());
    const CallName found = any ? NameOfCall(name_->Text(0)) : CallName::kOther;
    name_->Reset();
    call_names_.emplace(id, found);
    return found;
  }

  Status CheckSize(size_t more = 0) const { return CheckJobSize(rows_, more, rows_max_); }

  Status ReadActivities(int64_t first, int64_t last) {
    TRACEDB_ASSIGN(rows, db_.Prepare("SELECT g.id, g.track, g.ts, g.dur, g.kind, g.event_name, "
                                     "k.launch_slice_id, k.launch_ts_ns, k.step FROM _gpu_slice g "
                                     "LEFT JOIN _launch k ON k.id = g.id "
                                     "WHERE g.id BETWEEN ?1 AND ?2 AND g.dur >= 0 ORDER BY g.id"));
    TRACEDB_TRY(rows.Bind(1, first));
    TRACEDB_TRY(rows.Bind(2, last));
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any) return Done{};
      const int64_t id = rows.Int(0);
      if (impossible_.contains(id)) continue;
      TRACEDB_ASSIGN(track, TrackOf(rows.Int(1), true));
      Activity activity{};
      const int64_t start_ns = SumNs(rows.Int(2), track->base_ns);
      activity.start_ns = BoundedNs(clock_.Aligned(start_ns));
      activity.finish_ns =
          std::max(activity.start_ns, BoundedNs(clock_.Aligned(SumNs(start_ns, rows.Int(3)))));
      activity.slice_id = id;
      activity.step_place = rows.Type(8) == SqlType::kInteger
                                ? step_places_.Of(rows.Int(8), rows_.step_numbers)
                                : kNone;
      activity.name_place = name_places_.Of(rows.Int(5), rows_.name_ids);
      activity.stream = track->number & kStreamBits;
      activity.call = kNone;
      activity.kind = static_cast<GpuKind>(rows.Int(4) & 3);
      rows_.activities.push_back(activity);
      launch_of_.push_back(rows.Int(6));
      launch_ns_.push_back(rows.Type(7) == SqlType::kInteger ? clock_.Aligned(rows.Int(7))
                                                             : kNoLaunch);
      TRACEDB_TRY(CheckSize());
    }
  }

  void NoteLaunchesElsewhere(size_t activities_before) {
    for (size_t i = 0; i < launch_ns_.size(); ++i) {
      const auto activity = static_cast<uint32_t>(activities_before + i);
      if (launch_ns_[i] == kNoLaunch || rows_.activities[activity].call != kNone) continue;
      rows_.launched_elsewhere.emplace_back(activity, launch_ns_[i]);
    }
    launch_ns_ = {};
  }

  void NoteFullQueues(size_t calls_before) {
    std::vector<uint32_t> launching;
    for (size_t i = calls_before; i < rows_.calls.size(); ++i) {
      if (rows_.calls[i].last_activity != kNone) launching.push_back(static_cast<uint32_t>(i));
    }
    std::ranges::stable_sort(launching, {}, [this](uint32_t i) { return rows_.calls[i].start_ns; });
    FullQueues queues;
    for (const uint32_t number : launching) {
      const Call& call = rows_.calls[number];
      const Activity& last = rows_.activities[call.last_activity];
      const std::optional<int64_t> made_by =
          queues.Add({call.slice_id, call.start_ns, call.end_ns, last.finish_ns, last.stream,
                      call.kind != CallKind::kLaunch});
      if (!made_by.has_value()) continue;
      const auto calls = std::span(rows_.calls).subspan(calls_before);
      const auto maker = std::ranges::lower_bound(calls, *made_by, {}, &Call::slice_id);
      rows_.full_queues.emplace_back(number, maker->last_activity);
    }
    std::ranges::sort(rows_.full_queues);
  }

  // In the order of their ids, as launches_ are.
  Status ReadCalls(int64_t first, int64_t last) {
    TRACEDB_ASSIGN(rows, db_.Prepare("SELECT id, event_name, track, ts, dur FROM _runtime_slice "
                                     "WHERE id BETWEEN ?1 AND ?2 AND dur >= 0 ORDER BY id"));
    TRACEDB_TRY(rows.Bind(1, first));
    TRACEDB_TRY(rows.Bind(2, last));
    size_t next = 0;
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any) return Done{};
      const int64_t id = rows.Int(0);
      if (impossible_.contains(id)) continue;
      while (next < launches_.size() && launches_[next].first < id) ++next;
      const bool launches = next < launches_.size() && launches_[next].first == id;
      TRACEDB_ASSIGN(name, CallNameOf(rows.Int(1)));
      if (name == CallName::kOther && !launches) continue;
      const CallKind kind = name == CallName::kWait                      ? CallKind::kWait
                            : name == CallName::kWaitForAll              ? CallKind::kWaitForAll
                            : name == CallName::kStreamWait && !launches ? CallKind::kStreamWait
                                                                         : CallKind::kLaunch;
      TRACEDB_TRY(AddCall(rows.Int(2), id, rows.Int(3), rows.Int(4), kind));
      const auto number = static_cast<uint32_t>(rows_.calls.size() - 1);
      for (; next < launches_.size() && launches_[next].first == id; ++next) {
        rows_.activities[launches_[next].second].call = number;
        rows_.calls.back().last_activity = launches_[next].second;
      }
      TRACEDB_TRY(CheckSize());
    }
  }

  Status ReadSteps(int64_t first, int64_t last) {
    TRACEDB_ASSIGN(rows, db_.Prepare("SELECT id, track, ts, dur, step FROM _step "
                                     "WHERE id BETWEEN ?1 AND ?2 AND dur >= 0 AND step IS NOT NULL "
                                     "ORDER BY id"));
    TRACEDB_TRY(rows.Bind(1, first));
    TRACEDB_TRY(rows.Bind(2, last));
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any) return Done{};
      if (impossible_.contains(rows.Int(0))) continue;
      TRACEDB_TRY(AddCall(rows.Int(1), rows.Int(0), rows.Int(2), rows.Int(3), CallKind::kStep));
      rows_.steps.push_back({static_cast<uint32_t>(rows_.calls.size() - 1), rows.Int(4)});
    }
  }

  // Of the threads that have nodes, and not within calls that wait.
  Status AddHolds(const CaptureTrace& trace, size_t calls_before) {
    std::map<uint32_t, int64_t> last_end_ns;  // of a hold, by thread
    for (size_t i = calls_before; i < rows_.calls.size(); ++i) {
      if (rows_.calls[i].kind == CallKind::kStreamWait) continue;
      last_end_ns.emplace(uint32_t{rows_.calls[i].thread}, -kJobTimeMax);
    }
    std::vector<HostThread> threads;
    for (const auto& [thread, none] : last_end_ns) {
      const JobThread& here = rows_.threads[thread];
      threads.push_back({here.track_id, tracks_.at(here.track_id).base_ns, here.process});
    }
    TRACEDB_ASSIGN(holds, RecorderHolds(db_, trace, threads, impossible_, rows_max_));
    if (holds.empty()) return Done{};
    TRACEDB_TRY(CheckSize(holds.size()));
    const OpenWaits waits(std::span(rows_.calls).subspan(calls_before));
    for (const RecorderHold& hold : holds) {
      Call call{};
      call.thread = tracks_.at(threads[hold.thread].track_id).number & kThreadBits;
      int64_t& last_ns = last_end_ns[call.thread];
      call.start_ns = std::max(last_ns, BoundedNs(clock_.Aligned(hold.range.start_ns)));
      call.end_ns = BoundedNs(clock_.Aligned(hold.range.end_ns));
      call.slice_id = hold.slice_id;
      call.kind = CallKind::kHold;
      if (call.end_ns <= call.start_ns || waits.AnyAround(call)) continue;
      last_ns = call.end_ns;
      rows_.calls.push_back(call);
    }
    return Done{};
  }

  Status AddCall(int64_t track_id, int64_t id, int64_t ts, int64_t dur, CallKind kind) {
    TRACEDB_ASSIGN(track, TrackOf(track_id, false));
    const int64_t start_ns = SumNs(ts, track->base_ns);
    Call call{};
    call.start_ns = BoundedNs(clock_.Aligned(start_ns));
    call.end_ns = std::max(call.start_ns, BoundedNs(clock_.Aligned(SumNs(start_ns, dur))));
    call.slice_id = id;
    call.thread = track->number & kThreadBits;
    call.last_activity = kNone;
    // By the aligned clock it may have no length, and then waits for nothing.
    const bool waits = kind == CallKind::kWait || kind == CallKind::kWaitForAll;
    call.kind = waits && call.end_ns == call.start_ns ? CallKind::kLaunch : kind;
    rows_.calls.push_back(call);
    return Done{};
  }

  SqliteDb& db_;
  const size_t rows_max_;
  JobRows rows_;
  RankClock clock_;
  std::unordered_set<int64_t> impossible_;
  std::unordered_map<int64_t, Track> tracks_;
  const std::pair<const int64_t, Track>* last_track_ = nullptr;  // in tracks_
  std::map<std::pair<std::string, std::string>, uint32_t> streams_;
  std::map<std::string, uint32_t> processes_;
  std::unordered_map<int64_t, CallName> call_names_;
  NumberedValues step_places_, name_places_;
  std::vector<int64_t> launch_of_;                      // of the trace's activities; 0: none
  std::vector<int64_t> launch_ns_;                      // of them; kNoLaunch
  std::vector<std::pair<int64_t, uint32_t>> launches_;  // call's slice_id, activity
  std::optional<SqliteStatement> track_, name_;
};

}  // namespace

int64_t JobRows::StepOfCall(uint32_t call) const {
  const auto at = std::ranges::lower_bound(steps, call, {}, &JobStep::call);
  return at != steps.end() && at->call == call ? at->step : kNoStep;
}

uint32_t JobRows::RoomMadeFor(uint32_t call) const {
  const auto at =
      std::ranges::lower_bound(full_queues, call, {}, &std::pair<uint32_t, uint32_t>::first);
  return at != full_queues.end() && at->first == call ? at->second : kNone;
}

int64_t JobRows::LaunchNs(uint32_t activity) const {
  const uint32_t call = activities[activity].call;
  if (call != kNone) return calls[call].start_ns;
  const auto at = std::ranges::lower_bound(launched_elsewhere, activity, {},
                                           &std::pair<uint32_t, int64_t>::first);
  return at != launched_elsewhere.end() && at->first == activity ? at->second : kNoLaunch;
}

GroupPart JobRows::PartOf(const Activity& activity) const {
  if (activity.kind != GpuKind::kCommunication) return {};
  const auto number = static_cast<uint32_t>(&activity - activities.data());
  const auto at = std::ranges::lower_bound(group_parts, number, {}, &GroupPart::activity);
  return at != group_parts.end() && at->activity == number ? *at : GroupPart{};
}

Status CheckJobSize(const JobRows& rows, size_t more, size_t rows_max) {
  if (rows.activities.size() + rows.calls.size() + more <= rows_max) return Done{};
  return Error{ErrorKind::kQuery,
               "this capture is too large to be replayed: more than " + std::to_string(rows_max) +
                   " launches, waits and GPU activities",
               "cut fewer steps out of it with tracedb cut, and ingest those"};
}

Result<JobRows> ReadJobRows(SqliteDb& db, int64_t capture_id, size_t rows_max) {
  return JobReader(db, rows_max).Read(capture_id);
}

}  // namespace tracedb
