-- reads: _step_last steps traces
WITH placed AS (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY trace_id, step
      ORDER BY first_ns NULLS FIRST, TEXT_INT(device) NULLS FIRST, device NULLS FIRST
    ) AS place
  FROM (
    SELECT
      trace_id, device, step, activities, start_ns AS first_ns, end_ns AS last_ns, busy_ns
    FROM _step_last
    WHERE
      NOT step IS NULL
  ) AS l
), on_gpu AS (
  SELECT
    trace_id, step,
    SUM(activities) AS activities,
    MIN(first_ns) AS first_ns,
    MAX(last_ns) AS last_ns,
    MAX(device) FILTER(WHERE
      place = 1) AS device,
    MAX(busy_ns) FILTER(WHERE
      place = 1) AS busy_ns
  FROM placed
  GROUP BY
    trace_id, step
), timed AS (
  SELECT
    trace_id, slice_id, step, ts_ns AS start_ns, dur_ns,
    ROW_NUMBER() OVER (PARTITION BY trace_id ORDER BY dur_ns NULLS FIRST,
      slice_id NULLS FIRST) AS place,
    COUNT(*) OVER (PARTITION BY trace_id) AS steps
  FROM steps
  WHERE
    dur_ns >= 0
), middle AS (
  SELECT
    trace_id,
    AVG(dur_ns) AS median_ns
  FROM timed
  WHERE
    place BETWEEN INT_DIV(steps + 1, 2) AND INT_DIV(steps + 2, 2)
  GROUP BY
    trace_id
)
SELECT
  t.run AS run, t.capture AS capture, t.rank AS rank, s.step AS step,
  (
    s.start_ns - t.run_start_ns
  ) / 1e6 AS start_ms,
  s.dur_ns / 1e6 AS step_ms,
  m.median_ns / 1e6 AS median_ms,
  100.0e0 * (
    s.dur_ns - m.median_ns
  ) / NULLIF(m.median_ns, 0) AS over_median_pct,
  COALESCE(g.activities, 0) AS activities,
  (
    g.last_ns - g.first_ns
  ) / 1e6 AS gpu_ms,
  (
    g.first_ns - s.start_ns
  ) / 1e6 AS first_activity_ms,
  (
    g.first_ns - s.start_ns - g.busy_ns
  ) / 1e6 AS idle_before_ms,
  (
    g.last_ns - s.start_ns - s.dur_ns
  ) / 1e6 AS lag_ms
FROM timed AS s
JOIN traces AS t
  ON t.trace_id = s.trace_id
JOIN middle AS m
  ON m.trace_id = s.trace_id
LEFT JOIN on_gpu AS g
  ON g.trace_id = s.trace_id AND g.step = s.step
WHERE
  (
    ALL_OF(rank) OR ONE_OF(rank, t.rank)
  )
  AND (
    ALL_OF(run) OR t.run = GIVEN(run)
  )
  AND (
    ALL_OF(capture) OR t.capture = GIVEN(capture)
  )
ORDER BY
  t.run_id NULLS FIRST, t.capture NULLS FIRST, t.rank NULLS FIRST, s.start_ns NULLS FIRST,
  s.slice_id NULLS FIRST
