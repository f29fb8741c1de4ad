-- reads: _step _trace _track
SELECT
  t.rank AS rank, s.step AS step,
  s.ts + t.base_ns AS ts_ns,
  s.dur AS dur_ns, t.trace_id AS trace_id, s.id AS slice_id,
  s.ts + t.base_ns + s.dur AS end_ns,
  NO_REAL() AS start_ms,
  s.track AS track_id
FROM _step AS s
LEFT JOIN _track AS t
  ON t.id = s.track
WHERE
  NOT t.trace_id IN (
    SELECT
      trace_id
    FROM _trace
    WHERE
      is_graph_capture <> 0
  )
