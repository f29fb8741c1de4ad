-- title: A log's iterations beside the profiled steps
--
-- One row for each iteration that was profiled, and for a few before and after. Which step an
-- iteration is, the times tell: its line is printed near the end of one step, and the difference
-- of the two numbers is the same for all steps of a capture. A log in local time is moved by whole
-- quarter hours until that holds: `sure` where no other number of them does, else `guessed`. What
-- profiling costs is an iteration's time beyond unprofiled_ms, the median of the log's iterations
-- that are no neighbours of a profiled one, without the first two. The first row after a capture
-- holds the writing of the trace, the last one before it the profiler's warm-up.
--
-- param:  run     text        = null  This run only; all of them when null.
-- param:  around  int(count)  = 2     Iterations before and after the profiled ones.
--
-- column: run            text        The run: one training job that was recorded.
-- column: capture        int(count)  The capture: its number in the run.
-- column: source_id      int(id)     The log, in the view sources.
-- column: iteration      int(count)  Its number in the log.
-- column: step           int(count)  The number in ProfilerStep#N; NULL: not profiled.
-- column: phase          text        before, profiled, after; NULL: it cannot be told.
-- column: elapsed_ms     real(ms)    Time of the iteration, by the log.
-- column: step_ms        real(ms)    Time of the step, by the trace: the longest of all ranks.
-- column: unprofiled_ms  real(ms)    The median of the log's unprofiled iterations.
-- column: cost_ms        real(ms)    elapsed_ms beyond unprofiled_ms.
-- column: cost_pct       real(pct)   cost_ms, of unprofiled_ms.
-- column: after_step_ms  real(ms)    From the end of the step to the line; negative: before it.
-- column: matched        text        sure or guessed; else why no step is told: the log has no
--                                    times, no step ends near a line.
-- column: moved_ms       real(ms)    What was added to the trace's times to meet the log.
-- column: sm_clock_mhz   real(mhz)   The lowest clock of a GPU of the ranks that was sampled in the
--                                    iteration, or just before and after it; NULL: none was.
--
-- about:  logs, settings, GPU samples
-- lead:   iteration, step, phase, elapsed_ms, step_ms, cost_ms, cost_pct
-- plot:   line elapsed_ms over iteration by run, source_id
-- empty:  No run has both a log with iterations and a trace with steps: ingest both, in one folder.

WITH line AS (  -- of several that print an iteration the first
  SELECT i.run, i.run_id, i.source_id, i.iteration, min(i.line) AS line, i.at_ns, i.elapsed_ms
  FROM log_iterations i
  WHERE (:run IS NULL OR i.run = :run) AND i.run_id IN (SELECT run_id FROM traces)
  GROUP BY i.source_id, i.iteration
),
profiled AS MATERIALIZED (
  SELECT source_id, capture, step, iteration, step_ns, after_ns, moves, moved_ns
  FROM log_steps WHERE :run IS NULL OR run = :run
),
stretch AS (
  SELECT source_id, capture, min(iteration) AS first, max(iteration) AS last, max(moves) AS moves,
         max(moved_ns) AS moved_ns
  FROM profiled GROUP BY source_id, capture
),
quiet AS (
  SELECT source_id, elapsed_ms,
         row_number() OVER (PARTITION BY source_id ORDER BY elapsed_ms) AS place,
         count(*) OVER (PARTITION BY source_id) AS lines
  FROM (SELECT source_id, iteration, elapsed_ms,
               row_number() OVER (PARTITION BY source_id ORDER BY line) AS number FROM line) l
  WHERE number > 2 AND elapsed_ms IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM stretch s WHERE s.source_id = l.source_id
                      AND l.iteration BETWEEN s.first - 1 AND s.last + 1)
),
middle AS (
  SELECT source_id, avg(elapsed_ms) AS median_ms FROM quiet
  WHERE place BETWEEN (lines + 1) / 2 AND (lines + 2) / 2 GROUP BY source_id
),
told AS (
  SELECT s.source_id, s.capture, l.iteration, p.step, l.elapsed_ms, p.step_ns, p.after_ns,
         l.at_ns - s.moved_ns AS end_ns,
         CASE WHEN l.iteration < s.first THEN 'before' WHEN l.iteration > s.last THEN 'after'
              ELSE 'profiled' END AS phase,
         CASE WHEN s.moves = 1 THEN 'sure' ELSE 'guessed' END AS matched,
         s.moved_ns / 1e6 AS moved_ms
  FROM stretch s JOIN line l ON l.source_id = s.source_id
       AND l.iteration BETWEEN s.first - ifnull(:around, 2) AND s.last + ifnull(:around, 2)
  LEFT JOIN profiled p ON p.source_id = s.source_id AND p.capture = s.capture
       AND p.iteration = l.iteration
  UNION ALL
  SELECT l.source_id, c.capture, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
         CASE WHEN max(l.at_ns) IS NULL THEN 'the log has no times'
              ELSE 'no step ends near a line' END, NULL
  FROM line l JOIN captures c ON c.run_id = l.run_id
  WHERE EXISTS (SELECT 1 FROM traces t JOIN steps s ON s.trace_id = t.trace_id
                WHERE t.capture_id = c.capture_id)
    AND NOT EXISTS (SELECT 1 FROM stretch s
                    WHERE s.source_id = l.source_id AND s.capture = c.capture)
  GROUP BY l.source_id, c.capture
),
clock AS MATERIALIZED (
  SELECT run_id, at_ns, mhz, period_ns FROM rank_clock_samples
  WHERE run_id IN (SELECT run_id FROM line)
),
clocked AS MATERIALIZED (
  SELECT t.source_id, t.capture, t.iteration,
         coalesce(min(CASE WHEN c.at_ns BETWEEN t.end_ns - t.elapsed_ms * 1e6 AND t.end_ns
                           THEN c.mhz END), min(c.mhz)) AS mhz
  FROM told t JOIN sources s ON s.source_id = t.source_id
  JOIN clock c ON c.run_id = s.run_id
    AND c.at_ns BETWEEN t.end_ns - t.elapsed_ms * 1e6 - c.period_ns AND t.end_ns + c.period_ns
  GROUP BY t.source_id, t.capture, t.iteration
)
SELECT
  s.run,
  t.capture,
  t.source_id,
  t.iteration,
  t.step,
  t.phase,
  t.elapsed_ms,
  t.step_ns / 1e6 AS step_ms,
  CASE WHEN t.phase IS NOT NULL THEN m.median_ms END AS unprofiled_ms,
  round(t.elapsed_ms - m.median_ms, 6) AS cost_ms,
  100.0 * (t.elapsed_ms - m.median_ms) / nullif(m.median_ms, 0) AS cost_pct,
  t.after_ns / 1e6 AS after_step_ms,
  t.matched,
  t.moved_ms,
  c.mhz AS sm_clock_mhz
FROM told t JOIN sources s ON s.source_id = t.source_id
LEFT JOIN middle m ON m.source_id = t.source_id
LEFT JOIN clocked c ON c.source_id = t.source_id AND ifnull(c.capture, 0) = ifnull(t.capture, 0)
  AND c.iteration = t.iteration
ORDER BY s.run, t.capture, t.source_id, t.iteration;
