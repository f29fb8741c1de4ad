-- reads: collectives kernels process_groups traces
WITH recorded AS (
  SELECT
    trace_id, capture_id, run_id, run, capture, rank
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
), lone AS (
  SELECT
    capture_id, group_id,
    MIN(slice_id) AS low_id,
    COUNT(*) AS parts,
    pair, by_seq, match_no
  FROM collectives
  WHERE
    NOT group_id IS NULL
  GROUP BY
    capture_id, group_id, pair, by_seq, match_no
  HAVING
    MIN(rank) = MAX(rank)
), part AS (
  SELECT
    low_id AS id
  FROM lone
  WHERE
    parts = 1
  UNION ALL
  SELECT
    p.slice_id AS slice_id
  FROM lone AS l
  JOIN collectives AS p
    ON p.capture_id = l.capture_id
    AND p.group_id = l.group_id
    AND p.pair = l.pair
    AND p.by_seq = l.by_seq
    AND p.match_no = l.match_no
  WHERE
    l.parts > 1
  UNION ALL
  SELECT
    slice_id
  FROM collectives
  WHERE
    group_id IS NULL
), there AS (
  SELECT DISTINCT
    capture_id, rank
  FROM traces
), present AS (
  SELECT
    t.capture_id AS capture_id, g.group_id AS group_id,
    COUNT(*) AS ranks
  FROM (
    SELECT
      group_id, run_id,
      EACH_INT(ranks) AS rank
    FROM process_groups
  ) AS g
  JOIN traces AS t
    ON t.run_id = g.run_id AND t.rank = g.rank
  GROUP BY
    t.capture_id, g.group_id
), told AS (
  SELECT
    p.trace_id AS trace_id, p.collective AS collective, p.group_id AS group_id,
    p.ordinal AS ordinal, p.dur_ns AS dur_ns, p.slice_id AS slice_id, CASE
      WHEN p.group_id IS NULL
      THEN 'no group'
      WHEN g.size = 1
      THEN 'group of one'
      WHEN NOT p.peer IS NULL AND w.rank IS NULL
      THEN 'ranks missing'
      WHEN COALESCE(h.ranks, 0) < 2
      THEN 'ranks missing'
      ELSE 'no counterpart'
    END AS reason
  FROM part AS u
  JOIN collectives AS p
    ON p.slice_id = u.id
  LEFT JOIN process_groups AS g
    ON g.group_id = p.group_id
  LEFT JOIN there AS w
    ON w.capture_id = p.capture_id AND w.rank = p.peer
  LEFT JOIN present AS h
    ON h.capture_id = p.capture_id AND h.group_id = p.group_id
  WHERE
    p.trace_id IN (
      SELECT
        trace_id
      FROM recorded
    )
), named AS (
  SELECT
    t.*,
    COALESCE(t.collective, k.name) AS name
  FROM told AS t
  LEFT JOIN kernels AS k
    ON k.slice_id = t.slice_id
)
SELECT
  r.run AS run, r.capture AS capture, r.rank AS rank, n.name AS collective,
  g.description AS group_description, g.ranks AS group_ranks, n.reason AS reason,
  COUNT(*) AS kernels,
  SUM(LARGER(n.dur_ns, 0)) / 1e6 AS total_ms,
  MIN(n.ordinal) AS first_ordinal,
  MAX(n.ordinal) AS last_ordinal
FROM named AS n
JOIN recorded AS r
  ON r.trace_id = n.trace_id
LEFT JOIN process_groups AS g
  ON g.group_id = n.group_id
GROUP BY
  r.run_id, r.run, r.capture, r.rank, g.description, g.ranks, n.trace_id, n.name, n.group_id,
  n.reason
ORDER BY
  r.run_id NULLS FIRST, r.capture NULLS FIRST, r.rank NULLS FIRST, kernels DESC, n.name NULLS FIRST,
  g.ranks NULLS FIRST, n.reason NULLS FIRST
