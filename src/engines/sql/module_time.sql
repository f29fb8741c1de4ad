-- reads: host_uses kernel_uses traces
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
), whole AS (
  SELECT
    t.run AS run,
    SUM(k.gpu_ns) AS gpu_ns
  FROM kernel_uses AS k
  JOIN trace AS t
    ON t.trace_id = k.trace_id
  WHERE
    ALL_OF(step) OR ONE_OF(step, k.step)
  GROUP BY
    t.run
), summed AS (
  SELECT
    t.run AS run, u.kind AS kind, u.name AS name,
    SUM(u.calls) AS calls,
    SUM(u.gpu_ns) AS gpu_ns,
    SUM(u.backward_gpu_ns) AS backward_gpu_ns,
    SUM(u.self_gpu_ns) AS self_gpu_ns,
    SUM(u.self_backward_gpu_ns) AS self_backward_gpu_ns,
    SUM(u.total_ns) AS total_ns,
    SUM(u.self_ns) AS self_ns,
    SUM(u.activities) AS activities,
    COUNT(DISTINCT u.rank) FILTER(WHERE
      u.calls > 0) AS ranks
  FROM host_uses AS u
  JOIN trace AS t
    ON t.trace_id = u.trace_id
  WHERE
    u.kind IN ('function', 'module')
    AND (
      ALL_OF(step) OR ONE_OF(step, u.step)
    )
    AND (
      ALL_OF(kind) OR u.kind = GIVEN(kind)
    )
  GROUP BY
    t.run, u.kind, u.name
), placed AS (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY run ORDER BY gpu_ns + backward_gpu_ns DESC, self_ns DESC,
      kind DESC, name NULLS FIRST) AS place
  FROM summed
)
SELECT
  u.run AS run, u.kind AS kind,
  CASE WHEN u.kind = 'module' THEN SUB_TEXT(u.name, 12) ELSE u.name END AS name,
  u.calls AS calls,
  u.gpu_ns / 1e6 AS gpu_ms,
  u.backward_gpu_ns / 1e6 AS backward_gpu_ms,
  100.0e0 * (
    u.gpu_ns + u.backward_gpu_ns
  ) / NULLIF(w.gpu_ns, 0) AS share_pct,
  u.self_gpu_ns / 1e6 AS self_gpu_ms,
  u.self_backward_gpu_ns / 1e6 AS self_backward_gpu_ms,
  u.total_ns / 1e6 AS host_ms,
  u.self_ns / 1e6 AS self_host_ms,
  u.activities AS activities, u.ranks AS ranks
FROM placed AS u
LEFT JOIN whole AS w
  ON w.run = u.run
WHERE
  u.place <= COALESCE(GIVEN(limit), 40) OR GIVEN(limit) < 0
ORDER BY
  u.run NULLS FIRST, u.place NULLS FIRST
