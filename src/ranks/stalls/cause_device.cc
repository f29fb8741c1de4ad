#include "ranks/stalls/cause_device.h"

#include <algorithm>
#include <string>

namespace tracedb {
namespace {

// Bounds what one look costs: where a stretch holds more, its end is looked at. Of what begins
// before it, on a stream: kernels hardly overlap there, so what reaches into the stretch began
// lately.
constexpr int64_t kKernelsMax = 8192;
constexpr int64_t kEarlierMax = 32;
constexpr size_t kKnownMax = 4096;
// A shorter kernel waits for nobody that matters: it is not looked up.
constexpr int64_t kWaitNsMin = 10'000;

}  // namespace

Result<DeviceWatch> DeviceWatch::Open(SqliteDb& db, const RankClocks& clocks) {
  DeviceWatch watch(clocks);
  const auto prepare = [&db](std::optional<SqliteStatement>& to, const char* sql) -> Status {
    TRACEDB_ASSIGN(statement, db.Prepare(sql));
    to.emplace(std::move(statement));
    return Done{};
  };
  TRACEDB_TRY(prepare(watch.track_of_, "SELECT track FROM _gpu_slice WHERE id = ?1"));
  TRACEDB_TRY(prepare(watch.tracks_,
                      "SELECT o.id, o.base_ns FROM _track t JOIN _track o "
                      "ON o.trace_id = t.trace_id AND o.device = t.device WHERE t.id = ?1"));
  TRACEDB_ASSIGN(slices, SliceWindows::Open(db,
                                            "SELECT id, ts, dur, event_name, ifnull(kind, 0) "
                                            "FROM _gpu_slice WHERE id NOT IN "
                                            "(SELECT id FROM _impossible_time)"));
  watch.slices_.emplace(std::move(slices));
  TRACEDB_TRY(
      prepare(watch.parts_,
              "WITH p AS MATERIALIZED (SELECT c.capture_id, c.group_id, c.pair, c.by_seq, "
              "  c.match_no, iif(instr(c.pair, '>') > 0, 2, json_array_length(g.ranks)) "
              "    AS ranks "
              "  FROM _collective_part c JOIN _process_group g ON g.group_id = c.group_id "
              "  WHERE c.id = ?1) "
              "SELECT o.id, o.rank, o.ts_ns, o.trace_id, p.ranks FROM p "
              "CROSS JOIN _collective_part o "
              "ON o.capture_id = p.capture_id AND o.group_id = p.group_id AND o.pair = "
              "p.pair AND o.by_seq = p.by_seq AND o.match_no = p.match_no ORDER BY o.rank"));
  return watch;
}

Result<const std::vector<DeviceWatch::Track>*> DeviceWatch::TracksOf(int64_t kernel_id) {
  track_of_->Reset();
  TRACEDB_TRY(track_of_->Bind(1, kernel_id));
  TRACEDB_ASSIGN(any, track_of_->Step());
  const int64_t own = any ? track_of_->Int(0) : 0;
  track_of_->Reset();
  const auto known = known_.find(own);
  if (known != known_.end()) return &known->second;
  if (known_.size() >= kKnownMax) known_.clear();
  std::vector<Track>& tracks = known_[own];
  TRACEDB_TRY(tracks_->Bind(1, own));
  for (;;) {
    TRACEDB_ASSIGN(row, tracks_->Step());
    if (!row) break;
    tracks.push_back({tracks_->Int(0), tracks_->Int(1)});
  }
  tracks_->Reset();
  return &tracks;
}

Result<DeviceStory> DeviceWatch::Look(int64_t kernel_id, Interval range) {
  pieces_.clear();
  TRACEDB_ASSIGN(tracks, TracksOf(kernel_id));
  for (const Track& track : *tracks) TRACEDB_TRY(Gather(track, kernel_id, range));
  looked_at_ = range;
  return Tell(range);
}

// `range` begins later afterwards where there was too much in it.
Status DeviceWatch::Gather(const Track& track, int64_t kernel_id, Interval& range) {
  int64_t start = DifferenceNs(range.start_ns, track.base_ns);
  int64_t within = 0;
  int64_t earlier = 0;
  Status added = Done{};
  const auto take = [&](const SliceRow& row) {
    if (row.ts >= start) {
      if (within == kKernelsMax) return true;  // begins with the last one that counts
      if (++within == kKernelsMax) start = row.ts;
    } else {
      if (++earlier > kEarlierMax) return false;
      if (SumNs(row.ts, row.dur) <= start) return true;
    }
    if (row.id != kernel_id) added = AddKernel(row, track);
    return added.ok();
  };
  TRACEDB_TRY(slices_->ForEachBefore(track.id, DifferenceNs(range.end_ns, track.base_ns), take));
  if (within == kKernelsMax) range.start_ns = SumNs(start, track.base_ns);
  return added;
}

Status DeviceWatch::AddKernel(const SliceRow& row, const Track& track) {
  // For an event of another stream: that stream's work is the story.
  if (row.kind == GpuKind::kWaiting) return Done{};
  const int64_t start_ns = SumNs(row.ts, track.base_ns);
  const Interval kernel{start_ns, SumNs(start_ns, row.dur)};
  if (row.kind == GpuKind::kCommunication && kernel.length() >= kWaitNsMin) {
    TRACEDB_ASSIGN(waits, AddWait(row.id, row.event_name, kernel));
    if (waits) return Done{};
  }
  if (kernel.length() > 0) pieces_.push_back({row.id, row.event_name, kernel, 0});
  return Done{};
}

// A communication kernel waits until the last part of its collective starts, then it works: or
// waits for ranks that were not recorded.
Result<bool> DeviceWatch::AddWait(int64_t kernel_id, int64_t event_name, Interval kernel) {
  TRACEDB_ASSIGN(last, LastPartOf(kernel_id));
  const int64_t then = last.lacks_ranks ? kUnrecorded : 0;
  int64_t until_ns = std::min(last.start_ns, kernel.end_ns);
  if (last.id == 0 || last.id == kernel_id || until_ns <= kernel.start_ns) {
    if (then == 0) return false;
    until_ns = kernel.start_ns;
  }
  if (until_ns > kernel.start_ns) {
    pieces_.push_back({kernel_id, event_name, {kernel.start_ns, until_ns}, last.id});
  }
  if (kernel.end_ns > until_ns) {
    pieces_.push_back({kernel_id, event_name, {until_ns, kernel.end_ns}, then});
  }
  return true;
}

Result<DeviceWatch::LastPart> DeviceWatch::LastPartOf(int64_t kernel_id) {
  const auto known = last_parts_.find(kernel_id);
  if (known != last_parts_.end()) return known->second;
  TRACEDB_TRY(parts_->Bind(1, kernel_id));
  LastPart last;
  int64_t last_rank = 0;
  int64_t shift_ns = 0;
  int64_t ranks_left = 0;  // of those that take part
  std::optional<int64_t> rank_before;
  for (;;) {
    TRACEDB_ASSIGN(row, parts_->Step());
    if (!row) break;
    const int64_t id = parts_->Int(0);
    const int64_t rank = parts_->Int(1);
    const int64_t shift = clocks_->ShiftNs(parts_->Int(3), parts_->Int(2));
    const int64_t start_ns = SumNs(parts_->Int(2), shift);
    if (id == kernel_id) shift_ns = shift;
    if (!rank_before.has_value()) ranks_left = parts_->Int(4);
    if (rank_before != rank) --ranks_left;
    rank_before = rank;
    const bool later = start_ns > last.start_ns || (start_ns == last.start_ns && rank < last_rank);
    if (last.id != 0 && !later) continue;
    last = {id, start_ns};
    last_rank = rank;
  }
  parts_->Reset();
  last.start_ns = DifferenceNs(last.start_ns, shift_ns);
  last.lacks_ranks = ranks_left > 0;
  if (last_parts_.size() >= kKnownMax) last_parts_.clear();
  last_parts_.emplace(kernel_id, last);
  return last;
}

DeviceStory DeviceWatch::Tell(Interval range) {
  DeviceStory story;
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.range.start_ns < b.range.start_ns; });
  // How far all of them, and those that work, have covered the stretch.
  int64_t any_to_ns = range.start_ns;
  int64_t work_to_ns = range.start_ns;
  int64_t any_ns = 0;
  const auto note_gap = [&](int64_t until_ns, int64_t kernel_id) {
    if (DifferenceNs(until_ns, any_to_ns) <= story.gap.length()) return;
    story.gap = {any_to_ns, until_ns};
    story.after_gap_id = kernel_id;
  };
  for (const Piece& piece : pieces_) {
    const Interval part = piece.range.Intersection(range);
    if (part.length() <= 0) continue;
    note_gap(part.start_ns, piece.kernel_id);
    any_ns = SumNs(any_ns, std::max<int64_t>(
                               0, DifferenceNs(part.end_ns, std::max(any_to_ns, part.start_ns))));
    any_to_ns = std::max(any_to_ns, part.end_ns);
    const bool works = piece.wait_for_id == 0;
    DeviceStory::Item& longest = works ? story.work : story.wait;
    if (part.length() > longest.length_ns) {
      longest = {piece.kernel_id, piece.event_name, part.length()};
      if (!works) story.wait_for_id = std::max<int64_t>(piece.wait_for_id, 0);
    }
    if (!works) continue;
    story.busy_ns =
        SumNs(story.busy_ns,
              std::max<int64_t>(0, DifferenceNs(part.end_ns, std::max(work_to_ns, part.start_ns))));
    work_to_ns = std::max(work_to_ns, part.end_ns);
  }
  note_gap(range.end_ns, 0);
  story.wait_ns = DifferenceNs(any_ns, story.busy_ns);
  story.idle_ns = DifferenceNs(range.length(), any_ns);
  return story;
}

KernelSum DeviceWatch::SumOf(int64_t event_name) const {
  KernelSum sum;
  for (const Piece& piece : pieces_) {
    if (piece.event_name != event_name || piece.wait_for_id != 0) continue;
    if (piece.range.Intersection(looked_at_).length() <= 0) continue;
    sum.ns = SumNs(sum.ns, piece.range.length());
    ++sum.count;
  }
  return sum;
}

}  // namespace tracedb
