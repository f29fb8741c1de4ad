-- reads: _busy_segment _collective_part _step_last _track collectives process_groups traces
WITH recorded AS (
  SELECT
    trace_id, run_id, run, capture, rank
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
), message AS (
  SELECT
    t.rank AS rank, t.device AS device, t.trace_id AS trace_id, p.step AS step,
    p.group_id AS group_id, n.size AS size, n.ranks AS ranks, p.peer AS peer,
    CASE WHEN p.collective = 'sendrecv' THEN w.way ELSE p.collective END AS collective,
    p.ts_ns AS start_ns,
    p.ts_ns + COALESCE(p.dur_ns, 0) AS end_ns,
    CASE CASE
        WHEN CASE WHEN p.collective = 'sendrecv' THEN 1 WHEN NOT (
          p.collective = 'sendrecv'
        ) THEN 0 END
        THEN w.way
        ELSE p.collective
      END
      WHEN 'send'
      THEN CASE WHEN p.peer > p.rank THEN 1 WHEN NOT (
        p.peer > p.rank
      ) THEN 0 END
      WHEN 'recv'
      THEN CASE WHEN p.peer < p.rank THEN 1 WHEN NOT (
        p.peer < p.rank
      ) THEN 0 END
    END AS is_forward /* NULL: no message, or the peer is not known */
  FROM process_groups AS n
  JOIN collectives AS p
    ON p.group_id = n.group_id
  JOIN _collective_part AS q
    ON q.id = p.slice_id
  JOIN _track AS t
    ON t.id = q.track
  CROSS JOIN (
    SELECT
      'send' AS way
    UNION ALL
    SELECT
      'recv'
  ) AS w
  WHERE
    n.parallelism = 'pipeline'
    AND COALESCE(p.dur_ns, 0) >= 0
    AND (
      w.way = 'send' OR p.collective = 'sendrecv'
    )
    AND p.trace_id IN (
      SELECT
        trace_id
      FROM recorded
    )
    AND NOT p.trace_id IN (
      SELECT
        u.trace_id AS trace_id
      FROM collectives AS u
      WHERE
        u.group_id IS NULL AND u.collective IN ('send', 'recv', 'sendrecv')
    )
), member AS (
  SELECT
    g.group_id AS group_id, g.run_id AS run_id,
    CASE WHEN g.parallelism = 'pipeline' THEN 1 WHEN NOT (
      g.parallelism = 'pipeline'
    ) THEN 0 END AS is_pipeline,
    EACH_INT(g.ranks) AS rank
  FROM process_groups AS g
), mate AS (
  SELECT DISTINCT
    a.run_id AS run_id, a.rank AS rank, b.rank AS other
  FROM member AS a
  JOIN member AS b
    ON b.group_id = a.group_id AND b.rank <> a.rank
  WHERE
    a.is_pipeline <> 0
), across AS (
  SELECT DISTINCT
    a.group_id AS group_id, a.rank AS rank
  FROM member AS a
  JOIN mate AS m
    ON m.run_id = a.run_id AND m.rank = a.rank
  JOIN member AS b
    ON b.group_id = a.group_id AND b.rank = m.other
  WHERE
    a.is_pipeline = 0
), met AS (
  SELECT
    capture_id, group_id, pair, by_seq, match_no,
    MAX(aligned_ts_ns) AS last_ns
  FROM collectives
  WHERE
    group_id IN (
      SELECT
        group_id
      FROM member
      WHERE
        is_pipeline = 0
    )
  GROUP BY
    capture_id, group_id, pair, by_seq, match_no
  HAVING
    MIN(rank) < MAX(rank)
), waited AS (
  SELECT
    t.trace_id AS trace_id, t.device AS device, p.ts_ns AS start_ns,
    SMALLER(p.end_ns, p.ts_ns + m.last_ns - p.aligned_ts_ns) AS end_ns,
    CASE WHEN NOT a.rank IS NULL THEN 1 WHEN NOT (
      NOT a.rank IS NULL
    ) THEN 0 END AS is_bubble
  FROM met AS m
  JOIN collectives AS p
    ON p.group_id = m.group_id
    AND p.capture_id = m.capture_id
    AND p.pair = m.pair
    AND p.by_seq = m.by_seq
    AND p.match_no = m.match_no
  JOIN _collective_part AS q
    ON q.id = p.slice_id
  JOIN _track AS t
    ON t.id = q.track
  LEFT JOIN across AS a
    ON a.group_id = p.group_id AND a.rank = p.rank
  WHERE
    p.dur_ns > 0
    AND m.last_ns > p.aligned_ts_ns
    AND p.trace_id IN (
      SELECT
        trace_id
      FROM recorded
    )
), stretch AS (
  SELECT
    device, trace_id, step,
    MIN(start_ns) AS from_ns,
    MAX(end_ns) AS to_ns
  FROM _step_last
  WHERE
    NOT step IS NULL AND (trace_id, device) IN (
      SELECT
        trace_id, device
      FROM message
    )
  GROUP BY
    trace_id, device, step
), below AS (
  SELECT
    a.group_id AS group_id, a.rank AS rank,
    COUNT(b.rank) AS stage
  FROM (
    SELECT DISTINCT
      group_id, rank
    FROM message
  ) AS a
  LEFT JOIN member AS b
    ON b.group_id = a.group_id AND b.rank < a.rank
  GROUP BY
    a.group_id, a.rank
), exchanged AS (
  SELECT
    e.trace_id AS trace_id, e.device AS device, e.step AS step,
    MAX(e.size) AS stages,
    MAX(d.stage) AS stage,
    MIN(end_ns) FILTER(WHERE
      is_forward = 0) AS first_backward_ns,
    MAX(end_ns) FILTER(WHERE
      is_forward <> 0) AS last_forward_ns
  FROM message AS e
  LEFT JOIN below AS d
    ON d.group_id = e.group_id AND d.rank = e.rank
  WHERE
    NOT e.step IS NULL
  GROUP BY
    e.trace_id, e.device, e.step
), counted AS (
  SELECT
    trace_id, device, step,
    MAX(messages) AS microbatches
  FROM (
    SELECT
      trace_id, device, step,
      COUNT(*) AS messages
    FROM message
    WHERE
      NOT peer IS NULL
    GROUP BY
      trace_id, device, step, group_id, collective, peer
  )
  GROUP BY
    trace_id, device, step
), schedule AS (
  SELECT
    *,
    SMALLER(COALESCE(first_backward_ns, to_ns), cool_ns) AS steady_ns
  FROM (
    SELECT
      s.trace_id AS trace_id, s.device AS device, s.step AS step, s.from_ns AS from_ns,
      s.to_ns AS to_ns, e.stages AS stages, e.stage AS stage, c.microbatches AS microbatches,
      e.first_backward_ns AS first_backward_ns,
      SMALLER(COALESCE(e.last_forward_ns, s.to_ns), s.to_ns) AS cool_ns,
      ROW_NUMBER() OVER (ORDER BY s.trace_id NULLS FIRST, s.device NULLS FIRST,
        s.step NULLS FIRST) AS number
    FROM stretch AS s
    JOIN exchanged AS e
      ON e.trace_id = s.trace_id AND e.device = s.device AND e.step = s.step
    LEFT JOIN counted AS c
      ON c.trace_id = s.trace_id AND c.device = s.device AND c.step = s.step
  )
), phase AS (
  SELECT
    number, trace_id, device, 1 AS phase, from_ns, steady_ns AS to_ns
  FROM schedule
  UNION ALL
  SELECT
    number, trace_id, device, 2, steady_ns, cool_ns
  FROM schedule
  UNION ALL
  SELECT
    number, trace_id, device, 3, cool_ns, to_ns
  FROM schedule
), held AS (
  SELECT
    1 AS waits, trace_id, device, start_ns, end_ns
  FROM message
  UNION ALL
  SELECT
    1, trace_id, device, start_ns, end_ns
  FROM waited
  WHERE
    is_bubble <> 0
  UNION ALL
  SELECT
    2, trace_id, device, start_ns, end_ns
  FROM message
  UNION ALL
  SELECT
    2, trace_id, device, start_ns, end_ns
  FROM waited
), reached AS (
  SELECT
    waits, trace_id, device, start_ns, end_ns,
    MAX(end_ns) OVER (
      PARTITION BY waits, trace_id, device
      ORDER BY start_ns NULLS FIRST, end_ns NULLS FIRST
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS until_ns
  FROM held
), wait AS (
  SELECT
    *,
    INT_DIV(place - 1, 64) AS batch
  FROM (
    SELECT
      waits, trace_id, device,
      LARGER(start_ns, COALESCE(until_ns, start_ns)) AS start_ns,
      end_ns,
      ROW_NUMBER() OVER (PARTITION BY waits, trace_id, device ORDER BY end_ns NULLS FIRST) AS place
    FROM reached
    WHERE
      end_ns > LARGER(start_ns, COALESCE(until_ns, start_ns))
  )
), part AS (
  SELECT
    number, trace_id, device, phase, NULL AS waits, from_ns, to_ns
  FROM phase
  WHERE
    to_ns > from_ns
  UNION ALL
  SELECT
    f.number AS number, f.trace_id AS trace_id, f.device AS device, f.phase AS phase,
    w.waits AS waits,
    LARGER(w.start_ns, f.from_ns),
    SMALLER(w.end_ns, f.to_ns)
  FROM wait AS w
  JOIN phase AS f
    ON f.trace_id = w.trace_id AND f.device = w.device AND w.start_ns < f.to_ns
      AND w.end_ns > f.from_ns
), measured AS (
  SELECT
    p.number AS number, p.phase AS phase, p.waits AS waits,
    p.to_ns - p.from_ns AS span_ns,
    SUM(LARGER(0, SMALLER(b.ts_ns + b.dur_ns, p.to_ns) - LARGER(b.ts_ns, p.from_ns))) AS busy_ns
  FROM part AS p
  LEFT JOIN _busy_segment AS b
    ON b.trace_id = p.trace_id
    AND b.device = p.device
    AND b.ts_ns < p.to_ns
    AND b.ts_ns + b.dur_ns > p.from_ns
    AND (
      p.waits IS NULL OR b.kinds = 2
    )
  GROUP BY
    p.number, p.phase, p.waits, p.from_ns, p.to_ns
), used AS (
  SELECT
    number,
    COALESCE(SUM(span_ns - COALESCE(busy_ns, 0)) FILTER(WHERE
      waits IS NULL), 0) AS idle_ns,
    COALESCE(SUM(busy_ns) FILTER(WHERE
      waits = 1), 0) AS wait_ns,
    COALESCE(SUM(busy_ns) FILTER(WHERE
      waits = 2), 0) AS all_wait_ns,
    COALESCE(
      SUM(CASE WHEN waits IS NULL THEN span_ns - COALESCE(busy_ns, 0) ELSE COALESCE(busy_ns,
        0) END) FILTER(WHERE
        phase = 1 AND waits IS DISTINCT FROM 2),
      0
    ) AS warm_up_ns,
    COALESCE(
      SUM(CASE WHEN waits IS NULL THEN span_ns - COALESCE(busy_ns, 0) ELSE COALESCE(busy_ns,
        0) END) FILTER(WHERE
        phase = 3 AND waits IS DISTINCT FROM 2),
      0
    ) AS cool_down_ns
  FROM measured
  GROUP BY
    number
), summed AS (
  SELECT
    s.trace_id AS trace_id, s.device AS device, s.step AS step, s.from_ns AS from_ns,
    s.to_ns AS to_ns, s.stages AS stages, s.stage AS stage, s.microbatches AS microbatches,
    u.idle_ns AS idle_ns, u.wait_ns AS wait_ns,
    u.idle_ns + u.wait_ns AS bubble_ns,
    u.all_wait_ns - u.wait_ns AS other_wait_ns,
    s.to_ns - s.from_ns - u.idle_ns - u.all_wait_ns AS work_ns,
    CASE WHEN s.microbatches <> 0 THEN u.warm_up_ns ELSE NULL END AS warm_up_ns,
    CASE WHEN s.microbatches <> 0 THEN u.cool_down_ns ELSE NULL END AS cool_down_ns
  FROM schedule AS s
  JOIN used AS u
    ON u.number = s.number
)
SELECT
  r.run AS run, r.capture AS capture, r.rank AS rank, device, step, stage, stages, microbatches,
  (
    to_ns - from_ns
  ) / 1e6 AS gpu_ms,
  work_ns / 1e6 AS work_ms,
  bubble_ns / 1e6 AS bubble_ms,
  wait_ns / 1e6 AS wait_ms,
  idle_ns / 1e6 AS idle_ms,
  other_wait_ns / 1e6 AS other_wait_ms,
  warm_up_ns / 1e6 AS warm_up_ms,
  (
    bubble_ns - warm_up_ns - cool_down_ns
  ) / 1e6 AS steady_ms,
  cool_down_ns / 1e6 AS cool_down_ms,
  100.0e0 * bubble_ns / NULLIF(work_ns, 0) AS bubble_pct,
  100.0e0 * (
    stages - 1
  ) / microbatches AS ideal_pct,
  (
    bubble_ns - 1.0e0 * work_ns * (
      stages - 1
    ) / microbatches
  ) / 1e6 AS lost_ms
FROM summed AS s
JOIN recorded AS r
  ON r.trace_id = s.trace_id
ORDER BY
  r.run_id NULLS FIRST, r.capture NULLS FIRST, r.rank NULLS FIRST,
  TEXT_INT(device) NULLS FIRST,
  device NULLS FIRST, from_ns NULLS FIRST, s.trace_id NULLS FIRST, step NULLS FIRST
