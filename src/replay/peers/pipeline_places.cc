#include "replay/peers/pipeline_places.h"

#include <set>

namespace tracedb {

Result<std::map<int64_t, int64_t>> PipelinePlaces(SqliteDb& db, const JobRows& job) {
  std::map<int64_t, int64_t> places;
  if (job.traces.empty()) return places;
  std::set<int64_t> wanted;
  for (const JobTrace& trace : job.traces) wanted.insert(trace.rank);
  // All groups once: of a thousand ranks each is in some.
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT r.value, rank() OVER (PARTITION BY g.group_id "
                                  "ORDER BY r.value) - 1 AS place "
                                  "FROM _process_group g, json_each(g.ranks) r "
                                  "WHERE g.parallelism = 'pipeline' AND g.run_id = "
                                  "(SELECT run_id FROM _trace WHERE trace_id = ?1) "
                                  "ORDER BY g.size, place"));
  TRACEDB_TRY(rows.Bind(1, job.traces.front().trace_id));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return places;
    const bool is_rank = rows.Type(0) == SqlType::kInteger && wanted.contains(rows.Int(0));
    if (is_rank) places[rows.Int(0)] = rows.Int(1);
  }
}

Result<bool> HasMessages(SqliteDb& db, const JobRows& job) {
  if (job.traces.empty()) return false;
  // Of the capture, by the index that begins with it.
  TRACEDB_ASSIGN(row, db.Prepare("SELECT EXISTS (SELECT 1 FROM _collective_part "
                                 "WHERE capture_id = (SELECT capture_id FROM _trace "
                                 "WHERE trace_id = ?1) AND (pair <> '' OR group_id IS NULL "
                                 "  AND collective IN ('send', 'recv', 'sendrecv')))"));
  TRACEDB_TRY(row.Bind(1, job.traces.front().trace_id));
  TRACEDB_ASSIGN(any, row.Step());
  return any && row.Int(0) != 0;
}

}  // namespace tracedb
