#include "ranks/stalls/cause_finder.h"

#include <algorithm>

#include "ranks/stalls/cause_arrivals.h"

namespace tracedb {
namespace {

constexpr const char* kNothingLong = "host work in short pieces";
constexpr const char* kBackward = "backward pass in short pieces";
constexpr const char* kIdle = "an idle GPU";

}  // namespace

Result<CauseFinder> CauseFinder::Open(SqliteDb& db, const RankClocks& clocks) {
  TRACEDB_ASSIGN(device, DeviceWatch::Open(db, clocks));
  TRACEDB_ASSIGN(host, HostWatch::Open(db));
  TRACEDB_ASSIGN(launch,
                 db.Prepare("SELECT launch_slice_id, launch_ts_ns FROM _launch WHERE id = ?1"));
  TRACEDB_ASSIGN(earliest, EarliestStart::Open(db, clocks));
  return CauseFinder(std::move(device), std::move(host), std::move(earliest), std::move(launch));
}

Result<Cause> CauseFinder::Find(Stall& stall) {
  TRACEDB_TRY(launch_.Bind(1, stall.id));
  TRACEDB_ASSIGN(launched, launch_.Step());
  if (launched && launch_.Type(1) != SqlType::kNull) {
    stall.launch_id = launch_.Int(0);
    stall.launch_ns = launch_.Int(1);
  }
  launch_.Reset();
  Cause cause;
  const Interval range = stall.range;
  const bool late_launch =
      stall.launch_ns.has_value() &&
      DifferenceNs(*stall.launch_ns, range.start_ns) >= range.length() / 2 + range.length() % 2;
  if (range.length() < kNamedWaitNs) {
    if (stall.launch_ns.has_value())
      cause.kind = late_launch ? CauseKind::kHost : CauseKind::kDeviceWork;
    return cause;
  }
  if (late_launch) {
    const Interval before{range.start_ns, std::min(*stall.launch_ns, range.end_ns)};
    TRACEDB_ASSIGN(found, HeldByHost(stall, stall.launch_id, before));
    cause = std::move(found);
  } else {
    TRACEDB_ASSIGN(found, HeldByDevice(stall, range, stall.launch_ns.has_value()));
    cause = std::move(found);
  }
  if (cause.kind == CauseKind::kDeviceWork) TRACEDB_TRY(LookBehind(stall, cause));
  return cause;
}

// Its device works off, later than the others' did, what the host had launched late.
Status CauseFinder::LookBehind(const Stall& stall, Cause& cause) {
  TRACEDB_ASSIGN(earliest_ns, earliest_.Find(stall));
  const int64_t shift_ns = DifferenceNs(stall.first_ns, stall.range.start_ns);
  const Interval in_step{DifferenceNs(earliest_ns, shift_ns), stall.range.end_ns};
  if (in_step.start_ns < stall.range.start_ns) {
    TRACEDB_ASSIGN(device, device_.Look(stall.id, in_step));
    cause.named = device_.SumOf(cause.event_name);
    cause.idle_ns = device.idle_ns;
    TRACEDB_ASSIGN(host, HostBeforeGap(stall, device));
    cause.in_step = std::move(host);
  }
  // After the last collective of a step its host may log or save: the next step begins late.
  TRACEDB_ASSIGN(before_ns, earliest_.FindSinceStepBefore(stall));
  const Interval since{DifferenceNs(before_ns, shift_ns), stall.range.end_ns};
  if (since.start_ns >= std::min(in_step.start_ns, stall.range.start_ns)) return Done{};
  TRACEDB_ASSIGN(device, device_.Look(stall.id, since));
  TRACEDB_ASSIGN(host, HostBeforeGap(stall, device));
  cause.since_step_before = std::move(host);
  return Done{};
}

// What held the host of the launch that ended the longest time in which nothing ran.
Result<HostBefore> CauseFinder::HostBeforeGap(const Stall& stall, const DeviceStory& device) {
  HostBefore before;
  if (device.after_gap_id == 0 || 2 * device.gap.length() < stall.range.length()) return before;
  TRACEDB_TRY(launch_.Bind(1, device.after_gap_id));
  TRACEDB_ASSIGN(launched, launch_.Step());
  const bool is_known = launched && launch_.Type(1) != SqlType::kNull;
  const int64_t launch_id = is_known ? launch_.Int(0) : 0;
  const int64_t launch_ns = is_known ? launch_.Int(1) : 0;
  launch_.Reset();
  if (!is_known || 2 * DifferenceNs(launch_ns, device.gap.start_ns) < device.gap.length()) {
    return before;
  }
  TRACEDB_ASSIGN(
      host, host_.Look(launch_id, {device.gap.start_ns, std::min(launch_ns, device.gap.end_ns)}));
  if (host.waits_for_device) return before;
  return HostBefore{host.slice_id, host.event_name, host.whole_ns,
                    host.backward ? kBackward : kNothingLong, std::move(host.parts)};
}

// A call that waits for the device is no cause of its own: what the device did meanwhile is.
Result<Cause> CauseFinder::HeldByHost(const Stall& stall, int64_t launch_id, Interval range) {
  TRACEDB_ASSIGN(story, host_.Look(launch_id, range));
  if (story.waits_for_device) {
    TRACEDB_ASSIGN(cause, HeldByDevice(stall, story.range, false));
    if (cause.kind != CauseKind::kDeviceIdle) return cause;
  }
  Cause cause;
  cause.kind = CauseKind::kHost;
  cause.slice_id = story.slice_id;
  cause.event_name = story.event_name;
  if (story.slice_id == 0) cause.text = story.backward ? kBackward : kNothingLong;
  cause.clear_ns = story.longest_ns;
  return cause;
}

Result<Cause> CauseFinder::HeldByDevice(const Stall& stall, Interval range, bool may_ask_host) {
  TRACEDB_ASSIGN(story, device_.Look(stall.id, range));
  Cause cause;
  if (story.wait_ns >= story.busy_ns && story.wait_ns >= story.idle_ns && story.wait_ns > 0) {
    cause.kind = CauseKind::kUpstream;
    cause.slice_id = story.wait.kernel_id;
    cause.upstream_id = story.wait_for_id;
    cause.clear_ns = story.wait.length_ns;
    return cause;
  }
  if (story.busy_ns >= story.idle_ns && story.busy_ns > 0) {
    cause.kind = CauseKind::kDeviceWork;
    cause.slice_id = story.work.kernel_id;
    cause.event_name = story.work.event_name;
    cause.clear_ns = story.work.length_ns;
    cause.near = device_.SumOf(cause.event_name);
    cause.named = cause.near;
    cause.idle_ns = story.idle_ns;
    return cause;
  }
  // Nothing ran: what came next was launched late, perhaps by another thread.
  int64_t launch_id = 0;
  int64_t launch_ns = 0;
  if (may_ask_host && story.after_gap_id != 0) {
    TRACEDB_TRY(launch_.Bind(1, story.after_gap_id));
    TRACEDB_ASSIGN(any, launch_.Step());
    if (any && launch_.Type(1) != SqlType::kNull) {
      launch_id = launch_.Int(0);
      launch_ns = launch_.Int(1);
    }
    launch_.Reset();
  }
  if (launch_id != 0 && DifferenceNs(launch_ns, story.gap.start_ns) >=
                            story.gap.length() / 2 + story.gap.length() % 2) {
    return HeldByHost(stall, launch_id,
                      {story.gap.start_ns, std::min(launch_ns, story.gap.end_ns)});
  }
  // Without its launch nobody can tell whether the device was free to begin.
  cause.clear_ns = story.gap.length();
  if (!stall.launch_ns.has_value()) return cause;
  cause.kind = CauseKind::kDeviceIdle;
  cause.text = kIdle;
  return cause;
}

}  // namespace tracedb
