-- title: What each step waited for: its critical path
--
-- A step is over when its last rank is. What that waited for, and what this waited for before, is a
-- chain of stretches without a gap: each has one owner, and they add up to the step. A step lasts
-- from the end of the step before, on all ranks, to its own; the first from the moment when all
-- ranks have begun. Only what is on this path can make the step shorter, and only until another
-- path is the longest: see what_if. Worked out by replay from launches, streams, waits and matched
-- collectives, on the aligned clocks; times of stretches are as the replay has them.
--
-- param:  step     ints(count) = null  These steps only; all when null.
-- param:  changes  text        = []    Changes as of what_if: the path that there is then.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run       text        The run: one training job that was recorded.
-- column: capture   int(count)  The capture, by its number in the run.
-- column: step      int(count)  The step; NULL where the capture has none.
-- column: rank      int(id)     Whose host or GPU it was.
-- column: start_ms  real(ms)    Start since the first event of the run.
-- column: dur_ms    real(ms)    How long. The stretches of a step add up to it.
-- column: kind      text        host: a thread worked; recorder: the profiler held it up; launch:
--                               from a launch to the GPU; compute, communication, memory, waiting:
--                               a GPU activity; transfer: a collective after its last rank had
--                               come; gap: what had to end first had ended; lag: nothing that is
--                               recorded explains it; unrecorded: before the first event that the
--                               replay knows.
-- column: name      text        The GPU activity, or what the host was in.
-- column: op        text        The operator in which it was launched, or that the host was about
--                               to launch.
-- column: module    text        The nn.Module or Python function of the model around that, where
--                               the trace has any.
--
-- about:  what to do
-- lead:   step, rank, start_ms, dur_ms, kind, name, op
-- plot:   bar dur_ms by kind, name
-- empty:  There is no launch, GPU activity or step in that step, capture and run.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH RECURSIVE piece AS MATERIALIZED (
  SELECT c.run_id, c.run, c.capture, c.capture_id, p.*,
         row_number() OVER (ORDER BY c.run_id, c.capture, p.start_ns) AS place,
         coalesce(p.launch_of, p.slice_id) AS activity_id
  FROM captures c CROSS JOIN replay_path(c.capture_id, :changes) p
  WHERE (:run IS NULL OR c.run = :run) AND (:capture IS NULL OR c.capture = :capture)
    AND (:step IS NULL OR p.step IN (SELECT value FROM json_each(:step)))
),
owned AS MATERIALIZED (
  SELECT p.*, k.op, k.path_id,
         CASE
           WHEN p.kind = 'unrecorded' THEN NULL
           WHEN p.held_by IS NOT NULL THEN (SELECT n.name FROM names n
                                            WHERE n.name_id = p.held_name_id)
           WHEN p.kind = 'host' THEN coalesce((SELECT h.name FROM call_paths h
                                               WHERE h.path_id = k.path_id),
                                              (SELECT s.name FROM slices s
                                               WHERE s.slice_id = p.slice_id))
           WHEN p.kind = 'recorder' THEN (SELECT s.name FROM slices s
                                          WHERE s.slice_id = p.slice_id)
           ELSE k.name
         END AS name
  FROM piece p LEFT JOIN kernels k ON k.slice_id = p.activity_id
),
up (path_id, at, pieces) AS (  -- from what launched, upwards, to the first module
  SELECT DISTINCT path_id, path_id, 1 FROM owned WHERE path_id IS NOT NULL
  UNION ALL
  SELECT u.path_id, c.parent_id, u.pieces + 1
  FROM up u JOIN call_paths c ON c.path_id = u.at
  WHERE c.parent_id IS NOT NULL AND c.kind <> 'module' AND u.pieces < 256
),
module AS MATERIALIZED (
  SELECT u.path_id, c.name FROM up u JOIN call_paths c ON c.path_id = u.at
  WHERE c.kind = 'module'
),
told AS (
  SELECT o.*, m.name AS module,
         CASE WHEN o.step IS lag(o.step) OVER w AND o.capture_id = lag(o.capture_id) OVER w
                   AND o.rank = lag(o.rank) OVER w AND o.kind = lag(o.kind) OVER w
                   AND o.name IS lag(o.name) OVER w AND o.op IS lag(o.op) OVER w
                   AND m.name IS lag(m.name) OVER w THEN 0 ELSE 1 END AS is_new
  FROM owned o LEFT JOIN module m ON m.path_id = o.path_id
  WINDOW w AS (ORDER BY o.place)
),
stretch AS (
  SELECT *, sum(is_new) OVER (ORDER BY place) AS number FROM told
)
SELECT
  s.run,
  s.capture,
  s.step,
  s.rank,
  (min(s.start_ns) - r.start_ns) / 1e6 AS start_ms,
  sum(s.dur_ns) / 1e6 AS dur_ms,
  s.kind,
  s.name,
  s.op,
  s.module
FROM stretch s JOIN runs r ON r.run_id = s.run_id
GROUP BY s.number
ORDER BY s.number;
