-- title: Steps that were not captured
--
-- ProfilerStep annotations number the training steps. Looked for are numbers left out between a
-- trace's first and last step, steps that another rank has in the same capture and this one has
-- not, and steps in which nothing was launched on a GPU while other steps of the trace launched
-- something.
--
-- param:  list_steps  int(count)  = 16  Steps listed at most in steps.
--
-- meaning: Figures by step compare different work: a missing step is in no average, activities
--   launched in it belong to no step or to that in which they start, and its collectives have no
--   partner on this rank. A last step without GPU work was cut off before it began.
-- advice: Leave these steps out of comparisons between ranks; give all ranks one profiler
--   schedule.
--
-- column: severity    text        Always finding.
-- column: run         text        The run.
-- column: capture     int(count)  The capture: its number in the run.
-- column: rank        int(id)     The rank.
-- column: trace_id    int(id)     The trace; NULL where other ranks have it.
-- column: count       int(count)  Steps with this trouble.
-- column: trouble     text        left out, other ranks have it, no GPU work.
-- column: steps       text        The first of them.
-- column: have        int(count)  Steps that this rank has in the capture.
-- column: first_step  int(count)  The first of these.
-- column: last_step   int(count)  The last.
--
-- empty:  Every step was captured on every rank.

WITH taken AS MATERIALIZED (
  SELECT DISTINCT t.capture_id, t.rank, s.trace_id, s.step
  FROM steps s JOIN traces t ON t.trace_id = s.trace_id
),
worked AS MATERIALIZED (
  SELECT DISTINCT trace_id, step FROM kernel_uses WHERE step IS NOT NULL
),
gap AS MATERIALIZED (
  SELECT capture_id, rank, trace_id, step AS next_step,
         lag(step) OVER (PARTITION BY trace_id ORDER BY step) + 1 AS step
  FROM taken
),
in_rank AS MATERIALIZED (
  SELECT DISTINCT capture_id, rank, step FROM taken
),
-- A gap is one entry however wide it is; its width is in `steps`.
lacking AS (
  SELECT capture_id, rank, trace_id, 'left out' AS trouble, step, next_step - step AS steps,
         iif(next_step - step = 1, step, step || '-' || (next_step - 1)) AS shown
  FROM gap
  WHERE step < next_step
  UNION ALL
  SELECT r.capture_id, r.rank, NULL, 'other ranks have it', s.step, 1, s.step
  FROM (SELECT capture_id, rank FROM traces) r
  JOIN (SELECT DISTINCT capture_id, step FROM in_rank) s ON s.capture_id = r.capture_id
  -- CASE: NOT IN of several would look for NULLs among all the others, each time.
  WHERE CASE WHEN (r.capture_id, r.rank, s.step) IN (SELECT capture_id, rank, step FROM in_rank)
             THEN 0 ELSE 1 END
    -- Left out in between is told above.
    AND NOT EXISTS (SELECT 1 FROM gap g WHERE g.capture_id = r.capture_id AND g.rank = r.rank
                                          AND s.step >= g.step AND s.step < g.next_step)
    -- A rank with a shorter profiler schedule has several captures in the time of this one.
    AND NOT EXISTS (SELECT 1 FROM captures c
                    JOIN traces o ON o.run_id = c.run_id AND o.rank = r.rank
                      AND o.start_ns <= c.end_ns AND o.end_ns >= c.start_ns
                    JOIN taken k ON k.trace_id = o.trace_id AND k.step = s.step
                    WHERE c.capture_id = r.capture_id)
  UNION ALL
  SELECT t.capture_id, t.rank, t.trace_id, 'no GPU work', t.step, 1, t.step
  FROM taken t
  WHERE t.trace_id IN (SELECT trace_id FROM worked)
    AND CASE WHEN (t.trace_id, t.step) IN (SELECT trace_id, step FROM worked) THEN 0 ELSE 1 END
),
numbered AS (
  SELECT *, row_number() OVER (PARTITION BY capture_id, rank, trace_id, trouble ORDER BY step)
              AS place
  FROM lacking
),
listed AS (
  SELECT capture_id, rank, trace_id, trouble, sum(steps) AS count,
         group_concat(shown, ' ') FILTER (WHERE place <= coalesce(:list_steps, 16)) AS steps
  FROM numbered
  GROUP BY capture_id, rank, trace_id, trouble
)
SELECT
  'finding' AS severity,
  c.run,
  c.capture,
  n.rank,
  n.trace_id,
  n.count,
  n.trouble,
  n.steps,
  count(DISTINCT t.step) AS have,
  min(t.step) AS first_step,
  max(t.step) AS last_step
FROM listed n
JOIN captures c ON c.capture_id = n.capture_id
LEFT JOIN taken t ON t.capture_id = n.capture_id AND t.rank = n.rank
  AND t.trace_id = coalesce(n.trace_id, t.trace_id)
GROUP BY n.capture_id, n.rank, n.trace_id, n.trouble
ORDER BY c.run_id, c.capture, n.rank, n.trace_id, n.trouble;
