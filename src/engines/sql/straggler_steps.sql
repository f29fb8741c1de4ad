-- reads: collective_causes matched_collectives steps traces
WITH recorded AS (
  SELECT
    trace_id, capture_id, run_id, run, capture, rank
  FROM traces
  WHERE
    (
      ALL_OF(run) OR run = GIVEN(run)
    ) AND (
      ALL_OF(capture) OR capture = GIVEN(capture)
    )
), stall AS (
  SELECT
    m.capture_id AS capture_id, m.step AS step, c.root_rank AS root_rank,
    c.root_cause AS root_cause, c.root_name AS root_name, c.root_short AS root_short,
    m.wait_ns AS wait_ns, m.max_wait_ns AS max_wait_ns
  FROM matched_collectives AS m
  JOIN collective_causes AS c
    ON c.slice_id = m.slice_id
  WHERE
    m.is_estimate = 0 AND m.wait_ns > 0 AND m.capture_id IN (
      SELECT
        capture_id
      FROM recorded
    )
), by_cause AS (
  SELECT
    capture_id, step, root_rank, root_cause, root_name, root_short,
    SUM(wait_ns) AS wait_ns,
    SUM(SUM(wait_ns)) OVER of_rank AS rank_wait_ns,
    MAX(MAX(max_wait_ns)) OVER of_rank AS rank_max_ns,
    SUM(SUM(wait_ns)) OVER (PARTITION BY capture_id, step) AS step_wait_ns
  FROM stall
  GROUP BY
    capture_id, step, root_rank, root_cause, root_name, root_short
  WINDOW of_rank AS (PARTITION BY capture_id, step, root_rank)
), placed AS (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY capture_id, step
      ORDER BY CASE
        WHEN root_cause IS NOT DISTINCT FROM 'schedule'
        THEN 1
        ELSE CASE WHEN 20 * rank_wait_ns >= step_wait_ns THEN 0 ELSE 2 END
      END NULLS FIRST, rank_wait_ns DESC, root_rank NULLS FIRST, wait_ns DESC,
        root_cause NULLS FIRST, root_name NULLS FIRST
    ) AS place
  FROM by_cause
), lasted AS (
  SELECT
    r.capture_id AS capture_id, s.step AS step,
    COUNT(DISTINCT r.rank) AS ranks,
    MAX(s.dur_ns) AS dur_ns,
    MIN(s.ts_ns) AS start_ns,
    MAX(s.ts_ns + s.dur_ns) AS end_ns
  FROM steps AS s
  JOIN recorded AS r
    ON r.trace_id = s.trace_id
  GROUP BY
    r.capture_id, s.step
), named AS (
  SELECT DISTINCT
    capture_id, run_id, run, capture
  FROM recorded
)
SELECT
  n.run AS run, n.capture AS capture, p.step AS step, l.ranks AS ranks,
  l.dur_ns / 1e6 AS step_ms,
  p.root_rank AS slowest_rank,
  p.rank_max_ns / 1e6 AS late_ms,
  p.rank_wait_ns / 1e6 AS caused_wait_ms,
  100.0e0 * p.rank_wait_ns / p.step_wait_ns AS share_pct,
  p.root_cause AS cause,
  '' || p.root_short AS cause_name,
  p.wait_ns / 1e6 AS cause_wait_ms,
  p.step_wait_ns / 1e6 AS total_wait_ms,
  NO_REAL() AS clock_below_pct
FROM placed AS p
JOIN named AS n
  ON n.capture_id = p.capture_id
LEFT JOIN lasted AS l
  ON l.capture_id = p.capture_id AND l.step = p.step
WHERE
  p.place = 1
ORDER BY
  n.run_id NULLS FIRST, n.capture NULLS FIRST, p.step NULLS FIRST
