-- title: The captures in the database
--
-- A capture is one cycle of the profiler: the traces of a run's ranks whose times overlap. The time
-- between two captures was not recorded and is in no figure.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run         text        The run: one training job that was recorded.
-- column: capture     int(count)  Its number in the run, by start.
-- column: ranks       int(count)  Ranks that were recorded in it.
-- column: start_ms    real(ms)    The first start of an event, since that of the run.
-- column: length_ms   real(ms)    From there to the last end.
-- column: first_step  int(count)  The lowest number of a profiler step; NULL without steps.
-- column: last_step   int(count)  The highest; other captures may have the same numbers.
--
-- about:  the database
-- plot:   bar length_ms by run, capture
-- empty:  The database holds no trace.

WITH numbered AS (
  SELECT t.capture_id, min(s.step) AS first_step, max(s.step) AS last_step
  FROM steps s JOIN traces t ON t.trace_id = s.trace_id GROUP BY t.capture_id
)
SELECT
  c.run,
  c.capture,
  c.ranks,
  (c.start_ns - r.start_ns) / 1e6 AS start_ms,
  (c.end_ns - c.start_ns) / 1e6 AS length_ms,
  n.first_step,
  n.last_step
FROM captures c JOIN runs r ON r.run_id = c.run_id
LEFT JOIN numbered n ON n.capture_id = c.capture_id
WHERE :run IS NULL OR c.run = :run
ORDER BY c.run, c.capture;
