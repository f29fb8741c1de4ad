// The rows of a capture that its graph is made of (MODEL.md): GPU activities, the host's calls that
// launch or wait, steps, parts of matched collectives. Times are aligned.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

inline constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
inline constexpr int64_t kNoStep = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kNoLaunch = std::numeric_limits<int64_t>::max();

// What no clock shows, out of hostile traces and damaged databases, is bounded: differences fit.
inline constexpr int64_t kJobTimeMax = int64_t{1} << 61;
inline int64_t BoundedNs(int64_t ns) { return std::clamp(ns, -kJobTimeMax, kJobTimeMax); }

// Of Activity::stream and Call::thread: there are no more streams and threads than rows.
inline constexpr uint32_t kStreamBits = (uint32_t{1} << 30) - 1;
inline constexpr uint32_t kThreadBits = (uint32_t{1} << 28) - 1;

struct Activity {
  int64_t start_ns;
  int64_t finish_ns;
  int64_t slice_id;
  uint32_t step_place;   // in JobRows::step_numbers; kNone: of none
  uint32_t name_place;   // in JobRows::name_ids
  uint32_t stream : 30;  // in JobRows::stream_traces
  GpuKind kind : 2;
  uint32_t call;  // in JobRows::calls: its launch; kNone
};
static_assert(sizeof(Activity) == 40);  // of 2.5 GB of JSON there may be a million

// An activity that is a part of a collective, also of one that has no partner.
struct GroupPart {
  uint32_t activity = kNone;
  uint32_t collective = kNone;  // in JobRows::collectives
  int64_t group_id = 0;
};

// kHold is no call: the recorder held up the thread.
enum class CallKind : uint8_t { kLaunch, kWait, kWaitForAll, kStreamWait, kStep, kHold };

struct Call {
  int64_t start_ns;
  int64_t end_ns;
  int64_t slice_id;
  uint32_t thread : 28;  // in JobRows::threads
  CallKind kind : 4;
  uint32_t last_activity = kNone;  // that it launched: the one with the highest slice_id
};
static_assert(sizeof(Call) == 32);

struct JobStep {
  uint32_t call;  // in JobRows::calls, of kStep
  int64_t step;
};

struct Collective {
  uint32_t first_part;  // in JobRows::parts, which are activities, by slice_id
  uint32_t part_count;
};

// Of a part, where the rows are those of a gathered database: what its rank computed meanwhile.
struct PartUse {
  int64_t computing_ns = 0;  // from its start to the end of the last such work that began before
                             // its own end, which is at most that
  bool is_exposed = false;   // nothing was computed when it ended
  bool is_resumed = false;   // and soon after something was
  int64_t idle_ns = 0;       // from its end until something was; kJobTimeMax: nothing more was
};

// Of a gathered database: the first launch in a step, and the first start of what was launched.
struct StepWork {
  int64_t step;
  int64_t launch_ns;
  int64_t start_ns;
};

struct JobTrace {
  int64_t trace_id;
  int64_t rank;
};

struct JobThread {
  int64_t track_id;
  uint32_t process;
  uint32_t trace;  // in JobRows::traces
};

struct JobRows {
  std::vector<JobTrace> traces;
  std::vector<JobThread> threads;
  uint32_t process_count = 0;
  std::vector<uint32_t> stream_traces;  // in traces, by stream: streams are numbered over all
  std::vector<int64_t> step_numbers;    // of activities
  std::vector<int64_t> name_ids;
  std::vector<Activity> activities;  // by trace, then slice_id
  std::vector<Call> calls;           // by trace, kind (holds last), then slice_id
  std::vector<JobStep> steps;        // by call
  std::vector<Collective> collectives;
  std::vector<uint32_t> parts;
  std::vector<GroupPart> group_parts;  // by activity
  // A gathered database has collectives, launches of theirs, long waits and steps alone.
  bool is_of_summaries = false;
  std::vector<PartUse> uses;                      // by activity, of such rows
  std::vector<std::vector<StepWork>> step_works;  // by trace, by step, of such rows
  // By call: a launch that found its queue full, and the activity whose finish made room for it.
  std::vector<std::pair<uint32_t, uint32_t>> full_queues;
  // By activity: launched by what is no row.
  std::vector<std::pair<uint32_t, int64_t>> launched_elsewhere;

  int64_t StepOfCall(uint32_t call) const;  // kNoStep: it is none of kStep
  int64_t StepOf(const Activity& activity) const {
    return activity.step_place == kNone ? kNoStep : step_numbers[activity.step_place];
  }
  int64_t NameOf(const Activity& activity) const { return name_ids[activity.name_place]; }
  uint32_t TraceOf(const Activity& activity) const { return stream_traces[activity.stream]; }
  uint32_t TraceOf(const Call& call) const { return threads[call.thread].trace; }
  GroupPart PartOf(const Activity& activity) const;  // one of these rows
  // The activity whose finish the call waited for as its queue was full; kNone: it had room.
  uint32_t RoomMadeFor(uint32_t call) const;
  // Start of the call that launched it; the largest number where none is known.
  int64_t LaunchNs(uint32_t activity) const;
};

// Rows beyond `rows_max` are an error that says what to ask for instead; `more` are to come.
Status CheckJobSize(const JobRows& rows, size_t more, size_t rows_max);

Result<JobRows> ReadJobRows(SqliteDb& db, int64_t capture_id, size_t rows_max);

}  // namespace tracedb
