#include "replay/graph/summary_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "replay/graph/capture_traces.h"
#include "replay/graph/matched_parts.h"
#include "replay/graph/numbered_values.h"
#include "tracedb/schema/rank_clock.h"
#include "tracedb/schema/waiting_calls.h"

namespace tracedb {
namespace {

constexpr int64_t kResumedNsMax = 20'000;  // after the end of a part that was waited for

constexpr const char* kPartsSql =
    "SELECT g.id, g.ts, g.dur, t.base_ns, t.device, t.stream, g.event_name, k.launch_slice_id, "
    "k.launch_ts_ns, k.step, u.computing_ns, u.idle_ns FROM _gpu_slice g "
    "JOIN _collective_part p ON p.id = g.id JOIN _track t ON t.id = g.track "
    "LEFT JOIN _launch k ON k.id = g.id LEFT JOIN _part_use u ON u.id = g.id "
    "WHERE g.id BETWEEN ?1 AND ?2 AND g.dur >= 0 ORDER BY g.id";
constexpr const char* kWaitsSql =
    "SELECT r.id, r.ts, r.dur, t.base_ns, n.name, r.id IN (SELECT id FROM _full_queue) "
    "FROM _runtime_slice r "
    "JOIN _track t ON t.id = r.track JOIN _event_name n ON n.id = r.event_name "
    "WHERE r.id BETWEEN ?1 AND ?2 ORDER BY r.id";
constexpr const char* kStepsSql =
    "SELECT s.id, s.ts, s.dur, t.base_ns, s.step, s.track FROM _step s "
    "JOIN _track t ON t.id = s.track "
    "WHERE s.id BETWEEN ?1 AND ?2 AND s.dur >= 0 AND s.step IS NOT NULL ORDER BY s.id";

class SummaryReader {
 public:
  SummaryReader(SqliteDb& db, size_t rows_max) : db_(db), rows_max_(rows_max) {
    rows_.is_of_summaries = true;
  }

  Result<JobRows> Read(int64_t capture_id) {
    TRACEDB_ASSIGN(clocks, RankClocks::Read(db_));
    TRACEDB_ASSIGN(impossible, ImpossibleTimes(db_));
    impossible_ = std::move(impossible);
    TRACEDB_ASSIGN(traces, TracesOfCapture(db_, capture_id));
    for (const CaptureTrace& trace : traces) {
      const auto number = static_cast<uint32_t>(rows_.traces.size());
      rows_.traces.push_back({trace.trace_id, trace.rank});
      rows_.threads.push_back({0, number, number});  // all of a rank's host is one
      clock_ = clocks.Of(trace.trace_id);
      first_ = trace.first_row;
      last_ = trace.last_row;
      TRACEDB_TRY(ReadParts());
      TRACEDB_TRY(ReadWaits());
      TRACEDB_TRY(ReadSteps());
      TRACEDB_TRY(ReadEnds());
    }
    rows_.process_count = static_cast<uint32_t>(rows_.traces.size());
    rows_.activities.shrink_to_fit();
    rows_.calls.shrink_to_fit();
    TRACEDB_TRY(ReadMatchedParts(db_, capture_id, rows_));
    return std::move(rows_);
  }

 private:
  // Of the rows of the trace.
  Result<SqliteStatement> Rows(const char* sql) {
    TRACEDB_ASSIGN(rows, db_.Prepare(sql));
    TRACEDB_TRY(rows.Bind(1, first_));
    TRACEDB_TRY(rows.Bind(2, last_));
    return rows;
  }

  int64_t AlignedNs(int64_t own_ns) const { return BoundedNs(clock_.Aligned(own_ns)); }
  uint32_t Trace() const { return static_cast<uint32_t>(rows_.traces.size() - 1); }

