-- reads: collective_causes matched_collectives traces
WITH stall AS (
  SELECT
    t.run_id AS run_id, t.run AS run, c.root_rank AS root_rank, c.root_cause AS root_cause,
    c.root_name AS root_name, c.root_short AS root_short, m.wait_ns AS wait_ns,
    m.max_wait_ns AS max_wait_ns, m.step AS step,
    CASE WHEN c.root_rank = m.last_rank THEN m.wait_ns ELSE 0 END AS direct_ns
  FROM matched_collectives AS m
  JOIN traces AS t
    ON t.trace_id = m.trace_id
  LEFT JOIN collective_causes AS c
    ON c.slice_id = m.slice_id
  WHERE
    m.is_estimate = 0
    AND m.wait_ns > 0
    AND (
      ALL_OF(run) OR t.run = GIVEN(run)
    )
    AND (
      ALL_OF(capture) OR t.capture = GIVEN(capture)
    )
), summed AS (
  SELECT
    run_id, run, root_rank, root_cause, root_name, root_short,
    COUNT(*) AS collectives,
    SUM(wait_ns) AS all_ns,
    SUM(SUM(wait_ns)) OVER (PARTITION BY run_id) AS run_ns,
    MAX(max_wait_ns) AS most_ns,
    MIN(step) AS first_step,
    MAX(step) AS last_step,
    SUM(direct_ns) AS all_direct_ns,
    ROW_NUMBER() OVER (
      PARTITION BY run_id
      ORDER BY SUM(wait_ns) DESC, root_rank NULLS FIRST, root_cause NULLS FIRST,
        root_name NULLS FIRST
    ) AS place
  FROM stall
  GROUP BY
    run_id, run, root_rank, root_cause, root_name, root_short
)
SELECT
  run, root_rank, root_cause, root_short AS root_name, collectives,
  all_ns / 1e6 AS total_wait_ms,
  100.0e0 * all_ns / run_ns AS share_pct,
  most_ns / 1e6 AS max_wait_ms,
  first_step, last_step,
  all_direct_ns / 1e6 AS direct_wait_ms
FROM summed
WHERE
  ALL_OF(limit) OR GIVEN(limit) < 0 OR place <= GIVEN(limit)
ORDER BY
  run_id NULLS FIRST, place NULLS FIRST
