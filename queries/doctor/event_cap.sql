-- title: Captures that stop at exactly a million events
--
-- The trace viewer export of TensorFlow and JAX writes 1,000,000 events and drops the rest without
-- a word. A trace with exactly so many, with or without its metadata events, is taken for such a
-- one: by chance that number is rare.
--
-- param:  cap  int(count)  = 1000000  The number of events.
--
-- meaning: Events are missing that nothing else tells of, the shortest ones first: counts, busy
--   times and sums by name are too small by an unknown amount.
-- advice: Raise TF_PROFILER_TRACE_VIEWER_MAX_EVENTS and record again, or record fewer steps.
--
-- column: severity  text        Always finding.
-- column: run       text        Its run: one training job that was recorded.
-- column: trace_id  int(id)     The trace.
-- column: rank      int(id)     Its rank.
-- column: count     int(count)  Events in the file.
-- column: metadata  int(count)  Of these, events that only name processes and threads.
-- column: last_ms   real(ms)    End of the last event, since the trace's first.
-- column: path      text        The file.
--
-- empty:  No trace has exactly that many events.

WITH large AS (
  SELECT trace_id, run, rank, path, start_ns, end_ns, events + skipped_events AS all_events,
         (SELECT count(*) FROM metadata m WHERE m.trace_id = t.trace_id)
           AS metadata
  FROM traces t
  WHERE events + skipped_events >= coalesce(:cap, 1000000)
)
SELECT
  'finding' AS severity,
  run,
  trace_id,
  rank,
  all_events AS count,
  metadata,
  (end_ns - start_ns) / 1e6 AS last_ms,
  path
FROM large
WHERE coalesce(:cap, 1000000) IN (all_events, all_events - metadata)
ORDER BY run, rank, trace_id;
