-- reads: device_uses traces
SELECT
  t.run AS run, u.rank AS rank, u.device AS device,
  SUM(u.end_ns - u.start_ns) / 1e6 AS span_ms,
  SUM(u.compute_ns) / 1e6 AS compute_ms,
  SUM(u.communication_ns) / 1e6 AS comm_ms,
  SUM(u.overlap_ns) / 1e6 AS overlap_ms,
  100.0e0 * SUM(u.overlap_ns) / NULLIF(SUM(u.communication_ns), 0) AS overlap_pct,
  SUM(u.exposed_communication_ns) / 1e6 AS exposed_comm_ms,
  SUM(u.exposed_memory_ns) / 1e6 AS exposed_memory_ms,
  SUM(u.idle_ns) / 1e6 AS idle_ms
FROM device_uses AS u
JOIN traces AS t
  ON t.trace_id = u.trace_id
WHERE
  (
    ALL_OF(run) OR t.run = GIVEN(run)
  )
  AND (
    ALL_OF(capture) OR t.capture = GIVEN(capture)
  )
  AND (
    ALL_OF(rank) OR ONE_OF(rank, u.rank)
  )
GROUP BY
  t.run, u.rank, u.device
ORDER BY
  t.run NULLS FIRST, u.rank NULLS FIRST,
  TEXT_INT(u.device) NULLS FIRST,
  u.device NULLS FIRST
