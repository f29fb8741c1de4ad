-- title: What each step waited for: its critical path
--
-- A step is over when its last rank is. What that waited for, and what this waited for before, is a
-- chain of stretches without a gap: each has one owner, and they add up to the step. A step lasts
-- from the end of the step before, on all ranks, to its own; the first from the moment when all
-- ranks have begun. Only what is on this path can make the step shorter, and only until another
-- path is the longest: see what_if. Worked out by replay from launches, streams, waits and matched
-- collectives, on the aligned clocks; times of stretches are as the replay has them. A gathered
-- database has collectives alone: there what a rank did between two of them has no name.
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
--                               replay knows; own: of a gathered database, what a rank did between
--                               collectives, by its host or its GPU.
-- column: name      text        The GPU activity, or what the host was in; of a gathered database
--                               that of collectives alone. "before X": the host took 0.5 ms or
--                               more and was in no slice of 0.25 ms or more, so that what it did
--                               is not recorded; X came after it.
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

WITH RECURSIVE way (path_id, name, op, module) AS (  -- from the outermost inwards
  SELECT path_id, name, op, iif(kind = 'module', name, NULL)
  FROM call_paths WHERE parent_id IS NULL
  UNION ALL
  SELECT c.path_id, c.name, c.op, iif(c.kind = 'module', c.name, w.module)
  FROM way w JOIN call_paths c ON c.parent_id = w.path_id
),
place AS MATERIALIZED (SELECT path_id, name, op, module FROM way),
piece AS (  -- by numbers: texts would be written and read again by each pass over the pieces
  SELECT c.run_id, c.capture, c.capture_id, p.step, p.rank, p.kind, p.start_ns, p.dur_ns,
         h.path_id,
         CASE
           WHEN p.kind = 'unrecorded' THEN NULL
           WHEN p.held_by IS NOT NULL THEN p.held_name_id
           WHEN p.kind = 'host'  -- -1: before what it is named after; not so the end of a step
             THEN iif(p.dur_ns >= 2 * 250000
                      AND (h.path_id IS NOT NULL
                           OR (SELECT s.name FROM slices s WHERE s.slice_id = p.slice_id)
                              NOT GLOB 'ProfilerStep#*'), -1, NULL)
           WHEN p.kind <> 'recorder'
             THEN (SELECT a.name_id FROM activity_times a
                   WHERE a.slice_id = coalesce(p.launch_of, p.slice_id))
         END AS name_id,
         CASE WHEN p.held_by IS NULL
                   AND (p.kind = 'recorder' OR (p.kind = 'host' AND h.path_id IS NULL))
              THEN (SELECT s.name FROM slices s WHERE s.slice_id = p.slice_id)
         END AS slice_name
  FROM captures c
  CROSS JOIN replay_path(c.capture_id, :changes) p
  LEFT JOIN launches l ON l.slice_id = coalesce(p.launch_of, p.slice_id)
  LEFT JOIN place h ON h.path_id = l.path_id
  WHERE (:run IS NULL OR c.run = :run) AND (:capture IS NULL OR c.capture = :capture)
    AND (:step IS NULL OR p.step IN (SELECT value FROM json_each(:step)))
  LIMIT -1  -- handed on row by row: each is worked out once, and none is kept
),
followed AS (
  SELECT *, row_number() OVER w AS turn,
         step IS lag(step) OVER w AND capture_id = lag(capture_id) OVER w
           AND rank = lag(rank) OVER w AND kind = lag(kind) OVER w AS is_like,
         lag(name_id) OVER w AS name_id_before, lag(path_id) OVER w AS path_id_before,
         lag(slice_name) OVER w AS slice_name_before
  FROM piece
  WINDOW w AS (ORDER BY run_id, capture, start_ns ROWS UNBOUNDED PRECEDING)
),
told AS (  -- of other numbers the texts: several names are one text, and so are operators
  SELECT f.*,
         CASE
           WHEN f.is_like IS NOT 1 THEN 1
           WHEN f.name_id IS f.name_id_before AND f.path_id IS f.path_id_before
             AND f.slice_name IS f.slice_name_before THEN 0
           WHEN f.name_id IS -1 OR f.name_id_before IS -1 THEN 1
           WHEN h.op IS b.op AND h.module IS b.module
             AND coalesce((SELECT n.name FROM names n WHERE n.name_id = f.name_id),
                          f.slice_name, iif(f.kind = 'host', h.name, NULL))
              IS coalesce((SELECT n.name FROM names n WHERE n.name_id = f.name_id_before),
                          f.slice_name_before, iif(f.kind = 'host', b.name, NULL)) THEN 0
           ELSE 1
         END AS is_new
  FROM followed f LEFT JOIN place h ON h.path_id = f.path_id
  LEFT JOIN place b ON b.path_id = f.path_id_before
),
numbered AS (
  SELECT capture_id, step, rank, kind, start_ns, dur_ns, name_id, path_id, slice_name,
         sum(is_new) OVER (ORDER BY turn ROWS UNBOUNDED PRECEDING) AS number
  FROM told
),
stretch AS (  -- all of one stretch have one name: which of them is taken says the same
  SELECT number, capture_id, step, rank, kind, name_id, path_id, slice_name,
         min(start_ns) AS start_ns, sum(dur_ns) AS dur_ns
  FROM numbered GROUP BY number
)
SELECT
  c.run,
  c.capture,
  s.step,
  s.rank,
  (s.start_ns - r.start_ns) / 1e6 AS start_ms,
  s.dur_ns / 1e6 AS dur_ms,
  s.kind,
  coalesce((SELECT n.name FROM names n WHERE n.name_id = s.name_id),
           iif(s.name_id = -1, 'before ', '')
             || coalesce(s.slice_name, iif(s.kind = 'host', h.name, NULL))) AS name,
  h.op,
  h.module
FROM stretch s JOIN captures c ON c.capture_id = s.capture_id JOIN runs r ON r.run_id = c.run_id
LEFT JOIN place h ON h.path_id = s.path_id
ORDER BY s.number;
