-- title: How long each step took, and how far the GPU lagged
--
-- One row for each ProfilerStep of each rank; step numbers that repeat in another capture are other
-- steps. An activity belongs to the step in which it was launched, wherever it runs: host and GPU
-- work on different steps at one time. A step that waits for its input has a large idle_before_ms
-- on all ranks; of a host that runs ahead first_activity_ms is large, while the GPU works on the
-- step before. A rank that waits for its host ends each step with lag_ms near 0 or below it.
--
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run                text        The run: one training job that was recorded.
-- column: capture            int(count)  The capture: its number in the run.
-- column: rank               int(id)     The rank.
-- column: step               int(count)  The number in ProfilerStep#N.
-- column: start_ms           real(ms)    Its start, since the first event of the run.
-- column: step_ms            real(ms)    From its start to its end, on the host.
-- column: median_ms          real(ms)    The median of the rank's steps in the capture.
-- column: over_median_pct    real(pct)   step_ms beyond median_ms, of median_ms.
-- column: activities         int(count)  Kernels, copies and fills launched in it.
-- column: gpu_ms             real(ms)    From the first start of these to the last end.
-- column: first_activity_ms  real(ms)    From the step's start to the first start of these.
-- column: idle_before_ms     real(ms)    Of first_activity_ms: nothing ran on the GPU of that first
--                                        activity, of no step. NULL in a gathered database where
--                                        the number is that of several steps of a trace.
-- column: lag_ms             real(ms)    From the step's end to the last end of these; negative
--                                        when the GPU was done with it before the host.
--
-- about:  steps and GPU time
-- lead:   rank, step, step_ms, over_median_pct, gpu_ms, idle_before_ms, lag_ms
-- plot:   line step_ms over step by run, capture, rank
-- empty:  No step is in the database: the job did not call the profiler's step().

WITH placed AS (
  SELECT *, row_number() OVER (PARTITION BY trace_id, step
                               ORDER BY first_ns, CAST(device AS INTEGER), device) AS place
  FROM step_activities
),
on_gpu AS (
  SELECT trace_id, step, sum(activities) AS activities, min(first_ns) AS first_ns,
         max(last_ns) AS last_ns, max(device) FILTER (WHERE place = 1) AS device,
         max(is_summed) AS is_summed, max(busy_ns) FILTER (WHERE place = 1) AS busy_ns
  FROM placed GROUP BY trace_id, step
),
timed AS (
  SELECT trace_id, slice_id, step, ts_ns AS start_ns, dur_ns,
         row_number() OVER (PARTITION BY trace_id ORDER BY dur_ns, slice_id) AS place,
         count(*) OVER (PARTITION BY trace_id) AS steps
  FROM steps
  WHERE dur_ns >= 0
),
middle AS (  -- of an even number of steps the mean of the two in the middle
  SELECT trace_id, avg(dur_ns) AS median_ns FROM timed
  WHERE place BETWEEN (steps + 1) / 2 AND (steps + 2) / 2 GROUP BY trace_id
)
SELECT
  t.run,
  t.capture,
  t.rank,
  s.step,
  (s.start_ns - t.run_start_ns) / 1e6 AS start_ms,
  s.dur_ns / 1e6 AS step_ms,
  m.median_ns / 1e6 AS median_ms,
  100.0 * (s.dur_ns - m.median_ns) / nullif(m.median_ns, 0) AS over_median_pct,
  ifnull(g.activities, 0) AS activities,
  (g.last_ns - g.first_ns) / 1e6 AS gpu_ms,
  (g.first_ns - s.start_ns) / 1e6 AS first_activity_ms,
  (g.first_ns - s.start_ns - iif(g.is_summed, g.busy_ns,
       ifnull((SELECT sum(min(b.end_ns, g.first_ns) - max(b.ts_ns, s.start_ns))
               FROM busy_segments b
               WHERE b.trace_id = s.trace_id AND b.device = g.device AND b.ts_ns < g.first_ns
                 AND b.end_ns > s.start_ns AND b.ts_ns >= ifnull(
                   (SELECT max(e.ts_ns) FROM busy_segments e WHERE e.trace_id = s.trace_id
                      AND e.device = g.device AND e.ts_ns <= s.start_ns), s.start_ns)), 0))) / 1e6
    AS idle_before_ms,
  (g.last_ns - s.start_ns - s.dur_ns) / 1e6 AS lag_ms
FROM timed s
JOIN traces t ON t.trace_id = s.trace_id
JOIN middle m ON m.trace_id = s.trace_id
LEFT JOIN on_gpu g ON g.trace_id = s.trace_id AND g.step = s.step
WHERE (:rank IS NULL OR t.rank IN (SELECT value FROM json_each(:rank)))
  AND (:run IS NULL OR t.run = :run)
  AND (:capture IS NULL OR t.capture = :capture)
ORDER BY t.run_id, t.capture, t.rank, s.start_ns, s.slice_id;
