-- reads: captures matched_collectives process_groups
WITH timed AS (
  SELECT
    CASE WHEN LOWER(collective) IN ('send', 'recv') THEN 'sendrecv'
      ELSE collective END AS collective,
    dtype, bytes, group_id, is_estimate,
    CASE WHEN is_estimate <> 0 THEN wait_ns ELSE 0 END + transfer_ns AS took_ns
  FROM matched_collectives
  WHERE
    bytes > 0
    AND transfer_ns > 0
    AND capture_id IN (
      SELECT
        capture_id
      FROM captures
      WHERE
        (
          ALL_OF(run) OR run = GIVEN(run)
        ) AND (
          ALL_OF(capture) OR capture = GIVEN(capture)
        )
    )
), summed AS (
  SELECT
    ROW_NUMBER() OVER (
      ORDER BY collective NULLS FIRST, dtype NULLS FIRST, bytes NULLS FIRST, group_id NULLS FIRST,
        is_estimate NULLS FIRST
    ) AS kind,
    collective, dtype, bytes, group_id, is_estimate,
    COUNT(*) AS n,
    SUM(took_ns) AS total_ns,
    MIN(took_ns) AS best_ns,
    MAX(took_ns) AS worst_ns
  FROM timed
  GROUP BY
    collective, dtype, bytes, group_id, is_estimate
), placed AS (
  SELECT
    s.kind AS kind, s.n AS n, t.took_ns AS took_ns,
    ROW_NUMBER() OVER (PARTITION BY s.kind ORDER BY t.took_ns NULLS FIRST) AS place
  FROM timed AS t
  JOIN summed AS s
    ON s.group_id = t.group_id
    AND s.bytes = t.bytes
    AND s.collective IS NOT DISTINCT FROM t.collective
    AND s.dtype IS NOT DISTINCT FROM t.dtype
    AND s.is_estimate = t.is_estimate
), median AS (
  SELECT
    kind, took_ns AS median_ns
  FROM placed
  WHERE
    place = INT_DIV(n, 2) + 1
), united AS (
  SELECT
    s.collective AS collective, s.dtype AS dtype, s.bytes AS bytes, s.is_estimate AS is_estimate,
    s.n AS n, s.total_ns AS total_ns, s.best_ns AS best_ns, s.worst_ns AS worst_ns,
    m.median_ns AS median_ns, g.run_id AS run_id, g.run AS run, g.description AS description,
    g.ranks AS ranks, g.size AS size, s.group_id AS group_id
  FROM summed AS s
  JOIN median AS m
    ON m.kind = s.kind
  JOIN process_groups AS g
    ON g.group_id = s.group_id
), factored AS (
  SELECT
    *,
    CASE
      WHEN plain LIKE '%allreduce%'
      THEN 2.0e0 * (
        size - 1
      ) / size
      WHEN plain LIKE '%reducescatter%'
      OR plain LIKE '%allgather%'
      OR plain LIKE '%alltoall%'
      OR plain LIKE '%gather%'
      OR plain LIKE '%scatter%'
      THEN 1.0e0 * (
        size - 1
      ) / size
      WHEN plain LIKE '%broadcast%' OR plain LIKE '%reduce%' OR plain = 'sendrecv'
      THEN 1.0e0
    END AS factor
  FROM (
    SELECT
      *,
      LOWER(REPLACE(collective, '_', '')) AS plain
    FROM united
  )
), listed AS (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY run_id
      ORDER BY collective NULLS FIRST, bytes DESC, ranks NULLS FIRST, dtype NULLS FIRST,
        is_estimate NULLS FIRST, group_id NULLS FIRST, description NULLS FIRST
    ) AS place
  FROM factored
)
SELECT
  run, collective, dtype, bytes, description AS group_description, ranks AS group_ranks,
  size AS group_size, n AS collectives,
  1.0e0 * bytes / best_ns AS best_algbw_gbps,
  1.0e0 * bytes / median_ns AS median_algbw_gbps,
  1.0e0 * bytes / worst_ns AS worst_algbw_gbps,
  factor * bytes / best_ns AS best_busbw_gbps,
  factor * bytes / median_ns AS median_busbw_gbps,
  factor * bytes / worst_ns AS worst_busbw_gbps,
  total_ns / 1e6 AS transfer_ms,
  is_estimate
FROM listed
WHERE
  ALL_OF(limit) OR GIVEN(limit) < 0 OR place <= GIVEN(limit)
ORDER BY
  run_id NULLS FIRST, place NULLS FIRST
