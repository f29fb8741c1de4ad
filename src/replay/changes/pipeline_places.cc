#include "replay/changes/pipeline_places.h"

namespace tracedb {

Result<std::map<int64_t, int64_t>> PipelinePlaces(SqliteDb& db, const JobRows& job) {
  std::map<int64_t, int64_t> places;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT (SELECT count(*) FROM json_each(ranks) "
                                  "WHERE value < ?1) FROM _process_group "
                                  "WHERE parallelism = 'pipeline' AND run_id = "
                                  "(SELECT run_id FROM _trace WHERE trace_id = ?2) "
                                  "AND ?1 IN (SELECT value FROM json_each(ranks)) "
                                  "ORDER BY size DESC, 1 DESC LIMIT 1"));
  for (const JobTrace& trace : job.traces) {
    TRACEDB_TRY(rows.Bind(1, trace.rank));
    TRACEDB_TRY(rows.Bind(2, trace.trace_id));
    TRACEDB_ASSIGN(any, rows.Step());
    if (any) places[trace.rank] = rows.Int(0);
    rows.Reset();
  }
  return places;
}

Result<bool> HasMessages(SqliteDb& db, const JobRows& job) {
  if (job.traces.empty()) return false;
  // Of the capture, by the index that begins with it.
  TRACEDB_ASSIGN(row, db.Prepare("SELECT EXISTS (SELECT 1 FROM _collective_part "
                                 "WHERE capture_id = (SELECT capture_id FROM _trace "
                                 "WHERE trace_id = ?1) AND pair <> '')"));
  TRACEDB_TRY(row.Bind(1, job.traces.front().trace_id));
  TRACEDB_ASSIGN(any, row.Step());
  return any && row.Int(0) != 0;
}

}  // namespace tracedb
