#include "replay/graph/capture_traces.h"

namespace tracedb {

Result<std::vector<CaptureTrace>> TracesOfCapture(SqliteDb& db, int64_t capture_id) {
  std::vector<CaptureTrace> traces;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT trace_id, rank, first_row, last_row, first_text, "
                                  "last_text FROM _trace WHERE capture_id = ?1 ORDER BY trace_id"));
  TRACEDB_TRY(rows.Bind(1, capture_id));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return traces;
    traces.push_back(
        {rows.Int(0), rows.Int(1), rows.Int(2), rows.Int(3), rows.Int(4), rows.Int(5)});
  }
}

Result<std::unordered_set<int64_t>> ImpossibleTimes(SqliteDb& db) {
  std::unordered_set<int64_t> ids;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT id FROM _impossible_time"));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return ids;
    ids.insert(rows.Int(0));
  }
}

}  // namespace tracedb
