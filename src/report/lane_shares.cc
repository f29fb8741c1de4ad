#include "report/lane_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "report/query_rows.h"
#include "report/report_result.h"
#include "tracedb/base/interval.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {
namespace {

// Gaps that have a cause of their own; shorter ones are idle time of no known cause.
constexpr int64_t kGapsMax = 1000;
constexpr int64_t kPiecesMin = 40;
constexpr int64_t kPiecesMax = 800;

struct Range {
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  int64_t lanes = 0;
};

// From the first step or activity to the last end of one, by the aligned clocks.
Result<Range> RangeOf(SqliteDb& db, const ShownRun& run) {
  TRACEDB_ASSIGN(
      found,
      db.Prepare(
          "WITH recorded AS MATERIALIZED ("
          "  SELECT r.trace_id, r.run_start_ns, c.offset_ns, c.origin_ns, c.drift_ppb "
          "  FROM traces r LEFT JOIN rank_clocks c ON c.trace_id = r.trace_id "
          "  WHERE r.run = ?1 AND (?2 = 0 OR r.capture = ?2)), "
          "stretch AS (SELECT trace_id, start_ns, end_ns, 1 AS is_gpu FROM device_uses UNION ALL "
          "  SELECT trace_id, ts_ns, end_ns, 0 FROM steps WHERE dur_ns >= 0), "
          "edge AS (SELECT r.*, s.is_gpu, s.start_ns AS ts_ns FROM recorded r "
          "  JOIN stretch s ON s.trace_id = r.trace_id UNION ALL "
          "  SELECT r.*, 0, s.end_ns FROM recorded r JOIN stretch s ON s.trace_id = r.trace_id) "
          "SELECT min(at), max(at), total(is_gpu) FROM (SELECT is_gpu, " +
          AlignedSql("c.ts_ns") + " - run_start_ns AS at FROM edge c)"));
  TRACEDB_TRY(found.Bind(1, run.name));
  TRACEDB_TRY(found.Bind(2, CaptureOf("report/timeline", run).value_or(0)));
  TRACEDB_TRY(found.Step());
  return Range{found.Int(0), found.Int(1), static_cast<int64_t>(found.Real(2))};
}

using Lane = GpuLane;

struct Clock {
  int64_t run_start_ns = 0;
  RankClock own;
};

Result<std::map<int64_t, Clock>> ClocksOf(SqliteDb& db, const ShownRun& run) {
  std::map<int64_t, Clock> clocks;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT r.rank, r.run_start_ns, c.offset_ns, c.drift_ppb, "
                                  "c.origin_ns FROM traces r "
                                  "JOIN rank_clocks c ON c.trace_id = r.trace_id "
                                  "WHERE r.run = ?1 AND (?2 = 0 OR r.capture = ?2)"));
  TRACEDB_TRY(rows.Bind(1, run.name));
  TRACEDB_TRY(rows.Bind(2, CaptureOf("report/timeline", run).value_or(0)));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return clocks;
    clocks[rows.Int(0)] = {rows.Int(1), {rows.Int(2), rows.Int(3), rows.Int(4)}};
  }
}

int64_t Aligned(const std::map<int64_t, Clock>& clocks, int64_t rank, int64_t since_run_ns) {
  const auto found = clocks.find(rank);
  if (found == clocks.end()) return since_run_ns;
  const Clock& clock = found->second;
  return DifferenceNs(clock.own.Aligned(SumNs(since_run_ns, clock.run_start_ns)),
                      clock.run_start_ns);
}

int64_t Nanoseconds(double ms) { return std::llround(ms * 1e6); }

// Keeps the gaps of gpu_gaps by lane, and hands its first rows on.
class GapRows : public RowSink {
 public:
  GapRows(std::map<int64_t, Clock> clocks, LaneGaps& gaps, RowSink* first, size_t first_max)
      : clocks_(std::move(clocks)), gaps_(gaps), first_(first), first_max_(first_max) {}

  Status Begin(std::span<const std::string> names) override {
    return first_ == nullptr ? Status(Done{}) : first_->Begin(names);
  }