  Status ReadParts() {
    calls_.clear();
    streams_.clear();
    bool is_told = true;
    TRACEDB_ASSIGN(rows, Rows(kPartsSql));
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any) break;
      if (impossible_.contains(rows.Int(0))) continue;
      Activity part{};
      const int64_t start_ns = SumNs(rows.Int(1), rows.Int(3));
      part.start_ns = AlignedNs(start_ns);
      part.finish_ns = std::max(part.start_ns, AlignedNs(SumNs(start_ns, rows.Int(2))));
      part.slice_id = rows.Int(0);
      part.name_place = name_places_.Of(rows.Int(6), rows_.name_ids);
      part.step_place = StepPlace(rows.Type(9) == SqlType::kInteger ? rows.Int(9) : kNoStep);
      part.stream = StreamOf(std::string(rows.Text(4)), std::string(rows.Text(5))) & kStreamBits;
      part.kind = GpuKind::kCommunication;
      part.call = kNone;
      if (rows.Type(8) == SqlType::kInteger) {
        part.call = LaunchOf(rows.Int(7), AlignedNs(rows.Int(8)));
      }
      is_told = is_told && rows.Type(10) != SqlType::kNull;
      const int64_t idle_ns = rows.Type(11) == SqlType::kInteger ? rows.Int(11) : kJobTimeMax;
      rows_.uses.push_back(
          {std::clamp<int64_t>(rows.Int(10), 0, DifferenceNs(part.finish_ns, part.start_ns)),
           rows.Int(10) < rows.Int(2), idle_ns <= kResumedNsMax, idle_ns});
      rows_.activities.push_back(part);
      TRACEDB_TRY(CheckJobSize(rows_, 0, rows_max_));
    }
    if (is_told) return Done{};
    return Error{ErrorKind::kQuery,
                 "the summary of rank " + std::to_string(rows_.traces.back().rank) +
                     " is of an older tracedb, and does not say what was computed while "
                     "collectives ran: run tracedb ingest --shard for it again, and gather again",
                 ""};
  }

  uint32_t StepPlace(int64_t step) {
    return step == kNoStep ? kNone : step_places_.Of(step, rows_.step_numbers);
  }

  uint32_t StreamOf(std::string device, std::string stream) {
    const auto next = static_cast<uint32_t>(rows_.stream_traces.size());
    const auto [place, is_new] = streams_.try_emplace({std::move(device), std::move(stream)}, next);
    if (is_new) rows_.stream_traces.push_back(Trace());
    return place->second;
  }

  // Several parts may be of one call; one whose number is not known stands for its own part.
  uint32_t LaunchOf(int64_t slice_id, int64_t launch_ns) {
    const auto activity = static_cast<uint32_t>(rows_.activities.size());
    const auto next = static_cast<uint32_t>(rows_.calls.size());
    if (slice_id != 0) {
      const auto [place, is_new] = calls_.try_emplace(slice_id, next);
      if (!is_new) {
        rows_.calls[place->second].last_activity = activity;
        return place->second;
      }
    }
    AddCall(slice_id, launch_ns, launch_ns, CallKind::kLaunch);
    rows_.calls.back().last_activity = activity;
    return next;
  }

  void AddCall(int64_t slice_id, int64_t start_ns, int64_t end_ns, CallKind kind) {
    Call call{};
    call.start_ns = start_ns;
    call.end_ns = end_ns;
    call.slice_id = slice_id;
    call.thread = Trace() & kThreadBits;
    call.last_activity = kNone;
    call.kind = kind;
    rows_.calls.push_back(call);
  }

