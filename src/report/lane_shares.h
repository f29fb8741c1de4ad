// What each GPU did over time, on one axis for all ranks: of each of many equal pieces of time the
// shares of computing, communication, waiting and idling, which add up to the piece.
//
// Three queries are read side by side, each in the order of rank, device and start: stretches with
// activities (report/lane_segments), communication kernels (report/lane_communication), and the
// longest gaps with their causes (gpu_gaps). Nothing of them is kept but the pieces of one GPU, so
// memory does not grow with the trace.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/lane_pieces.h"
#include "report/shown_run.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

struct LaneShares {
  // {"start_ms","bin_ms","bins","states":[{"kind","parallelism","rank","name"},...],
  // "lanes":[{"rank","device","cells":[repeat,states,state,share,...]},...]}: a run of `repeat`
  // equal pieces, and of each of its states the share in thousandths. Empty: no GPU activity.
  std::string json;
  // Who waited for a rank that came late: {root, name of what held it up} -> waiting ranks.
  std::map<std::pair<int64_t, std::string>, std::set<int64_t>> waiting;
};

using GpuLane = std::pair<int64_t, std::string>;  // rank, device

// The longest gaps, by lane and by their start on the aligned clocks.
using LaneGaps = std::map<GpuLane, std::map<int64_t, LaneGap>>;

// Of gpu_gaps more rows than it gives by itself. Those that it does are handed to `first`, if that
// is not null: who shows them as well need not ask again.
Result<LaneGaps> ReadLaneGaps(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                              RowSink* first);

// Pieces get fewer the more GPUs there are: about `cells_max` are written.
Result<LaneShares> MakeLaneShares(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                                  const LaneGaps& gaps, int64_t cells_max);

}  // namespace tracedb