  Status Row(std::span<const Cell> cells) override {
    constexpr size_t kRank = 2, kDevice = 3, kStart = 4, kGap = 5, kCause = 7, kLaunched = 8;
    constexpr size_t kSync = 9, kSyncName = 10, kHostName = 11;
    if (first_ != nullptr && rows_++ < first_max_) TRACEDB_TRY(first_->Row(cells));
    ReadRow(cells, row_);
    const int64_t rank = row_[kRank].integer;
    LaneGap gap;
    gap.dur_ns = Nanoseconds(row_[kGap].real);
    gap.sync_ns = Nanoseconds(row_[kSync].real);
    gap.is_known = row_[kCause].type != SqlType::kNull;
    gap.is_host = row_[kLaunched].real >= 0;
    gap.host_name = row_[kHostName].text;
    gap.sync_name = row_[kSyncName].text;
    gaps_[{rank, row_[kDevice].text}].emplace(
        Aligned(clocks_, rank, Nanoseconds(row_[kStart].real)), std::move(gap));
    return Done{};
  }

  Status End() override { return first_ == nullptr ? Status(Done{}) : first_->End(); }

 private:
  std::map<int64_t, Clock> clocks_;
  LaneGaps& gaps_;
  RowSink* first_;
  const size_t first_max_;
  size_t rows_ = 0;
  std::vector<RowValue> row_;
};

// How many rows it gives of a run when it is not told.
size_t OwnLimit(const QueryDoc& doc) {
  const QueryParam* limit = doc.FindParam("limit");
  size_t rows = 0;
  if (limit == nullptr || !limit->default_text.has_value()) return rows;
  const std::string& text = *limit->default_text;
  std::from_chars(text.data(), text.data() + text.size(), rows);
  return std::min<size_t>(rows, kGapsMax);
}

// One lane after another out of two queries that have them in the same order.
class LaneReader {
 public:
  LaneReader(QueryRows segments, QueryRows kernels, const LaneGaps& gaps, const Range& range,
             int64_t pieces, LaneShares& shares)
      : segments_(std::move(segments)),
        kernels_(std::move(kernels)),
        gaps_(gaps),
        range_(range),
        pieces_(pieces),
        shares_(shares) {}

  // By rank and GPU, whatever the order of the rows' traces.
  Result<std::string> Read(LaneStates& states) {
    std::multimap<std::tuple<int64_t, int64_t, std::string>, std::string> by_lane;
    TRACEDB_TRY(NextSegment());
    TRACEDB_TRY(NextKernel());
    while (has_segment_) {
      const Lane lane = LaneOf(segments_);
      TRACEDB_ASSIGN(cells, ReadLane(lane, states));
      std::string json = fmt::format("{{\"rank\":{}", lane.first);
      AppendJsonField(json, "device", lane.second);
      by_lane.emplace(std::tuple(lane.first, NumberOf(lane.second), lane.second),
                      json + ",\"cells\":[" + cells + "]}");
    }
    std::string lanes;
    for (const auto& [lane, json] : by_lane) lanes += (lanes.empty() ? "" : ",\n") + json;
    return lanes;
  }

 private:
  static constexpr size_t kRank = 1, kDevice = 2, kStart = 3, kDur = 4, kKinds = 5;
  static constexpr size_t kParallelism = 5, kWait = 6, kRoot = 7, kCause = 8, kName = 9;

  static Lane LaneOf(QueryRows& rows) { return {rows.Int(kRank), rows.Text(kDevice)}; }
  static bool IsOf(const Lane& lane, QueryRows& rows) {
    return rows.Int(kRank) == lane.first && rows.Text(kDevice) == lane.second;
  }

  // A GPU's device is a number but where a file calls it something else.
  static int64_t NumberOf(const std::string& device) {
    int64_t number = 0;
    std::from_chars(device.data(), device.data() + device.size(), number);
    return number;
  }

  // To the first segment of another GPU or trace. Of one trace each starts later than the one in
  // front of it, before whose end that may be by the aligned clocks.
  Result<std::string> ReadLane(const Lane& lane, LaneStates& states) {
    LanePieces pieces(range_.first_ns, range_.last_ns, pieces_, states);
    const auto gaps = gaps_.find(lane);
    pieces.Begin(gaps == gaps_.end() ? nullptr : &gaps->second);
    int64_t start_ns = std::numeric_limits<int64_t>::min();
    while (has_segment_ && segments_.Int(kStart) >= start_ns && IsOf(lane, segments_)) {
      start_ns = segments_.Int(kStart);
      TRACEDB_TRY(AddKernels(lane, pieces, start_ns + segments_.Int(kDur)));
      pieces.AddSegment(segments_.Int(kStart), segments_.Int(kDur), segments_.Int(kKinds));
      TRACEDB_TRY(NextSegment());
    }
    TRACEDB_TRY(AddKernels(lane, pieces, std::numeric_limits<int64_t>::max()));
    pieces.End();
    return pieces.Cells();
  }

