-- title: A run in eight figures
--
-- One row for each run: how long it was recorded, whether its matrix kernels use tensor cores, how
-- busy its GPUs were, and its iterations. These are the figures of DLProf's Performance Summary,
-- its minutes as milliseconds. A run without steps has no iterations here (DLProf takes all of it
-- for one).
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run                   text        The run: one training job that was recorded.
-- column: wall_clock_ms         real(ms)    From the first start of an event to the last end, of
--                                           each capture.
-- column: tensor_core_pct       real(pct)   Time of kernels that use tensor cores, of all matrix
--                                           kernels that are known to use them or not: by their
--                                           names (tensor_core_rules); tensor_core_use looks at
--                                           number types too. NULL: none is known.
-- column: gpu_utilization_pct   real(pct)   In which something ran on a GPU, of wall_clock_ms, all
--                                           GPUs that were used taken together.
-- column: total_iterations      int(count)  The last iteration's number in the run's log; without a
--                                           log, the steps that were recorded.
-- column: profiled_iterations   int(count)  Steps that were recorded.
-- column: start_iteration       int(count)  The first of these, its number.
-- column: stop_iteration        int(count)  The last of these.
-- column: average_iteration_ms  real(ms)    Mean duration of a step on the rank that took longest.
--
-- about:  steps and GPU time
-- plot:   bar gpu_utilization_pct by run
-- empty:  The database holds no trace.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run_id, run, coalesce(capture_id, -trace_id) AS capture_key, start_ns, end_ns
  FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
recorded AS MATERIALIZED (
  SELECT run_id, run, capture_key, max(end_ns) - min(start_ns) AS length_ns
  FROM trace GROUP BY run_id, run, capture_key
),
busy AS (
  SELECT t.run_id, sum(u.end_ns - u.start_ns - u.idle_ns) AS busy_ns, sum(c.length_ns) AS whole_ns
  FROM device_uses u JOIN trace t ON t.trace_id = u.trace_id
       JOIN recorded c ON c.run_id = t.run_id AND c.capture_key = t.capture_key
  GROUP BY t.run_id
),
ran AS MATERIALIZED (
  SELECT t.run_id, k.kernel, sum(k.gpu_ns) AS gpu_ns
  FROM kernel_uses k JOIN trace t ON t.trace_id = k.trace_id
  GROUP BY t.run_id, k.kernel
),
judged AS MATERIALIZED (
  SELECT k.kernel, (SELECT r.tensor_cores FROM tensor_core_rules r
                    WHERE lower(k.kernel) GLOB r.pattern ORDER BY r.place LIMIT 1) AS verdict
  FROM (SELECT DISTINCT kernel FROM ran) k
),
matrix AS (
  SELECT r.run_id, sum(r.gpu_ns) FILTER (WHERE j.verdict = 'yes') AS yes_ns,
         sum(r.gpu_ns) AS known_ns
  FROM ran r JOIN judged j ON j.kernel = r.kernel
  WHERE j.verdict IN ('yes', 'no')
  GROUP BY r.run_id
),
step AS (
  SELECT t.run_id, t.capture_key, s.step, max(s.dur_ns) AS dur_ns
  FROM steps s JOIN trace t ON t.trace_id = s.trace_id
  WHERE s.dur_ns >= 0
  GROUP BY t.run_id, t.capture_key, s.step
),
stepped AS (
  SELECT run_id, count(*) AS steps, min(step) AS first, max(step) AS last, avg(dur_ns) AS mean_ns
  FROM step GROUP BY run_id
),
logged AS (
  SELECT run_id, max(iteration) AS last FROM log_iterations
  WHERE :run IS NULL OR run = :run
  GROUP BY run_id
)
SELECT
  r.run,
  sum(r.length_ns) / 1e6 AS wall_clock_ms,
  100.0 * ifnull(m.yes_ns, 0) / nullif(m.known_ns, 0) AS tensor_core_pct,
  100.0 * b.busy_ns / nullif(b.whole_ns, 0) AS gpu_utilization_pct,
  coalesce(l.last, s.steps) AS total_iterations,
  s.steps AS profiled_iterations,
  s.first AS start_iteration,
  s.last AS stop_iteration,
  s.mean_ns / 1e6 AS average_iteration_ms
FROM recorded r
LEFT JOIN busy b ON b.run_id = r.run_id
LEFT JOIN matrix m ON m.run_id = r.run_id
LEFT JOIN stepped s ON s.run_id = r.run_id
LEFT JOIN logged l ON l.run_id = r.run_id
GROUP BY r.run_id
ORDER BY r.run;
