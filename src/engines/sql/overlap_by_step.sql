-- reads: device_uses step_uses traces
WITH trace AS (
  SELECT
    trace_id, run, capture, rank, run_start_ns
  FROM traces
  WHERE
    (
      ALL_OF(run) OR run = GIVEN(run)
    )
    AND (
      ALL_OF(capture) OR capture = GIVEN(capture)
    )
    AND (
      ALL_OF(rank) OR ONE_OF(rank, rank)
    )
), cuts AS (
  SELECT DISTINCT
    trace_id, rank
  FROM device_uses
  WHERE
    trace_id IN (
      SELECT
        trace_id
      FROM trace
    )
), used AS (
  SELECT
    d.trace_id AS trace_id, s.device AS device, s.step AS step,
    COALESCE(s.start_ns, 0) AS from_ns,
    COALESCE(s.end_ns, 1) AS to_ns,
    s.compute_ns AS compute_ns, s.communication_ns AS communication_ns, s.overlap_ns AS overlap_ns,
    s.exposed_memory_ns AS exposed_memory_ns
  FROM cuts AS d
  LEFT JOIN step_uses AS s
    ON s.trace_id = d.trace_id
  WHERE
    IS_CUT(s.trace_id, d.rank)
)
SELECT
  t.run AS run, t.capture AS capture, t.rank AS rank, u.device AS device, u.step AS step,
  (
    u.from_ns - t.run_start_ns
  ) / 1e6 AS start_ms,
  (
    u.to_ns - u.from_ns
  ) / 1e6 AS span_ms,
  u.compute_ns / 1e6 AS compute_ms,
  u.communication_ns / 1e6 AS comm_ms,
  u.overlap_ns / 1e6 AS overlap_ms,
  100.0e0 * u.overlap_ns / NULLIF(u.communication_ns, 0) AS overlap_pct,
  (
    u.communication_ns - u.overlap_ns
  ) / 1e6 AS exposed_comm_ms,
  u.exposed_memory_ns / 1e6 AS exposed_memory_ms,
  (
    u.to_ns - u.from_ns - u.compute_ns - u.communication_ns + u.overlap_ns - u.exposed_memory_ns
  ) / 1e6 AS idle_ms
FROM used AS u
JOIN trace AS t
  ON t.trace_id = u.trace_id
WHERE
  NOT u.step IS NULL OR u.to_ns > u.from_ns
ORDER BY
  t.run NULLS FIRST, t.capture NULLS FIRST, t.rank NULLS FIRST,
  TEXT_INT(u.device) NULLS FIRST,
  u.device NULLS FIRST, u.trace_id NULLS FIRST, u.from_ns NULLS FIRST, u.step NULLS FIRST
