-- reads: collective_causes collectives matched_collectives origin traces
WITH recorded AS (
  SELECT
    trace_id,
    capture_id,
    run_id,
    run,
    rank
  FROM traces
  WHERE
    (
      ALL_OF(run) OR run = GIVEN(run)
    ) AND (
      ALL_OF(capture) OR capture = GIVEN(capture)
    )
), timed AS (
  SELECT
    trace_id,
    capture_id,
    rank,
    group_id,
    pair,
    by_seq,
    match_no,
    aligned_ts_ns - zero_ns AS start_ns
  FROM collectives
  CROSS JOIN origin
), instance AS (
  SELECT
    capture_id,
    group_id,
    pair,
    by_seq,
    match_no,
    MAX(start_ns) AS last_ns,
    CASE WHEN MIN(rank) < MAX(rank) THEN 1 WHEN NOT (
      MIN(rank) < MAX(rank)
    ) THEN 0 END AS is_met
  FROM timed
  WHERE
    NOT group_id IS NULL
  GROUP BY
    capture_id,
    group_id,
    pair,
    by_seq,
    match_no
), suffered AS (
  SELECT
    t.trace_id AS trace_id,
    SUM(COALESCE(i.is_met, 0)) AS collectives,
    SUM(CASE WHEN i.is_met <> 0 THEN i.last_ns - t.start_ns ELSE 0 END) AS wait_ns,
    SUM(CASE WHEN COALESCE(i.is_met, 0) = 0 THEN 1 WHEN NOT (
      COALESCE(i.is_met, 0) = 0
    ) THEN 0 END) AS unmatched
  FROM timed AS t
  LEFT JOIN instance AS i
    ON i.capture_id = t.capture_id
    AND i.group_id = t.group_id
    AND i.pair = t.pair
    AND i.by_seq = t.by_seq
    AND i.match_no = t.match_no
  GROUP BY
    t.trace_id
), judged AS (
  SELECT
    m.capture_id AS capture_id,
    m.is_estimate AS is_estimate,
    m.first_rank AS first_rank,
    m.last_rank AS last_rank,
    m.wait_ns AS wait_ns,
    c.root_rank AS root_rank
  FROM matched_collectives AS m
  LEFT JOIN collective_causes AS c
    ON c.slice_id = m.slice_id
), caused AS (
  SELECT
    capture_id,
    last_rank AS rank,
    COUNT(*) AS times_last,
    SUM(wait_ns) AS wait_ns
  FROM judged
  WHERE
    is_estimate = 0
  GROUP BY
    capture_id,
    last_rank
), rooted AS (
  SELECT
    capture_id,
    root_rank AS rank,
    SUM(wait_ns) AS wait_ns
  FROM judged
  WHERE
    is_estimate = 0
  GROUP BY
    capture_id,
    root_rank
), estimated AS (
  SELECT
    capture_id,
    first_rank AS rank,
    SUM(wait_ns) AS wait_ns
  FROM judged
  WHERE
    is_estimate <> 0
  GROUP BY
    capture_id,
    first_rank
)
SELECT
  t.run AS run,
  t.rank AS rank,
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
  t.run_id,
  t.run,
  t.rank
ORDER BY
  t.run_id NULLS FIRST,
  caused_wait_ms DESC,
  t.rank NULLS FIRST
