-- reads: _busy_segment _collective_part _track captures collectives origin process_groups traces
WITH part AS (
  SELECT
    c.slice_id AS slice_id, c.capture_id AS capture_id, c.group_id AS group_id, c.pair AS pair,
    c.by_seq AS by_seq, c.match_no AS match_no, c.trace_id AS trace_id, c.rank AS rank,
    t.device AS device, c.step AS step, c.in_bytes AS in_bytes, c.out_bytes AS out_bytes,
    c.ts_ns AS ts_ns,
    c.ts_ns + COALESCE(c.dur_ns, 0) AS end_ns,
    c.aligned_ts_ns AS start_ns,
    MAX(c.ts_ns + COALESCE(c.dur_ns, 0)) OVER (
      PARTITION BY c.group_id, c.trace_id, t.device, c.step
      ORDER BY c.ts_ns NULLS FIRST, c.slice_id NULLS FIRST
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS before_ns
  FROM collectives AS c
  JOIN _collective_part AS q
    ON q.id = c.slice_id
  JOIN _track AS t
    ON t.id = q.track
  WHERE
    c.collective = 'all_to_allv'
    AND NOT c.group_id IS NULL
    AND (
      ALL_OF(step) OR ONE_OF(step, c.step)
    )
    AND c.trace_id IN (
      SELECT
        trace_id
      FROM traces
      WHERE
        (
          ALL_OF(run) OR run = GIVEN(run)
        ) AND (
          ALL_OF(capture) OR capture = GIVEN(capture)
        )
    )
), exchange AS (
  SELECT
    p.capture_id AS capture_id, p.group_id AS group_id, p.pair AS pair, p.by_seq AS by_seq,
    p.match_no AS match_no,
    MAX(p.step) AS step,
    CASE
      WHEN COUNT(*) = COUNT(DISTINCT p.rank) AND COUNT(*) = MAX(g.size)
      THEN 1
      WHEN NOT (
        COUNT(*) = COUNT(DISTINCT p.rank) AND COUNT(*) = MAX(g.size)
      )
      THEN 0
    END AS is_whole, CASE
      WHEN COUNT(p.in_bytes) = COUNT(*) AND COUNT(p.out_bytes) = COUNT(*)
      THEN 1
      WHEN NOT (
        COUNT(p.in_bytes) = COUNT(*) AND COUNT(p.out_bytes) = COUNT(*)
      )
      THEN 0
    END AS is_sized, CASE
      WHEN MAX(p.in_bytes) = MIN(p.in_bytes)
      THEN 1
      WHEN NOT (
        MAX(p.in_bytes) = MIN(p.in_bytes)
      )
      THEN 0
    END AS sends_evenly, CASE
      WHEN MAX(p.out_bytes) = MIN(p.out_bytes)
      THEN 1
      WHEN NOT (
        MAX(p.out_bytes) = MIN(p.out_bytes)
      )
      THEN 0
    END AS receives_evenly, CASE
      WHEN SUM(CASE WHEN p.in_bytes = p.out_bytes THEN 1 ELSE 0 END) = COUNT(*)
      THEN 1
      WHEN NOT (
        SUM(CASE WHEN p.in_bytes = p.out_bytes THEN 1 ELSE 0 END) = COUNT(*)
      )
      THEN 0
    END AS is_symmetric,
    SUM(p.start_ns - o.zero_ns) AS sum_ns,
    MAX(p.start_ns - o.zero_ns) * COUNT(*) AS all_ns
  FROM part AS p
  CROSS JOIN origin AS o
  JOIN process_groups AS g
    ON g.group_id = p.group_id
  GROUP BY
    p.capture_id, p.group_id, p.pair, p.by_seq, p.match_no
), told AS (
  SELECT
    *,
    ROW_NUMBER() OVER (
      ORDER BY capture_id NULLS FIRST, group_id NULLS FIRST, pair NULLS FIRST, by_seq NULLS FIRST,
        match_no NULLS FIRST
    ) AS number,
    CASE
      WHEN is_whole = 0 OR is_sized = 0
      THEN NULL
      WHEN is_symmetric <> 0 OR (
        sends_evenly <> 0 AND receives_evenly <> 0
      )
      THEN 3
      WHEN sends_evenly <> 0
      THEN 1
      WHEN receives_evenly <> 0
      THEN 2
    END AS way,
    CASE WHEN is_whole <> 0 THEN all_ns - sum_ns ELSE 0 END AS wait_ns
  FROM exchange
), load AS (
  SELECT
    e.number AS number, e.capture_id AS capture_id, e.group_id AS group_id, e.step AS step,
    e.way AS way, p.trace_id AS trace_id, p.rank AS rank, p.device AS device, p.ts_ns AS ts_ns,
    p.before_ns AS before_ns, p.start_ns AS start_ns,
    CASE WHEN e.way = 2 THEN p.in_bytes ELSE p.out_bytes END AS bytes
  FROM told AS e
  JOIN part AS p
    ON p.capture_id = e.capture_id
    AND p.group_id = e.group_id
    AND p.pair = e.pair
    AND p.by_seq = e.by_seq
    AND p.match_no = e.match_no
  WHERE
    NOT e.way IS NULL
), of_rank AS (
  SELECT
    capture_id, group_id, step, rank,
    SUM(bytes) AS bytes
  FROM load
  GROUP BY
    capture_id, group_id, step, rank
), of_group AS (
  SELECT
    capture_id, group_id, step,
    MAX(bytes) AS most_bytes,
    MIN(bytes) AS least_bytes,
    AVG(bytes) AS mean_bytes,
    SUM(bytes) AS all_bytes
  FROM of_rank
  GROUP BY
    capture_id, group_id, step
), most AS (
  SELECT
    o.capture_id AS capture_id, o.group_id AS group_id, o.step AS step,
    MIN(o.rank) AS rank
  FROM of_rank AS o
  JOIN of_group AS g
    ON g.capture_id = o.capture_id AND g.group_id = o.group_id
      AND g.step IS NOT DISTINCT FROM o.step
  WHERE
    o.bytes = g.most_bytes AND g.most_bytes > g.least_bytes
  GROUP BY
    o.capture_id, o.group_id, o.step
), worst AS (
  SELECT
    capture_id, group_id, step,
    MAX(ratio) AS ratio
  FROM (
    SELECT
      capture_id, group_id, step,
      1.0e0 * MAX(bytes) / NULLIF(AVG(bytes), 0) AS ratio
    FROM load
    GROUP BY
      capture_id, group_id, step, number
  ) AS w
  GROUP BY
    capture_id, group_id, step
), back AS (
  SELECT
    l.number AS number, l.capture_id AS capture_id, l.group_id AS group_id, l.step AS step,
    l.way AS way, l.trace_id AS trace_id, l.rank AS rank, l.device AS device, l.ts_ns AS ts_ns,
    l.before_ns AS before_ns, l.start_ns AS start_ns, l.bytes AS bytes,
    COALESCE(SUM(LARGER(0, SMALLER(b.ts_ns + b.dur_ns, l.ts_ns) - LARGER(b.ts_ns, l.before_ns))),
      0) AS compute_ns
  FROM load AS l
  LEFT JOIN _busy_segment AS b
    ON b.trace_id = l.trace_id
    AND b.device = l.device
    AND b.kinds IN (1, 3, 5, 7)
    AND b.ts_ns < l.ts_ns
    AND b.ts_ns + b.dur_ns > l.before_ns
  WHERE
    l.way = 2 AND NOT l.before_ns IS NULL
  GROUP BY
    l.number, l.capture_id, l.group_id, l.step, l.way, l.trace_id, l.rank, l.device, l.ts_ns,
    l.before_ns, l.start_ns, l.bytes
), leader AS (
  SELECT DISTINCT
    b.number AS number, m.rank AS rank, 1 AS of_step
  FROM back AS b
  JOIN most AS m
    ON m.capture_id = b.capture_id AND m.group_id = b.group_id
      AND m.step IS NOT DISTINCT FROM b.step
  UNION ALL
  SELECT
    b.number AS number,
    MIN(b.rank),
    0
  FROM back AS b
  JOIN (
    SELECT
      number,
      MAX(bytes) AS bytes
    FROM back
    GROUP BY
      number
  ) AS t
    ON t.number = b.number AND t.bytes = b.bytes
  GROUP BY
    b.number
), speed AS (
  SELECT
    l.number AS number, l.of_step AS of_step, l.rank AS rank,
    SUM(b.compute_ns) AS compute_ns,
    SUM(b.bytes) AS bytes
  FROM leader AS l
  JOIN back AS b
    ON b.number = l.number AND b.rank <> l.rank
  GROUP BY
    l.number, l.of_step, l.rank
), explained AS (
  SELECT
    f.capture_id AS capture_id, f.group_id AS group_id, f.step AS step,
    SUM(n.ns) FILTER(WHERE
      n.of_step <> 0) AS ns,
    SUM(n.ns) FILTER(WHERE
      n.of_step = 0) AS own_ns
  FROM (
    SELECT
      s.number AS number, s.of_step AS of_step,
      SUM(
        LARGER(
          0,
          SMALLER(
            f.start_ns - w.start_ns,
            SMALLER(f.compute_ns - w.compute_ns, ROUND_INT(1.0e0 * (
              f.bytes - w.bytes
            ) * s.compute_ns / s.bytes))
          )
        )
      ) AS ns
    FROM speed AS s
    JOIN back AS f
      ON f.number = s.number AND f.rank = s.rank
    JOIN back AS w
      ON w.number = s.number AND w.rank <> s.rank
    WHERE
      s.compute_ns > 0 AND s.bytes > 0
    GROUP BY
      s.number, s.of_step
  ) AS n
  JOIN (
    SELECT DISTINCT
      number, capture_id, group_id, step
    FROM back
  ) AS f
    ON f.number = n.number
  GROUP BY
    f.capture_id, f.group_id, f.step
), summed AS (
  SELECT
    capture_id, group_id, step,
    COUNT(*) AS collectives,
    SUM(
      CASE
        WHEN way IS NULL AND is_whole <> 0 AND is_sized <> 0
        THEN 1
        WHEN NOT (
          way IS NULL AND is_whole <> 0 AND is_sized <> 0
        )
        THEN 0
      END
    ) AS unclear,
    SUM(wait_ns) AS wait_ns,
    MIN(is_whole) AS is_whole,
    MIN(is_sized) AS is_sized,
    COUNT(way) AS told
  FROM told
  GROUP BY
    capture_id, group_id, step
), answer AS (
  SELECT
    s.*,
    CASE
      WHEN s.is_whole = 0
      THEN 'ranks missing'
      WHEN s.is_sized = 0
      THEN 'sizes missing'
      WHEN s.told = 0
      THEN 'direction unclear'
    END AS unknown
  FROM summed AS s
)
SELECT
  c.run AS run, c.capture AS capture, a.step AS step, n.name AS group_name,
  n.description AS group_description, n.ranks AS group_ranks, a.collectives AS collectives,
  a.unclear AS unclear,
  CASE WHEN a.unknown IS NULL THEN 1.0e0 * g.most_bytes / NULLIF(g.mean_bytes, 0)
    ELSE NULL END AS imbalance,
  CASE WHEN a.unknown IS NULL THEN w.ratio ELSE NULL END AS worst_imbalance,
  CASE WHEN a.unknown IS NULL THEN m.rank ELSE NULL END AS most_rank,
  CASE WHEN a.unknown IS NULL THEN 100.0e0 * g.most_bytes / NULLIF(g.all_bytes, 0)
    ELSE NULL END AS most_share_pct,
  CASE WHEN a.unknown IS NULL THEN g.most_bytes ELSE NULL END AS most_bytes,
  CASE WHEN a.unknown IS NULL THEN g.mean_bytes ELSE NULL END AS mean_bytes,
  a.wait_ns / 1e6 AS wait_ms,
  CASE WHEN a.unknown IS NULL THEN CASE WHEN m.rank IS NULL THEN 0 ELSE x.ns END
    ELSE NULL END / 1e6 AS explained_ms,
  CASE
    WHEN a.unknown IS NULL
    THEN 100.0e0 * CASE WHEN m.rank IS NULL THEN 0 ELSE x.ns END / NULLIF(a.wait_ns, 0)
    ELSE NULL
  END AS explained_pct,
  CASE WHEN a.unknown IS NULL THEN x.own_ns ELSE NULL END / 1e6 AS own_explained_ms,
  a.unknown AS unknown
FROM answer AS a
JOIN captures AS c
  ON c.capture_id = a.capture_id
JOIN process_groups AS n
  ON n.group_id = a.group_id
LEFT JOIN of_group AS g
  ON g.capture_id = a.capture_id AND g.group_id = a.group_id AND g.step IS NOT DISTINCT FROM a.step
LEFT JOIN most AS m
  ON m.capture_id = a.capture_id AND m.group_id = a.group_id AND m.step IS NOT DISTINCT FROM a.step
LEFT JOIN worst AS w
  ON w.capture_id = a.capture_id AND w.group_id = a.group_id AND w.step IS NOT DISTINCT FROM a.step
LEFT JOIN explained AS x
  ON x.capture_id = a.capture_id AND x.group_id = a.group_id AND x.step IS NOT DISTINCT FROM a.step
ORDER BY
  c.run NULLS FIRST, c.capture NULLS FIRST, a.step NULLS FIRST, n.description NULLS FIRST,
  n.name NULLS FIRST, n.ranks NULLS FIRST, a.group_id NULLS FIRST
