-- title: Captures of a rank that are far apart
--
-- A profiler that records several cycles (schedule(repeat=2)) makes captures of one run. Looked for
-- are two that follow each other after a pause of more than `far_ms`.
--
-- param:  far_ms  real(ms)  = 21600000  A pause up to this (6 hours) is let pass.
--
-- meaning: The pause belongs to nobody, but figures by rank, stream and kernel are sums over the
--   captures: hours later a job may do something else (another phase, a restart, new data), and
--   then they are of two things.
-- advice: Look at one capture at a time (-p capture=1). If they are of two jobs, or of one before
--   and after a restart, ingest the traces of one of them again with a name of its own (--run
--   NAME).
--
-- column: severity      text        Always finding.
-- column: run           text        The run.
-- column: capture       int(count)  The later capture: its number in the run.
-- column: count         int(count)  Ranks that were captured before the pause and after it.
-- column: pause_ms      real(ms)    The shortest pause of these ranks.
-- column: before        int(count)  The capture before.
-- column: example_rank  int(id)     The lowest of the ranks.
-- column: path          text        Its file of the later capture.
--
-- empty:  No two captures of a rank are far apart.

WITH followed AS (
  SELECT run_id, run, capture_id, capture, rank, start_ns,
         lag(capture) OVER in_order AS before, lag(end_ns) OVER in_order AS end_before_ns
  FROM traces
  WHERE start_ns IS NOT NULL
  WINDOW in_order AS (PARTITION BY run_id, rank ORDER BY start_ns, trace_id)
),
found AS (
  SELECT run_id, run, capture_id, capture, count(*) AS count,
         min(start_ns - end_before_ns) / 1e6 AS pause_ms, max(before) AS before,
         min(rank) AS example_rank
  FROM followed
  WHERE (start_ns - end_before_ns) / 1e6 > coalesce(:far_ms, 21600000)
  GROUP BY run_id, capture_id
)
SELECT 'finding' AS severity, f.run, f.capture, f.count, f.pause_ms, f.before, f.example_rank,
       t.path
FROM found f JOIN traces t ON t.capture_id = f.capture_id AND t.rank = f.example_rank
ORDER BY f.run_id, f.capture;
