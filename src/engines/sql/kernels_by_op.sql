-- reads: kernel_uses traces
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
), summed AS (
  SELECT
    t.run AS run, u.op AS op, u.forward_op AS forward_op, u.kernel AS kernel,
    SUM(u.activities) AS activities,
    SUM(u.gpu_ns) AS gpu_ns,
    COUNT(DISTINCT u.rank) AS ranks
  FROM kernel_uses AS u
  JOIN trace AS t
    ON t.trace_id = u.trace_id
  WHERE
    ALL_OF(step) OR ONE_OF(step, u.step)
  GROUP BY
    t.run, u.op, u.forward_op, u.kernel
), placed AS (
  SELECT
    *,
    SUM(gpu_ns) OVER (PARTITION BY run) AS run_ns,
    ROW_NUMBER() OVER (PARTITION BY run ORDER BY gpu_ns DESC, kernel NULLS FIRST, op NULLS FIRST,
      forward_op NULLS FIRST) AS place
  FROM summed
)
SELECT
  run, op, forward_op, kernel, activities,
  gpu_ns / 1e6 AS gpu_ms,
  100.0e0 * gpu_ns / NULLIF(run_ns, 0) AS share_pct,
  1.0e0 * gpu_ns / activities / 1e6 AS mean_ms,
  ranks
FROM placed
WHERE
  place <= COALESCE(GIVEN(limit), 30) OR GIVEN(limit) < 0
ORDER BY
  run NULLS FIRST, place NULLS FIRST
