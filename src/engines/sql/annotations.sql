-- reads: host_uses traces
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
), by_rank AS (
  SELECT
    t.run AS run, h.rank AS rank, h.name AS name,
    SUM(h.calls) AS calls,
    SUM(h.total_ns) AS total_ns,
    SUM(h.self_ns) AS self_ns,
    SUM(h.gpu_ns) AS gpu_ns,
    SUM(h.self_gpu_ns) AS self_gpu_ns,
    SUM(h.backward_gpu_ns) AS backward_gpu_ns,
    SUM(h.activities) AS activities
  FROM host_uses AS h
  JOIN trace AS t
    ON t.trace_id = h.trace_id
  WHERE
    h.kind = 'annotation' AND (
      ALL_OF(step) OR ONE_OF(step, h.step)
    )
  GROUP BY
    t.run, h.rank, h.name
), placed AS (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY run, name ORDER BY total_ns DESC,
      rank NULLS FIRST) AS from_most,
    ROW_NUMBER() OVER (PARTITION BY run, name ORDER BY total_ns NULLS FIRST,
      rank NULLS FIRST) AS from_least
  FROM by_rank
), summed AS (
  SELECT
    run, name,
    SUM(calls) AS calls,
    SUM(total_ns) AS total_ns,
    SUM(self_ns) AS self_ns,
    SUM(gpu_ns) AS gpu_ns,
    SUM(self_gpu_ns) AS self_gpu_ns,
    SUM(backward_gpu_ns) AS backward_gpu_ns,
    SUM(activities) AS activities,
    COUNT(*) AS ranks,
    MAX(rank) FILTER(WHERE
      from_most = 1) AS most_rank,
    MAX(total_ns) AS most_ns,
    MAX(rank) FILTER(WHERE
      from_least = 1) AS least_rank,
    MIN(total_ns) AS least_ns,
    ROW_NUMBER() OVER (PARTITION BY run ORDER BY SUM(total_ns) DESC, name NULLS FIRST) AS place
  FROM placed
  GROUP BY
    run, name
)
SELECT
  run, name, calls,
  total_ns / 1e6 AS host_ms,
  1.0e0 * total_ns / calls / 1e6 AS mean_ms,
  self_ns / 1e6 AS self_host_ms,
  gpu_ns / 1e6 AS gpu_ms,
  self_gpu_ns / 1e6 AS self_gpu_ms,
  backward_gpu_ns / 1e6 AS backward_gpu_ms,
  activities, ranks, most_rank,
  most_ns / 1e6 AS most_rank_ms,
  least_rank,
  least_ns / 1e6 AS least_rank_ms
FROM summed
WHERE
  place <= COALESCE(GIVEN(limit), 50) OR GIVEN(limit) < 0
ORDER BY
  run NULLS FIRST, place NULLS FIRST
