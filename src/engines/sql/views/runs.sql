-- reads: _run _trace
SELECT
  r.run_id AS run_id, r.run AS run, r.path AS path,
  MAX(t.world_size) AS world_size,
  COUNT(DISTINCT t.rank) AS ranks,
  COUNT(DISTINCT t.capture_id) AS captures,
  COUNT(t.trace_id) AS traces,
  MIN(t.start_ns) AS start_ns,
  MAX(t.end_ns) AS end_ns
FROM _run AS r
LEFT JOIN _trace AS t
  ON t.run_id = r.run_id AND t.is_graph_capture = 0
GROUP BY
  r.run_id, r.run, r.path
