-- reads: collective_causes collectives matched_collectives traces
WITH recorded AS (
  SELECT
    trace_id, capture_id, run_id, run, rank
  FROM traces
  WHERE
    (
      ALL_OF(run) OR run = GIVEN(run)
    ) AND (
      ALL_OF(capture) OR capture = GIVEN(capture)
    )
), instance AS (
  SELECT
    capture_id, group_id, pair, by_seq, match_no,
    MAX(aligned_ts_ns) AS last_ns,
    CASE WHEN MIN(rank) < MAX(rank) THEN 1 WHEN NOT (
      MIN(rank) < MAX(rank)
    ) THEN 0 END AS is_met
  FROM collectives
  WHERE
    NOT group_id IS NULL
  GROUP BY
    capture_id, group_id, pair, by_seq, match_no
), part AS (
  SELECT
    c.trace_id AS trace_id, i.is_met AS is_met,
    CASE WHEN i.is_met <> 0 THEN i.last_ns - c.aligned_ts_ns ELSE 0 END AS wait_ns
  FROM instance AS i
  JOIN collectives AS c
    ON c.capture_id = i.capture_id
    AND c.group_id = i.group_id
    AND c.pair = i.pair
    AND c.by_seq = i.by_seq
    AND c.match_no = i.match_no
  UNION ALL
  SELECT
    trace_id, 0, 0
  FROM collectives
  WHERE
    group_id IS NULL
), suffered AS (
  SELECT
    trace_id,
    SUM(is_met) AS collectives,
    SUM(wait_ns) AS wait_ns,
    SUM(CASE WHEN is_met = 0 THEN 1 WHEN NOT (
      is_met = 0
    ) THEN 0 END) AS unmatched
  FROM part
  GROUP BY
    trace_id
), judged AS (
  SELECT
    m.capture_id AS capture_id, m.is_estimate AS is_estimate, m.first_rank AS first_rank,
    m.last_rank AS last_rank, m.wait_ns AS wait_ns, c.root_rank AS root_rank
  FROM matched_collectives AS m
  LEFT JOIN collective_causes AS c
    ON c.slice_id = m.slice_id
), caused AS (
  SELECT
    capture_id, last_rank AS rank,
    COUNT(*) AS times_last,
    SUM(wait_ns) AS wait_ns
  FROM judged
  WHERE
    is_estimate = 0
  GROUP BY
    capture_id, last_rank
), rooted AS (
  SELECT
    capture_id, root_rank AS rank,
    SUM(wait_ns) AS wait_ns
  FROM judged
  WHERE
    is_estimate = 0
  GROUP BY
    capture_id, root_rank
), estimated AS (
  SELECT
    capture_id, first_rank AS rank,
    SUM(wait_ns) AS wait_ns
  FROM judged
  WHERE
    is_estimate <> 0
  GROUP BY
    capture_id, first_rank
)
SELECT
  t.run AS run, t.rank AS rank,
  SUM(s.collectives) AS collectives,
  SUM(COALESCE(c.times_last, 0)) AS times_last,
  SUM(COALESCE(c.wait_ns, 0)) / 1e6 AS caused_wait_ms,
  SUM(s.wait_ns) / 1e6 AS suffered_wait_ms,
  SUM(s.unmatched) AS unmatched,
  SUM(COALESCE(r.wait_ns, 0)) / 1e6 AS root_wait_ms,
  SUM(COALESCE(e.wait_ns, 0)) / 1e6 AS estimated_wait_ms
FROM suffered AS s
JOIN recorded AS t
  ON t.trace_id = s.trace_id
LEFT JOIN caused AS c
  ON c.capture_id = t.capture_id AND c.rank = t.rank
LEFT JOIN rooted AS r
  ON r.capture_id = t.capture_id AND r.rank = t.rank
LEFT JOIN estimated AS e
  ON e.capture_id = t.capture_id AND e.rank = t.rank
GROUP BY
  t.run_id, t.run, t.rank
ORDER BY
  t.run_id NULLS FIRST, caused_wait_ms DESC, t.rank NULLS FIRST
