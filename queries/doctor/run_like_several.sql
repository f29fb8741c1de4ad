-- title: Captures of one run that look like several runs
--
-- Captures of one run are of the same processes, count Seq on, and go on with the steps. Looked for
-- are captures in which a rank has another process id than in the one before, in which the Seq of a
-- communicator begins anew, or which have the same step numbers again after `pause_ms` or more.
--
-- param:  pause_ms  real(ms)  = 1800000  The same steps again after less are let pass: a second
--                                        profiler of one process counts from 0 again.
--
-- meaning: A job that was started again, or another one, into the same folder is taken for one run:
--   figures by rank, stream and kernel are sums over both, and a comparison of the two is not
--   possible. Nothing is matched across captures.
-- advice: Ingest the traces of one of them again with a name of its own (--run NAME), or look at
--   one capture at a time (-p capture=1).
--
-- column: severity      text        Always finding.
-- column: run           text        The run.
-- column: capture       int(count)  The capture that looks like another run: its number in the run.
-- column: count         int(count)  Ranks of which it does.
-- column: signs         text        Of these: other process, Seq begins anew, same steps again.
-- column: pause_ms      real(ms)    The shortest time from a rank's capture before to this one.
-- column: before        int(count)  The capture before.
-- column: example_rank  int(id)     The lowest of the ranks.
-- column: path          text        Its file.
--
-- empty:  The captures of a run are of the same processes, as far as traces tell.

WITH followed AS MATERIALIZED (
  SELECT run_id, run, capture_id, capture, rank, trace_id, start_ns,
         lag(trace_id) OVER in_order AS id_before, lag(capture) OVER in_order AS before,
         lag(end_ns) OVER in_order AS end_before_ns
  FROM traces
  WINDOW in_order AS (PARTITION BY run_id, rank ORDER BY capture, trace_id)
),
process AS MATERIALIZED (
  SELECT s.trace_id, l.pid
  FROM (SELECT trace_id, min(slice_id) AS slice_id FROM steps GROUP BY trace_id) s
  JOIN slices l ON l.slice_id = s.slice_id
),
counted AS MATERIALIZED (
  SELECT trace_id, group_id, min(seq) AS first_seq, max(seq) AS last_seq
  FROM collectives WHERE group_id IS NOT NULL AND seq IS NOT NULL GROUP BY trace_id, group_id
),
numbered AS MATERIALIZED (
  SELECT DISTINCT trace_id, step FROM steps
),
other AS MATERIALIZED (
  SELECT f.trace_id
  FROM followed f JOIN process a ON a.trace_id = f.id_before
  JOIN process b ON b.trace_id = f.trace_id
  WHERE b.pid <> a.pid
),
anew AS MATERIALIZED (
  SELECT f.trace_id
  FROM followed f JOIN counted a ON a.trace_id = f.id_before
  JOIN counted b ON b.trace_id = f.trace_id AND b.group_id = a.group_id
  WHERE b.first_seq <= a.last_seq
),
again AS MATERIALIZED (
  SELECT f.trace_id
  FROM followed f JOIN numbered a ON a.trace_id = f.id_before
  JOIN numbered b ON b.trace_id = f.trace_id AND b.step = a.step
  WHERE (f.start_ns - f.end_before_ns) / 1e6 >= coalesce(:pause_ms, 1800000)
),
judged AS (
  SELECT *, trace_id IN (SELECT trace_id FROM other) AS is_other,
         trace_id IN (SELECT trace_id FROM anew) AS is_anew,
         trace_id IN (SELECT trace_id FROM again) AS is_again
  FROM followed
  WHERE id_before IS NOT NULL
),
found AS (
  SELECT run_id, run, capture_id, capture, count(*) AS count,
         substr(iif(max(is_other), ', other process', '')
                || iif(max(is_anew), ', Seq begins anew', '')
                || iif(max(is_again), ', same steps again', ''), 3) AS signs,
         min(start_ns - end_before_ns) / 1e6 AS pause_ms, max(before) AS before,
         min(rank) AS example_rank
  FROM judged
  WHERE is_other OR is_anew OR is_again
  GROUP BY run_id, capture_id
)
SELECT 'finding' AS severity, f.run, f.capture, f.count, f.signs, f.pause_ms, f.before,
       f.example_rank, t.path
FROM found f JOIN traces t ON t.capture_id = f.capture_id AND t.rank = f.example_rank
ORDER BY f.run_id, f.capture;
