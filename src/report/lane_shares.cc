#include "report/lane_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "report/lane_pieces.h"
#include "report/query_rows.h"
#include "report/report_result.h"

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
          "SELECT min(at), max(at), total(is_gpu) FROM (SELECT is_gpu, ts_ns - run_start_ns + "
          "  ifnull(offset_ns + (ts_ns - origin_ns) * drift_ppb / 1000000000, 0) AS at FROM "
          "edge)"));
  TRACEDB_TRY(found.Bind(1, run.name));
  TRACEDB_TRY(found.Bind(2, CaptureOf("report/timeline", run).value_or(0)));
  TRACEDB_TRY(found.Step());
  return Range{found.Int(0), found.Int(1), static_cast<int64_t>(found.Real(2))};
}

using Lane = std::tuple<int64_t, std::string>;  // rank, device

// The longest gaps, by lane and by their start on the aligned clocks.
using Gaps = std::map<Lane, std::map<int64_t, LaneGap>>;

struct Clock {
  int64_t run_start_ns = 0;
  int64_t offset_ns = 0;
  int64_t origin_ns = 0;
  int64_t drift_ppb = 0;
};

Result<std::map<int64_t, Clock>> ClocksOf(SqliteDb& db, const ShownRun& run) {
  std::map<int64_t, Clock> clocks;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT r.rank, r.run_start_ns, c.offset_ns, c.origin_ns, "
                                  "c.drift_ppb FROM traces r "
                                  "JOIN rank_clocks c ON c.trace_id = r.trace_id "
                                  "WHERE r.run = ?1 AND (?2 = 0 OR r.capture = ?2)"));
  TRACEDB_TRY(rows.Bind(1, run.name));
  TRACEDB_TRY(rows.Bind(2, CaptureOf("report/timeline", run).value_or(0)));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return clocks;
    clocks[rows.Int(0)] = {rows.Int(1), rows.Int(2), rows.Int(3), rows.Int(4)};
  }
}

int64_t Aligned(const std::map<int64_t, Clock>& clocks, int64_t rank, int64_t since_run_ns) {
  const auto found = clocks.find(rank);
  if (found == clocks.end()) return since_run_ns;
  const Clock& clock = found->second;
  const int64_t since_origin_ns = since_run_ns + clock.run_start_ns - clock.origin_ns;
  return since_run_ns + clock.offset_ns + since_origin_ns * clock.drift_ppb / 1'000'000'000;
}

int64_t Nanoseconds(double ms) { return std::llround(ms * 1e6); }

Result<Gaps> ReadGaps(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run) {
  constexpr size_t kRank = 2, kDevice = 3, kStart = 4, kGap = 5, kCause = 7, kLaunched = 8;
  constexpr size_t kSync = 9, kSyncName = 10, kHostName = 11;
  Gaps gaps;
  if (catalog.Find("gpu_gaps") == nullptr) return gaps;
  TRACEDB_ASSIGN(clocks, ClocksOf(db, run));
  std::vector<std::string> params = ParamsOf(*catalog.Find("gpu_gaps"), run);
  params.push_back(fmt::format("limit={}", kGapsMax));
  TRACEDB_ASSIGN(rows, QueryRows::Open(db, catalog, "gpu_gaps", std::move(params)));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Next());
    if (!any) return gaps;
    const int64_t rank = rows.Int(kRank);
    LaneGap gap;
    gap.dur_ns = Nanoseconds(rows.Real(kGap));
    gap.sync_ns = Nanoseconds(rows.Real(kSync));
    gap.is_known = !rows.IsNull(kCause);
    gap.is_host = rows.Real(kLaunched) >= 0;
    gap.host_name = rows.Text(kHostName);
    gap.sync_name = rows.Text(kSyncName);
    gaps[{rank, rows.Text(kDevice)}].emplace(Aligned(clocks, rank, Nanoseconds(rows.Real(kStart))),
                                             std::move(gap));
  }
}

// One lane after another out of two queries in the same order.
class LaneReader {
 public:
  LaneReader(QueryRows segments, QueryRows kernels, const Gaps& gaps, const Range& range,
             int64_t pieces, LaneShares& shares)
      : segments_(std::move(segments)),
        kernels_(std::move(kernels)),
        gaps_(gaps),
        range_(range),
        pieces_(pieces),
        shares_(shares) {}

  Result<std::string> Read(LaneStates& states) {
    std::string lanes;
    TRACEDB_TRY(NextSegment());
    TRACEDB_TRY(NextKernel());
    while (has_segment_) {
      const Lane lane = LaneOf(segments_);
      LanePieces pieces(range_.first_ns, range_.last_ns, pieces_, states);
      const auto gaps = gaps_.find(lane);
      pieces.Begin(gaps == gaps_.end() ? nullptr : &gaps->second);
      while (has_segment_ && LaneOf(segments_) == lane) {
        TRACEDB_TRY(AddKernels(lane, pieces, segments_.Int(kStart) + segments_.Int(kDur)));
        pieces.AddSegment(segments_.Int(kStart), segments_.Int(kDur), segments_.Int(kKinds));
        TRACEDB_TRY(NextSegment());
      }
      TRACEDB_TRY(AddKernels(lane, pieces, std::numeric_limits<int64_t>::max()));
      pieces.End();
      std::string json = fmt::format("{{\"rank\":{}", std::get<0>(lane));
      AppendJsonField(json, "device", std::get<1>(lane));
      lanes += (lanes.empty() ? "" : ",\n") + json + ",\"cells\":[" + pieces.Cells() + "]}";
    }
    return lanes;
  }

 private:
  static constexpr size_t kRank = 1, kDevice = 2, kStart = 3, kDur = 4, kKinds = 5;
  static constexpr size_t kParallelism = 5, kWait = 6, kRoot = 7, kCause = 8, kName = 9;

  static Lane LaneOf(const QueryRows& rows) { return {rows.Int(kRank), rows.Text(kDevice)}; }

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
    while (has_kernel_ && LaneOf(kernels_) == lane && kernels_.Int(kStart) < end_ns) {
      LaneKernel kernel;
      kernel.start_ns = kernels_.Int(kStart);
      kernel.end_ns = kernel.start_ns + kernels_.Int(kDur);
      kernel.wait_end_ns = kernel.start_ns + kernels_.Int(kWait);
      kernel.parallelism = kernels_.Text(kParallelism);
      kernel.is_schedule = kernels_.Text(kCause) == "schedule";
      if (!kernels_.IsNull(kRoot)) {
        kernel.root_rank = kernels_.Int(kRoot);
        kernel.root_name = kernels_.Text(kName);
        if (kernels_.Int(kRoot) != std::get<0>(lane)) {
          shares_.waiting[{kernels_.Int(kRoot), kernels_.Text(kName)}].insert(std::get<0>(lane));
        }
      }
      pieces.AddKernel(std::move(kernel));
      TRACEDB_TRY(NextKernel());
    }
    return Done{};
  }

  QueryRows segments_;
  QueryRows kernels_;
  const Gaps& gaps_;
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

Result<LaneShares> MakeLaneShares(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                                  int64_t cells_max) {
  LaneShares shares;
  TRACEDB_ASSIGN(range, RangeOf(db, run));
  if (range.lanes == 0 || range.last_ns <= range.first_ns) return shares;
  const int64_t pieces = std::clamp(cells_max / range.lanes, kPiecesMin, kPiecesMax);
  TRACEDB_ASSIGN(gaps, ReadGaps(db, catalog, run));
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
