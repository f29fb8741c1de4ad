// Of collectives alone: what late ranks did by themselves between two of them, and took longer for
// than ranks of their role (MODEL.md, "Collectives alone").
#pragma once

#include <optional>
#include <set>

#include "replay/changes/late_slices.h"
#include "replay/changes/own_moments.h"
#include "replay/changes/own_waits.h"
#include "replay/graph/replay_graph.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class StopWatch;

// What does not depend on who is late: found when it is first asked for, and kept.
struct OwnTimes {
  std::optional<OwnWaits> waits;
  std::optional<OwnMoments> moments;
};

// What is done with own work that is like nothing that peers do.
enum class Untold { kIsError, kStays, kGoes };

// In the steps in which they were late the own work of these ranks takes no longer than that of
// their peers. kIsError: kQuery where a rank has no peers and was late by more than its host, and
// where what is like nothing may be more than a tenth of the gain.
Status EvenOwnWork(SqliteDb& db, const ReplayGraph& graph, const std::set<int64_t>& ranks,
                   const Lateness& late, Untold untold, OwnTimes& times, StopWatch& watch,
                   EdgeTimes& weights);

}  // namespace tracedb
