-- title: On which rank the critical path lies, over time
--
-- The stretches of `critical_path` without what they are made of: those of one rank that follow
-- each other within a step are one.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run       text        The run: one training job that was recorded.
-- column: capture   int(count)  The capture, by its number in the run.
-- column: step      int(count)  The step; NULL where the capture has none.
-- column: rank      int(id)     Whose host or GPU it was.
-- column: start_ms  real(ms)    Start since the first event of the run.
-- column: dur_ms    real(ms)    How long. The stretches of a step add up to it.
--
-- empty:  There is no launch, GPU activity or step in that capture and run.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

SELECT
  c.run,
  c.capture,
  p.step,
  p.rank,
  (p.start_ns - r.start_ns) / 1e6 AS start_ms,
  p.dur_ns / 1e6 AS dur_ms
FROM captures c CROSS JOIN replay_line(c.capture_id, '[]') p JOIN runs r ON r.run_id = c.run_id
WHERE (:run IS NULL OR c.run = :run) AND (:capture IS NULL OR c.capture = :capture)
ORDER BY c.run_id, c.capture, p.start_ns;
