-- reads: captures runs steps traces
WITH numbered AS (
  SELECT
    t.capture_id AS capture_id,
    MIN(s.step) AS first_step,
    MAX(s.step) AS last_step
  FROM steps AS s
  JOIN traces AS t
    ON t.trace_id = s.trace_id
  GROUP BY
    t.capture_id
)
SELECT
  c.run AS run, c.capture AS capture, c.ranks AS ranks,
  (
    c.start_ns - r.start_ns
  ) / 1e6 AS start_ms,
  (
    c.end_ns - c.start_ns
  ) / 1e6 AS length_ms,
  n.first_step AS first_step, n.last_step AS last_step
FROM captures AS c
JOIN runs AS r
  ON r.run_id = c.run_id
LEFT JOIN numbered AS n
  ON n.capture_id = c.capture_id
WHERE
  ALL_OF(run) OR c.run = GIVEN(run)
ORDER BY
  c.run NULLS FIRST, c.capture NULLS FIRST
