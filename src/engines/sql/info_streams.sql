-- reads: stream_uses traces
WITH used AS (
  SELECT
    t.run AS run, s.rank AS rank, s.device AS device, s.stream AS stream, s.trace_id AS trace_id,
    s.activities AS activities,
    MAX(s.end_ns) OVER one - MIN(s.start_ns) OVER one AS span_ns,
    ROW_NUMBER() OVER (PARTITION BY s.trace_id, s.device ORDER BY s.stream NULLS FIRST) AS place
  FROM stream_uses AS s
  JOIN traces AS t
    ON t.trace_id = s.trace_id
  WHERE
    (
      ALL_OF(run) OR t.run = GIVEN(run)
    )
    AND (
      ALL_OF(capture) OR t.capture = GIVEN(capture)
    )
    AND (
      ALL_OF(rank) OR ONE_OF(rank, t.rank)
    )
  WINDOW one AS (PARTITION BY s.trace_id, s.device)
)
SELECT
  run, rank, device,
  COUNT(DISTINCT stream) AS streams,
  SUM(activities) AS activities,
  SUM(span_ns) FILTER(WHERE
    place = 1) / 1e6 AS duration_ms
FROM used
GROUP BY
  run, rank, device
ORDER BY
  run NULLS FIRST, rank NULLS FIRST,
  TEXT_INT(device) NULLS FIRST,
  device NULLS FIRST
