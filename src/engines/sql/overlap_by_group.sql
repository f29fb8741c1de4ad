-- reads: _busy_segment _collective_part _track device_uses process_groups traces
WITH recorded AS (
  SELECT
    trace_id, run_id, run, rank
  FROM traces
  WHERE
    (
      ALL_OF(rank) OR ONE_OF(rank, rank)
    )
    AND (
      ALL_OF(run) OR run = GIVEN(run)
    )
    AND (
      ALL_OF(capture) OR capture = GIVEN(capture)
    )
), kernel AS (
  SELECT
    t.trace_id AS trace_id, t.device AS device, p.group_id AS group_id, p.ts_ns AS start_ns,
    p.ts_ns + COALESCE(p.dur_ns, 0) AS end_ns
  FROM _collective_part AS p
  JOIN _track AS t
    ON t.id = p.track
  WHERE
    COALESCE(p.dur_ns, 0) >= 0
    AND p.trace_id IN (
      SELECT
        trace_id
      FROM recorded
    )
    AND (
      ALL_OF(step) OR ONE_OF(step, p.step)
    )
), reached AS (
  SELECT
    *,
    MAX(end_ns) OVER (
      PARTITION BY trace_id, device, group_id
      ORDER BY start_ns NULLS FIRST, end_ns NULLS FIRST
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS until_ns
  FROM kernel
), piece AS (
  SELECT
    trace_id, device, group_id,
    LARGER(start_ns, COALESCE(until_ns, start_ns)) AS start_ns,
    LARGER(end_ns, COALESCE(until_ns, end_ns)) AS end_ns
  FROM reached
), in_time AS (
  SELECT
    trace_id, device, NULL AS group_id, ts_ns AS at_ns, dur_ns AS both_ns, NULL AS sign
  FROM _busy_segment
  WHERE
    kinds IN (3, 7) AND trace_id IN (
      SELECT
        trace_id
      FROM recorded
    )
  UNION ALL
  SELECT
    trace_id, device, group_id, start_ns, 0,
    -1
  FROM piece
  WHERE
    end_ns > start_ns
  UNION ALL
  SELECT
    trace_id, device, group_id, end_ns, 0, 1
  FROM piece
  WHERE
    end_ns > start_ns
), passed AS (
  SELECT
    trace_id, device, group_id, sign,
    (
      SUM(both_ns) OVER so_far
    ) - LARGER(
      0,
      COALESCE((
        MAX(CASE WHEN sign IS NULL THEN at_ns + both_ns ELSE NULL END) OVER so_far
      ) - at_ns, 0)
    ) AS both_ns
  FROM in_time
  WINDOW so_far AS (
    PARTITION BY trace_id, device
    ORDER BY at_ns NULLS FIRST, CASE WHEN NOT sign IS NULL THEN 1 WHEN NOT (
      NOT sign IS NULL
    ) THEN 0 END NULLS FIRST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  )
), overlapped AS (
  SELECT
    trace_id, device, group_id,
    SUM(sign * both_ns) AS overlap_ns
  FROM passed
  WHERE
    NOT sign IS NULL
  GROUP BY
    trace_id, device, group_id
), used AS (
  SELECT
    trace_id, device, group_id,
    COUNT(*) AS kernels,
    SUM(end_ns - start_ns) AS comm_ns
  FROM piece
  GROUP BY
    trace_id, device, group_id
), summed AS (
  SELECT
    r.run_id AS run_id, r.run AS run, r.rank AS rank, u.device AS device, u.group_id AS group_id,
    SUM(u.kernels) AS kernels,
    SUM(u.comm_ns) AS comm_ns,
    SUM(COALESCE(o.overlap_ns, 0)) AS overlap_ns
  FROM used AS u
  JOIN recorded AS r
    ON r.trace_id = u.trace_id
  LEFT JOIN overlapped AS o
    ON o.trace_id = u.trace_id AND o.device = u.device
      AND o.group_id IS NOT DISTINCT FROM u.group_id
  GROUP BY
    r.run_id, r.run, r.rank, u.device, u.group_id
), spanned AS (
  SELECT
    r.run_id AS run_id, r.rank AS rank, d.device AS device,
    SUM(d.end_ns - d.start_ns) AS span_ns
  FROM device_uses AS d
  JOIN recorded AS r
    ON r.trace_id = d.trace_id
  GROUP BY
    r.run_id, r.rank, d.device
)
SELECT
  u.run AS run, u.rank AS rank, u.device AS device,
  COALESCE(n.parallelism, 'other') AS parallelism,
  n.name AS group_name, n.description AS group_description, n.ranks AS group_ranks,
  u.kernels AS kernels,
  u.comm_ns / 1e6 AS comm_ms,
  u.overlap_ns / 1e6 AS overlap_ms,
  100.0e0 * u.overlap_ns / NULLIF(u.comm_ns, 0) AS overlap_pct,
  (
    u.comm_ns - u.overlap_ns
  ) / 1e6 AS exposed_comm_ms,
  100.0e0 * (
    u.comm_ns - u.overlap_ns
  ) / NULLIF(d.span_ns, 0) AS exposed_span_pct
FROM summed AS u
JOIN spanned AS d
  ON d.run_id = u.run_id AND d.rank = u.rank AND d.device = u.device
LEFT JOIN process_groups AS n
  ON n.group_id = u.group_id
ORDER BY
  u.run_id NULLS FIRST, u.rank NULLS FIRST,
  TEXT_INT(u.device) NULLS FIRST,
  u.device NULLS FIRST,
  u.comm_ns - u.overlap_ns DESC,
  n.ranks NULLS FIRST, u.group_id NULLS FIRST