  Status NextSegment() {
    TRACEDB_ASSIGN(any, segments_.Next());
    has_segment_ = any;
    return Done{};
  }
  Status NextKernel() {
    TRACEDB_ASSIGN(any, kernels_.Next());
    has_kernel_ = any;
    return Done{};
  }

  // Those that start before `end_ns`.
  Status AddKernels(const Lane& lane, LanePieces& pieces, int64_t end_ns) {
    while (has_kernel_ && kernels_.Int(kStart) < end_ns && IsOf(lane, kernels_)) {
      LaneKernel kernel;
      kernel.start_ns = kernels_.Int(kStart);
      kernel.end_ns = kernel.start_ns + kernels_.Int(kDur);
      kernel.wait_end_ns = kernel.start_ns + kernels_.Int(kWait);
      kernel.parallelism = kernels_.Text(kParallelism);
      kernel.is_schedule = kernels_.Text(kCause) == "schedule";
      if (!kernels_.IsNull(kRoot)) {
        kernel.root_rank = kernels_.Int(kRoot);
        kernel.root_name = kernels_.Text(kName);
        if (kernels_.Int(kRoot) != lane.first) {
          shares_.waiting[{kernels_.Int(kRoot), kernels_.Text(kName)}].insert(lane.first);
        }
      }
      pieces.AddKernel(std::move(kernel));
      TRACEDB_TRY(NextKernel());
    }
    return Done{};
  }

  QueryRows segments_;
  QueryRows kernels_;
  const LaneGaps& gaps_;
  const Range& range_;
  const int64_t pieces_;
  LaneShares& shares_;
  bool has_segment_ = false;
  bool has_kernel_ = false;
};

Result<QueryRows> OpenRows(SqliteDb& db, const QueryCatalog& catalog, std::string_view query,
                           const ShownRun& run) {
  const QueryDoc* doc = catalog.Find(query);
  std::vector<std::string> params;
  if (doc != nullptr) params = ParamsOf(*doc, run);
  return QueryRows::Open(db, catalog, query, std::move(params));
}

}  // namespace

Result<LaneGaps> ReadLaneGaps(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                              RowSink* first) {
  LaneGaps gaps;
  const QueryDoc* doc = catalog.Find("gpu_gaps");
  if (doc == nullptr) return gaps;
  TRACEDB_ASSIGN(clocks, ClocksOf(db, run));
  std::vector<std::string> params = ParamsOf(*doc, run);
  params.push_back(fmt::format("limit={}", kGapsMax));
  TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db, *doc, {std::move(params), ""}));
  GapRows rows(std::move(clocks), gaps, first, OwnLimit(*doc));
  TRACEDB_TRY(query.Run(rows));
  return gaps;
}

Result<LaneShares> MakeLaneShares(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                                  const LaneGaps& gaps, int64_t cells_max) {
  LaneShares shares;
  TRACEDB_ASSIGN(range, RangeOf(db, run));
  if (range.lanes == 0 || range.last_ns <= range.first_ns) return shares;
  const int64_t pieces = std::clamp(cells_max / range.lanes, kPiecesMin, kPiecesMax);
  TRACEDB_ASSIGN(segments, OpenRows(db, catalog, "report/lane_segments", run));
  TRACEDB_ASSIGN(kernels, OpenRows(db, catalog, "report/lane_communication", run));
  LaneStates states;
  LaneReader reader(std::move(segments), std::move(kernels), gaps, range, pieces, shares);
  TRACEDB_ASSIGN(lanes, reader.Read(states));
  const int64_t piece_ns = PieceLength(range.first_ns, range.last_ns, pieces);
  shares.json = WithoutTags(
      fmt::format("{{\"start_ms\":{},\"bin_ms\":{},\"bins\":{},\"states\":[{}],\n\"lanes\":[{}]}}",
                  static_cast<double>(range.first_ns) / 1e6, static_cast<double>(piece_ns) / 1e6,
                  pieces, states.Json(), lanes));
  return shares;
}

}  // namespace tracedb
