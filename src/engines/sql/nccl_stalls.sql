-- reads: clock_residuals collective_causes collectives matched_collectives process_groups
-- reads: rank_clocks traces
WITH judged AS (
  SELECT
    m.*,
    ROW_NUMBER() OVER (
      PARTITION BY t.run_id
      ORDER BY m.wait_ns DESC, m.first_start_ns NULLS FIRST, g.ranks NULLS FIRST,
        m.ordinal NULLS FIRST, m.slice_id NULLS FIRST
    ) AS place
  FROM matched_collectives AS m
  JOIN traces AS t
    ON t.trace_id = m.trace_id
  JOIN process_groups AS g
    ON g.group_id = m.group_id
  WHERE
    (
      ALL_OF(rank) OR ONE_OF(rank, m.last_rank)
    )
    AND (
      ALL_OF(run) OR t.run = GIVEN(run)
    )
    AND (
      ALL_OF(capture) OR t.capture = GIVEN(capture)
    )
), clock AS (
  SELECT
    t.capture_id AS capture_id, c.rank AS rank, c.clock AS clock
  FROM rank_clocks AS c
  JOIN traces AS t
    ON t.trace_id = c.trace_id
), doubt AS (
  SELECT
    capture_id, clock_a, clock_b,
    MAX(residual_p95_ns) AS open_ns
  FROM (
    SELECT
      capture_id, clock_a, clock_b, residual_p95_ns
    FROM clock_residuals
    UNION ALL
    SELECT
      capture_id, clock_b, clock_a, residual_p95_ns
    FROM clock_residuals
  )
  GROUP BY
    capture_id, clock_a, clock_b
), shorter AS (
  SELECT
    m.slice_id AS slice_id
  FROM judged AS m
  JOIN collectives AS p
    ON p.slice_id = m.slice_id
  JOIN collectives AS q
    ON q.capture_id = p.capture_id
    AND q.group_id = p.group_id
    AND q.pair = p.pair
    AND q.by_seq = p.by_seq
    AND q.match_no = p.match_no
  WHERE
    m.is_estimate = 0
    AND m.max_wait_ns >= 200000
    AND p.pair = ''
    AND q.dur_ns >= 0
    AND NOT LOWER(p.collective) IN ('broadcast', '_broadcast', '_broadcast_oop', 'reduce',
      '_reduce', '_reduce_oop', 'gather', 'scatter')
  GROUP BY
    m.slice_id, m.max_wait_ns
  HAVING
    2 * (
      MAX(q.dur_ns) - MIN(q.dur_ns)
    ) <= m.max_wait_ns
), united AS (
  SELECT
    t.run_id AS run_id, m.place AS place, t.run AS run, t.capture AS capture,
    m.collective AS collective, g.name AS group_name, g.description AS group_description,
    g.ranks AS group_ranks, m.ordinal AS ordinal, m.step AS step, m.bytes AS bytes,
    (
      m.first_start_ns - t.run_start_ns
    ) / 1e6 AS start_ms,
    m.last_rank AS culprit_rank,
    m.wait_ns / 1e6 AS total_wait_ms,
    m.max_wait_ns / 1e6 AS max_wait_ms,
    m.transfer_ns / 1e6 AS transfer_ms,
    c.cause AS cause, c.cause_short AS cause_name, c.root_rank AS root_rank,
    c.root_cause AS root_cause, c.root_short AS root_name, m.first_rank AS first_rank,
    m.ranks_met AS ranks_met, m.is_estimate AS is_estimate,
    CASE WHEN d.open_ns > m.max_wait_ns OR NOT s.slice_id IS NULL THEN 1 ELSE 0 END AS uncertain
  FROM judged AS m
  JOIN traces AS t
    ON t.trace_id = m.trace_id
  JOIN process_groups AS g
    ON g.group_id = m.group_id
  LEFT JOIN collective_causes AS c
    ON c.slice_id = m.slice_id AND m.is_estimate = 0
  LEFT JOIN clock AS a
    ON a.capture_id = m.capture_id AND a.rank = m.first_rank
  LEFT JOIN clock AS b
    ON b.capture_id = m.capture_id AND b.rank = m.last_rank
  LEFT JOIN doubt AS d
    ON d.capture_id = m.capture_id AND d.clock_a = a.clock AND d.clock_b = b.clock
  LEFT JOIN shorter AS s
    ON s.slice_id = m.slice_id
  WHERE
    ALL_OF(limit) OR GIVEN(limit) < 0 OR m.place <= GIVEN(limit)
)
SELECT
  run, capture, collective, group_name, group_description, group_ranks, ordinal, step, bytes,
  start_ms, culprit_rank, total_wait_ms, max_wait_ms, transfer_ms, cause, cause_name, root_rank,
  root_cause, root_name, first_rank, ranks_met, is_estimate, uncertain
FROM united
ORDER BY
  run_id NULLS FIRST, place NULLS FIRST, group_name NULLS FIRST, ordinal NULLS FIRST
