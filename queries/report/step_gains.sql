-- title: What each change of a list would gain in each step
--
-- Of each change what the step would take then, as `what_if` has it; of the recorded steps too.
--
-- param:  changes  text        = []    A JSON array of texts, each as `changes` of what_if.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run        text        The run: one training job that was recorded.
-- column: capture    int(count)  The capture, by its number in the run.
-- column: number     int(count)  The change: its place in the list, from 1; 0: as recorded.
-- column: step       int(count)  The step; NULL where the capture has none.
-- column: step_ms    real(ms)    How long it would take.
--
-- empty:  There is no launch, GPU activity or step in that capture and run.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH change AS MATERIALIZED (
  SELECT 0 AS number, '[]' AS changes
  UNION ALL SELECT key + 1, value FROM json_each(:changes)
)
SELECT c.run, c.capture, n.number, s.step, s.dur_ns / 1e6 AS step_ms
FROM captures c CROSS JOIN change n CROSS JOIN replay_steps(c.capture_id, n.changes) s
WHERE (:run IS NULL OR c.run = :run) AND (:capture IS NULL OR c.capture = :capture)
ORDER BY c.run_id, c.capture, n.number, s.step;
