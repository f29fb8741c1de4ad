-- title: GPU time of kernels by step, as compare takes it
--
-- One row for each name of a kernel, copy or fill in each step, by the innermost operator that
-- launched it; over all ranks.
--
-- param:  run    text       = null  This run only; all of them when null.
-- param:  whole  int(0..1)  = 0     1: what is in no step, too.
--
-- column: run         text        The run: one training job that was recorded.
-- column: capture     int(count)  The capture: its number in the run.
-- column: step        int(count)  The step.
-- column: op          text        The operator; NULL where the trace does not tell.
-- column: kernel      text        Its name.
-- column: activities  int(count)  How many.
-- column: gpu_ms      real(ms)    Sum of their durations.
--
-- empty:  No step with GPU activity is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

SELECT
  t.run,
  t.capture,
  k.step,
  k.op,
  k.kernel,
  sum(k.activities) AS activities,
  sum(k.gpu_ns) / 1e6 AS gpu_ms
FROM kernel_uses k JOIN traces t ON t.trace_id = k.trace_id
WHERE (k.step IS NOT NULL OR :whole) AND k.kernel IS NOT NULL AND (:run IS NULL OR t.run = :run)
GROUP BY t.run_id, t.capture, k.step, k.op, k.kernel
ORDER BY t.run_id, t.capture, k.step, k.op, k.kernel;
