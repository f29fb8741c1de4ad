-- reads: args_texts host_uses kernel_uses traces
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
), called AS (
  SELECT
    t.run AS run, h.rank AS rank, h.name AS name, h.args_id AS args_id, h.calls AS calls,
    h.total_ns AS total_ns, h.self_ns AS self_ns, h.gpu_ns AS gpu_ns, h.self_gpu_ns AS self_gpu_ns,
    h.backward_gpu_ns AS backward_gpu_ns, h.activities AS activities
  FROM host_uses AS h
  JOIN trace AS t
    ON t.trace_id = h.trace_id
  WHERE
    h.kind = 'operator' AND (
      ALL_OF(step) OR ONE_OF(step, h.step)
    )
), shape AS (
  SELECT
    a.args_id AS args_id,
    MIN(a.args_id) OVER (PARTITION BY a.args) AS shape
  FROM (
    SELECT DISTINCT
      args_id
    FROM called
  ) AS u
  JOIN args_texts AS a
    ON a.args_id = u.args_id
  WHERE
    NOT a.args IS NULL
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
    u.run AS run, u.name AS name,
    SUM(u.calls) AS calls,
    SUM(u.total_ns) AS total_ns,
    SUM(u.self_ns) AS self_ns,
    SUM(u.gpu_ns) AS gpu_ns,
    SUM(u.self_gpu_ns) AS self_gpu_ns,
    SUM(u.backward_gpu_ns) AS backward_gpu_ns,
    SUM(u.activities) AS activities,
    COUNT(DISTINCT s.shape) FILTER(WHERE
      u.calls > 0) AS shapes,
    COUNT(DISTINCT u.rank) FILTER(WHERE
      u.calls > 0) AS ranks
  FROM called AS u
  LEFT JOIN shape AS s
    ON s.args_id = u.args_id
  GROUP BY
    u.run, u.name
), placed AS (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY run ORDER BY self_gpu_ns + self_ns DESC,
      name NULLS FIRST) AS place
  FROM summed
)
SELECT
  u.run AS run, u.name AS name, u.calls AS calls,
  u.total_ns / 1e6 AS host_ms,
  u.self_ns / 1e6 AS self_host_ms,
  u.gpu_ns / 1e6 AS gpu_ms,
  u.self_gpu_ns / 1e6 AS self_gpu_ms,
  100.0e0 * u.self_gpu_ns / NULLIF(w.gpu_ns, 0) AS self_share_pct,
  u.backward_gpu_ns / 1e6 AS backward_gpu_ms,
  u.activities AS activities, u.shapes AS shapes, u.ranks AS ranks
FROM placed AS u
LEFT JOIN whole AS w
  ON w.run = u.run
WHERE
  u.place <= COALESCE(GIVEN(limit), 30) OR GIVEN(limit) < 0
ORDER BY
  u.run NULLS FIRST, u.place NULLS FIRST
