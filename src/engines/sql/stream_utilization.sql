-- reads: device_uses stream_uses traces
WITH trace AS (
  SELECT
    trace_id, run
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
), span AS (
  SELECT
    t.run AS run, d.rank AS rank, d.device AS device,
    SUM(d.end_ns - d.start_ns) AS span_ns
  FROM trace AS t
  JOIN device_uses AS d
    ON d.trace_id = t.trace_id
  GROUP BY
    t.run, d.rank, d.device
), used AS (
  SELECT
    t.run AS run, s.rank AS rank, s.device AS device, s.stream AS stream,
    SUM(s.activities) AS activities,
    SUM(s.busy_ns) AS busy_ns,
    SUM(s.compute_ns) AS compute_ns,
    SUM(s.communication_ns) AS communication_ns,
    SUM(s.memory_ns) AS memory_ns
  FROM trace AS t
  JOIN stream_uses AS s
    ON s.trace_id = t.trace_id
  GROUP BY
    t.run, s.rank, s.device, s.stream
)
SELECT
  u.run AS run, u.rank AS rank, u.device AS device, u.stream AS stream, u.activities AS activities,
  u.busy_ns / 1e6 AS busy_ms,
  100.0e0 * u.busy_ns / NULLIF(d.span_ns, 0) AS utilization_pct,
  u.compute_ns / 1e6 AS compute_ms,
  u.communication_ns / 1e6 AS comm_ms,
  u.memory_ns / 1e6 AS memory_ms
FROM used AS u
JOIN span AS d
  ON d.run = u.run AND d.rank = u.rank AND d.device = u.device
ORDER BY
  u.run NULLS FIRST, u.rank NULLS FIRST,
  TEXT_INT(u.device) NULLS FIRST,
  u.device NULLS FIRST,
  TEXT_INT(u.stream) NULLS FIRST,
  u.stream NULLS FIRST
