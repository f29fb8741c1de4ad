-- reads: _collective_part _process_group captures collectives origin runs
WITH met_part AS (
  SELECT
    slice_id AS id, capture_id, group_id, pair, by_seq, match_no, rank, dur_ns,
    aligned_ts_ns - zero_ns AS start_ns
  FROM collectives
  CROSS JOIN origin
  WHERE
    NOT group_id IS NULL
), met_place AS (
  SELECT
    id, capture_id, group_id, pair, by_seq, match_no, rank, dur_ns, start_ns,
    ROW_NUMBER() OVER (
      PARTITION BY capture_id, group_id, pair, by_seq, match_no
      ORDER BY start_ns DESC, rank NULLS FIRST, id NULLS FIRST
    ) AS from_last,
    ROW_NUMBER() OVER (
      PARTITION BY capture_id, group_id, pair, by_seq, match_no
      ORDER BY start_ns NULLS FIRST, rank NULLS FIRST, id NULLS FIRST
    ) AS from_first
  FROM met_part
), met_instance AS (
  SELECT
    capture_id, group_id, pair, by_seq, match_no,
    MIN(id) AS any_id,
    COUNT(*) AS ranks_met,
    CASE WHEN MIN(rank) < MAX(rank) THEN 1 ELSE 0 END AS is_met,
    MIN(start_ns) AS first_ns,
    MAX(start_ns) AS last_ns,
    SUM(start_ns) AS sum_ns,
    MIN(CASE WHEN dur_ns >= 0 THEN dur_ns END) AS transfer_ns,
    MAX(CASE WHEN from_last = 1 THEN id END) AS last_id,
    MAX(CASE WHEN from_first = 1 THEN rank END) AS first_rank
  FROM met_place
  GROUP BY
    capture_id, group_id, pair, by_seq, match_no
), met_shortest AS (
  SELECT
    group_id,
    COALESCE(collective, '') AS collective,
    COALESCE(in_bytes, -1) AS in_bytes,
    COALESCE(out_bytes, -1) AS out_bytes,
    MIN(dur_ns) AS shortest_ns
  FROM _collective_part
  WHERE
    NOT group_id IS NULL AND dur_ns >= 0
  GROUP BY
    group_id,
    COALESCE(collective, ''),
    COALESCE(in_bytes, -1),
    COALESCE(out_bytes, -1)
), met_whole AS (
  SELECT
    c.capture_id AS capture_id
  FROM captures AS c
  JOIN runs AS r
    ON r.run_id = c.run_id
  WHERE
    c.ranks = r.ranks
)
SELECT
  p.id AS slice_id, p.trace_id AS trace_id, p.capture_id AS capture_id, p.group_id AS group_id,
  p.collective AS collective, p.dtype AS dtype, p.ordinal AS ordinal, p.seq AS seq, p.step AS step,
  CASE
    WHEN COALESCE(p.in_bytes, p.out_bytes) > COALESCE(p.out_bytes, p.in_bytes)
    THEN p.in_bytes
    ELSE COALESCE(p.out_bytes, p.in_bytes)
  END AS bytes, i.ranks_met AS ranks_met, i.first_rank AS first_rank,
  CASE WHEN i.last_ns > i.first_ns THEN p.rank END AS last_rank,
  i.first_ns + zero_ns AS first_start_ns,
  i.last_ns + zero_ns AS last_start_ns,
  i.ranks_met * i.last_ns - i.sum_ns AS wait_ns,
  i.last_ns - i.first_ns AS max_wait_ns,
  i.transfer_ns AS transfer_ns, 0 AS is_estimate
FROM met_instance AS i
CROSS JOIN origin
JOIN _collective_part AS p
  ON p.id = i.last_id
WHERE
  i.is_met = 1
UNION ALL
SELECT
  p.id AS slice_id, p.trace_id AS trace_id, p.capture_id AS capture_id, p.group_id AS group_id,
  p.collective AS collective, p.dtype AS dtype, p.ordinal AS ordinal, p.seq AS seq, p.step AS step,
  CASE
    WHEN COALESCE(p.in_bytes, p.out_bytes) > COALESCE(p.out_bytes, p.in_bytes)
    THEN p.in_bytes
    ELSE COALESCE(p.out_bytes, p.in_bytes)
  END AS bytes, 1 AS ranks_met, p.rank AS first_rank,
  NO_INT() AS last_rank,
  i.first_ns + zero_ns AS first_start_ns,
  NO_INT() AS last_start_ns,
  p.dur_ns - s.shortest_ns AS wait_ns,
  p.dur_ns - s.shortest_ns AS max_wait_ns,
  s.shortest_ns AS transfer_ns, 1 AS is_estimate
FROM met_instance AS i
CROSS JOIN origin
JOIN _collective_part AS p
  ON p.id = i.any_id
JOIN _process_group AS g
  ON g.group_id = p.group_id
JOIN met_whole AS w
  ON w.capture_id = i.capture_id
JOIN met_shortest AS s
  ON s.group_id = p.group_id
  AND s.collective = COALESCE(p.collective, '')
  AND s.in_bytes = COALESCE(p.in_bytes, -1)
  AND s.out_bytes = COALESCE(p.out_bytes, -1)
WHERE
  i.is_met = 0 AND p.dur_ns >= 0 AND g.size > 1
