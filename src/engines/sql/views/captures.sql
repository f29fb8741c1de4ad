-- reads: _capture _run _trace
SELECT
  c.capture_id AS capture_id, c.run_id AS run_id, r.run AS run, c.capture AS capture,
  COUNT(*) AS ranks,
  MIN(t.start_ns) AS start_ns,
  MAX(t.end_ns) AS end_ns
FROM _capture AS c
JOIN _run AS r
  ON r.run_id = c.run_id
JOIN _trace AS t
  ON t.capture_id = c.capture_id
GROUP BY
  c.capture_id, c.run_id, r.run, c.capture
