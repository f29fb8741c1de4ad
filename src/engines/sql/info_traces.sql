-- reads: issues steps stream_uses traces
WITH streams_of AS (
  SELECT
    trace_id,
    COUNT(*) AS streams
  FROM stream_uses
  GROUP BY
    trace_id
), steps_of AS (
  SELECT
    trace_id,
    COUNT(*) AS steps
  FROM steps
  GROUP BY
    trace_id
), issues_of AS (
  SELECT
    trace_id,
    COUNT(*) AS issues
  FROM issues
  GROUP BY
    trace_id
)
SELECT
  t.run AS run, t.capture AS capture, t.trace_id AS trace_id, t.rank AS rank,
  t.world_size AS world_size, t.gpu_name AS gpu_name, t.events AS events, t.slices AS slices,
  t.gpu_activities AS kernels,
  COALESCE(u.streams, 0) AS streams,
  COALESCE(s.steps, 0) AS steps,
  (
    t.end_ns - t.start_ns
  ) / 1e6 AS duration_ms,
  t.skipped_events AS skipped_events,
  COALESCE(i.issues, 0) AS issues,
  t.complete AS complete, t.path AS path
FROM traces AS t
LEFT JOIN streams_of AS u
  ON u.trace_id = t.trace_id
LEFT JOIN steps_of AS s
  ON s.trace_id = t.trace_id
LEFT JOIN issues_of AS i
  ON i.trace_id = t.trace_id
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
ORDER BY
  t.run NULLS FIRST, t.capture NULLS FIRST, t.rank NULLS FIRST, t.trace_id NULLS FIRST
