-- reads: issues steps stream_uses traces
SELECT
  run,
  capture,
  trace_id,
  rank,
  world_size,
  gpu_name,
  events,
  slices,
  gpu_activities AS kernels,
  COALESCE((
    SELECT
      COUNT(*)
    FROM stream_uses AS s
    WHERE
      s.trace_id = t.trace_id
  ), 0) AS streams,
  COALESCE((
    SELECT
      COUNT(*)
    FROM steps AS s
    WHERE
      s.trace_id = t.trace_id
  ), 0) AS steps,
  (
    end_ns - start_ns
  ) / 1e6 AS duration_ms,
  skipped_events,
  COALESCE((
    SELECT
      COUNT(*)
    FROM issues AS i
    WHERE
      i.trace_id = t.trace_id
  ), 0) AS issues,
  complete,
  path
FROM traces AS t
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
ORDER BY
  run NULLS FIRST,
  capture NULLS FIRST,
  rank NULLS FIRST,
  trace_id NULLS FIRST
