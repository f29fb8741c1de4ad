-- title: What ran on each GPU in one step, as compare draws it
--
-- One row for each stretch of a step in which the same kinds of activity run on a GPU. Each GPU's
-- times count from its own first activity of the step.
--
-- param:  capture  int(count)  = 1     The capture of the run, by its number.
-- param:  step     int(count)  = null  This step only; all when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  whole    int(0..1)   = 0     1: what is in no step, too.
--
-- column: run       text        The run: one training job that was recorded.
-- column: rank      int(id)     The rank.
-- column: device    text        The GPU, as the trace calls it.
-- column: step      int(count)  The step.
-- column: start_ms  real(ms)    Where it begins.
-- column: dur_ms    real(ms)    How long it is.
-- column: span_ms   real(ms)    How long the step is on this GPU.
-- column: kinds     int(count)  Sum of 1 compute, 2 communication, 4 memory.
--
-- empty:  No such step is in the database.

SELECT
  t.run,
  t.rank,
  u.device,
  u.step,
  (b.ts_ns - u.start_ns) / 1e6 AS start_ms,
  (min(b.end_ns, u.end_ns) - b.ts_ns) / 1e6 AS dur_ms,
  (u.end_ns - u.start_ns) / 1e6 AS span_ms,
  b.kinds
FROM traces t JOIN step_uses u ON u.trace_id = t.trace_id
     JOIN busy_segments b ON b.trace_id = t.trace_id AND b.device = u.device
       AND b.ts_ns >= u.start_ns AND b.ts_ns < u.end_ns
WHERE (u.step IS NOT NULL OR :whole) AND (:step IS NULL OR u.step = :step)
  AND t.capture = ifnull(:capture, 1) AND (:run IS NULL OR t.run = :run)
ORDER BY t.run_id, t.rank, CAST(u.device AS INTEGER), u.device, u.start_ns, b.ts_ns;