  Status ReadWaits() {
    TRACEDB_ASSIGN(rows, Rows(kWaitsSql));
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any) return Done{};
      const bool waits = rows.Int(5) != 0 || WaitsForGpu(rows.Text(4));
      if (impossible_.contains(rows.Int(0)) || !waits) continue;
      const int64_t start_ns = SumNs(rows.Int(1), rows.Int(3));
      const int64_t begin_ns = AlignedNs(start_ns);
      const int64_t end_ns = AlignedNs(SumNs(start_ns, rows.Int(2)));
      if (end_ns > begin_ns) AddCall(rows.Int(0), begin_ns, end_ns, CallKind::kWaitForAll);
      TRACEDB_TRY(CheckJobSize(rows_, 0, rows_max_));
    }
  }

  Status ReadSteps() {
    TRACEDB_ASSIGN(rows, Rows(kStepsSql));
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any) return Done{};
      if (impossible_.contains(rows.Int(0))) continue;
      const int64_t start_ns = SumNs(rows.Int(1), rows.Int(3));
      const int64_t begin_ns = AlignedNs(start_ns);
      const int64_t end_ns = AlignedNs(SumNs(start_ns, rows.Int(2)));
      AddCall(rows.Int(0), begin_ns, std::max(begin_ns, end_ns), CallKind::kStep);
      rows_.steps.push_back({static_cast<uint32_t>(rows_.calls.size() - 1), rows.Int(4)});
      rows_.threads.back().track_id = rows.Int(5);
      TRACEDB_TRY(CheckJobSize(rows_, 0, rows_max_));
    }
  }

  // When the GPU was done with a step, and, where there are no steps, when all began.
  Status ReadEnds() {
    const bool has_steps =
        !rows_.steps.empty() && rows_.TraceOf(rows_.calls[rows_.steps.back().call]) == Trace();
    std::vector<StepWork>& works = rows_.step_works.emplace_back();
    TRACEDB_ASSIGN(
        rows, db_.Prepare("SELECT step, max(end_ns), min(begin_ns), min(start_ns) "
                          "FROM _step_last WHERE trace_id = ?1 GROUP BY step ORDER BY 2, step"));
    TRACEDB_TRY(rows.Bind(1, rows_.traces.back().trace_id));
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any) break;
      const int64_t step = rows.Type(0) == SqlType::kInteger ? rows.Int(0) : kNoStep;
      if (!has_steps && rows.Type(2) == SqlType::kInteger) AddMoment(rows.Int(2), step);
      if (rows.Type(1) == SqlType::kInteger) AddMoment(rows.Int(1), step);
      const bool has_work = rows.Type(2) == SqlType::kInteger && rows.Type(3) == SqlType::kInteger;
      if (has_work) works.push_back({step, AlignedNs(rows.Int(2)), AlignedNs(rows.Int(3))});
      TRACEDB_TRY(CheckJobSize(rows_, 0, rows_max_));
    }
    std::ranges::sort(works, {}, &StepWork::step);
    return Done{};
  }

  // An activity of no length, on a stream of its own.
  void AddMoment(int64_t own_ns, int64_t step) {
    Activity moment{};
    moment.start_ns = moment.finish_ns = AlignedNs(own_ns);
    moment.step_place = StepPlace(step);
    moment.name_place = name_places_.Of(0, rows_.name_ids);  // of none
    moment.call = kNone;
    moment.stream = StreamOf("", "") & kStreamBits;
    moment.kind = GpuKind::kCompute;
    rows_.activities.push_back(moment);
    rows_.uses.emplace_back();
  }

  SqliteDb& db_;
  const size_t rows_max_;
  JobRows rows_;
  RankClock clock_;
  int64_t first_ = 0, last_ = 0;  // rows of the trace
  std::unordered_set<int64_t> impossible_;
  NumberedValues step_places_, name_places_;
  std::map<std::pair<std::string, std::string>, uint32_t> streams_;
  std::unordered_map<int64_t, uint32_t> calls_;  // that launch, by their slices
};

}  // namespace

Result<bool> HasSummariesAlone(SqliteDb& db) {
  TRACEDB_ASSIGN(tables, db.Integer("SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' "
                                    "AND name IN ('_shard', '_left_out')"));
  if (tables < 2) return false;
  TRACEDB_ASSIGN(left, db.Integer("SELECT count(*) FROM main._left_out WHERE table_name IN "
                                  "('_gpu_slice', '_runtime_slice')"));
  return left > 0;
}

Result<JobRows> ReadSummaryRows(SqliteDb& db, int64_t capture_id, size_t rows_max) {
  TRACEDB_ASSIGN(tables, db.Integer("SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' "
                                    "AND name IN ('_part_use', '_full_queue')"));
  if (tables < 2) {
    return Error{ErrorKind::kQuery,
                 "this database was gathered by an older tracedb, whose summaries do not say what "
                 "was computed while collectives ran, or which launches waited: run tracedb ingest "
                 "--shard for each rank again, and gather again",
                 ""};
  }
  return SummaryReader(db, rows_max).Read(capture_id);
}

}  // namespace tracedb
