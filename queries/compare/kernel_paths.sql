-- title: GPU time by place of launch, as compare takes it
--
-- One row for each name of a kernel, copy or fill in each step, by what the host was in when it
-- launched it; over all ranks. Databases of summaries have no rows: see compare/kernels.
--
-- param:  run    text       = null  This run only; all of them when null.
-- param:  whole  int(0..1)  = 0     1: what is in no step, too.
--
-- column: run             text        The run: one training job that was recorded.
-- column: capture         int(count)  The capture: its number in the run.
-- column: step            int(count)  The step.
-- column: path_id         int(id)     In call_paths; NULL where the trace does not tell.
-- column: kernel          text        Its name.
-- column: kind            text        compute, communication, memory (copies and fills) or waiting.
-- column: activities      int(count)  How many.
-- column: gpu_ms          real(ms)    Sum of their durations.
-- column: first_slice_id  int(id)     The first of them, in slices.
--
-- empty:  No step with GPU activity is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH used AS (
  SELECT k.trace_id, a.step, l.path_id, a.name_id, a.kind, count(*) AS activities,
         sum(a.dur_ns) AS gpu_ns, min(a.slice_id) AS first_slice_id
  FROM activities a JOIN tracks k ON k.track_id = a.track_id
       LEFT JOIN launches l ON l.slice_id = a.slice_id
  WHERE (a.step IS NOT NULL OR :whole) AND a.dur_ns >= 0
    AND k.trace_id IN (SELECT trace_id FROM traces WHERE :run IS NULL OR run = :run)
  GROUP BY k.trace_id, a.step, l.path_id, a.name_id, a.kind
)
SELECT
  t.run,
  t.capture,
  u.step,
  u.path_id,
  n.name AS kernel,
  CASE u.kind WHEN 0 THEN 'compute' WHEN 1 THEN 'communication' WHEN 2 THEN 'memory'
    ELSE 'waiting' END AS kind,
  u.activities,
  u.gpu_ns / 1e6 AS gpu_ms,
  u.first_slice_id
FROM used u JOIN traces t ON t.trace_id = u.trace_id JOIN names n ON n.name_id = u.name_id
ORDER BY t.run_id, t.capture, u.step, u.first_slice_id;
