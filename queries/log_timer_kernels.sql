-- title: Which kernels a timer of the training program holds
--
-- One row for each timer of a profiled iteration (log_vs_trace says which step that is) and what
-- the GPU did of its kind, told by what launched it: `forward` and `backward` compute kernels,
-- `optimizer` those of Optimizer.step, and the collectives of the communicators that the timer's
-- name speaks of. Timers that are of none of these are left out. The log's timers are those of the
-- slowest rank; so are the GPU's. A gpu_pct far below 100 is host time, or waiting; far above it
-- kernels run longer than the timer, as nothing waits for them there.
--
-- param:  run   text        = null  This run only; all of them when null.
-- param:  step  ints(count) = null  These steps only.
--
-- column: run         text        The run: one training job that was recorded.
-- column: capture     int(count)  The capture: its number in the run.
-- column: source_id   int(id)     The log, in the view sources.
-- column: iteration   int(count)  Its number in the log.
-- column: step        int(count)  The number in ProfilerStep#N.
-- column: timer       text        As the log has it.
-- column: timer_ms    real(ms)    Of the slowest rank.
-- column: holds       text        What of the GPU is its kind.
-- column: activities  int(count)  GPU activities of it, of one rank at most.
-- column: gpu_ms      real(ms)    Their time, summed, of the rank with the most.
-- column: gpu_pct     real(pct)   gpu_ms, of timer_ms.
-- column: most_name   text        The kernel or collective that takes most of it.
-- column: most_ms     real(ms)    Its time, of that rank.
--
-- about:  logs, settings, GPU samples
-- lead:   iteration, timer, timer_ms, gpu_ms, gpu_pct, most_name
-- plot:   bar gpu_ms by run, step, timer
-- empty:  No iteration with timers is a profiled step: see log_vs_trace, which says why.

WITH RECURSIVE matched AS MATERIALIZED (
  SELECT run, run_id, capture, source_id, iteration, step FROM log_steps
  WHERE (:run IS NULL OR run = :run)
    AND (:step IS NULL OR step IN (SELECT value FROM json_each(:step)))
),
path (path_id, is_backward, is_optimizer) AS (
  SELECT path_id, name LIKE 'autograd::engine::%', name LIKE 'Optimizer.step#%'
  FROM call_paths WHERE parent_id IS NULL
  UNION ALL
  SELECT c.path_id, p.is_backward OR c.name LIKE 'autograd::engine::%',
         p.is_optimizer OR c.name LIKE 'Optimizer.step#%'
  FROM path p JOIN call_paths c ON c.parent_id = p.path_id
),
work AS (
  SELECT t.run_id, t.capture, t.trace_id, k.step, k.name, k.dur_ns,
         CASE WHEN p.is_optimizer THEN 'optimizer' WHEN p.is_backward THEN 'backward'
              ELSE 'forward' END AS holds
  FROM kernels k JOIN traces t ON t.trace_id = k.trace_id
  LEFT JOIN path p ON p.path_id = k.path_id
  WHERE k.kind = 'compute' AND k.dur_ns >= 0
    AND (t.run_id, k.step) IN (SELECT run_id, step FROM matched)
  UNION ALL
  SELECT t.run_id, t.capture, t.trace_id, c.step, c.collective, c.dur_ns,
         CASE WHEN g.description LIKE '%EMBEDDING%' THEN 'embedding' ELSE g.parallelism END
         || ' collectives'
  FROM collectives c JOIN traces t ON t.trace_id = c.trace_id
  JOIN process_groups g ON g.group_id = c.group_id
  WHERE c.dur_ns >= 0 AND (t.run_id, c.step) IN (SELECT run_id, step FROM matched)
),
named AS (
  SELECT run_id, capture, trace_id, step, holds, name, count(*) AS activities,
         sum(dur_ns) AS gpu_ns
  FROM work GROUP BY run_id, capture, trace_id, step, holds, name
),
of_rank AS (
  SELECT run_id, capture, trace_id, step, holds, sum(activities) AS activities,
         sum(gpu_ns) AS gpu_ns, name, max(gpu_ns) AS most_ns
  FROM named GROUP BY run_id, capture, trace_id, step, holds
),
most AS (
  SELECT run_id, capture, step, holds, activities, max(gpu_ns) AS gpu_ns, name, most_ns
  FROM of_rank GROUP BY run_id, capture, step, holds
),
timer AS (
  SELECT m.run, m.run_id, m.capture, m.source_id, m.iteration, m.step, t.name,
         max(coalesce(t.ms, t.max_ms)) AS timer_ms,
         CASE WHEN t.name IN ('forward-compute', 'forward') THEN 'forward'
              WHEN t.name IN ('backward-compute', 'backward') THEN 'backward'
              WHEN t.name IN ('optimizer', 'optimizer-inner-step') THEN 'optimizer'
              WHEN t.name LIKE 'embedding-grads-%' OR t.name LIKE 'backward-embedding-%'
              THEN 'embedding collectives'
              WHEN t.name LIKE '%-send%' OR t.name LIKE '%-recv%' THEN 'pipeline collectives'
              WHEN t.name IN ('all-grads-sync', 'grads-all-reduce', 'grads-reduce-scatter',
                              'params-all-gather', 'backward-params-all-reduce')
              THEN 'data collectives' END AS holds
  FROM matched m
  JOIN log_timers t ON t.source_id = m.source_id AND t.iteration = m.iteration
  GROUP BY m.run, m.run_id, m.capture, m.source_id, m.iteration, m.step, t.name
)
SELECT
  t.run,
  t.capture,
  t.source_id,
  t.iteration,
  t.step,
  t.name AS timer,
  t.timer_ms,
  t.holds,
  ifnull(w.activities, 0) AS activities,
  ifnull(w.gpu_ns, 0) / 1e6 AS gpu_ms,
  100.0 * ifnull(w.gpu_ns, 0) / 1e6 / nullif(t.timer_ms, 0) AS gpu_pct,
  w.name AS most_name,
  w.most_ns / 1e6 AS most_ms
FROM timer t
LEFT JOIN most w ON w.run_id = t.run_id AND w.capture IS t.capture AND w.step = t.step
  AND w.holds = t.holds
WHERE t.holds IS NOT NULL
ORDER BY t.run, t.capture, t.source_id, t.iteration, t.timer_ms DESC, t.name;
