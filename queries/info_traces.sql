-- title: The traces in the database
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
--
-- column: run             text        The run: one training job that was recorded.
-- column: capture         int(count)  The capture, by its number in the run.
-- column: trace_id        int(id)     Number of the trace in this database.
-- column: rank            int(id)     The rank.
-- column: world_size      int(count)  Ranks of the whole job, as the header has it.
-- column: gpu_name        text        The first GPU that the header lists.
-- column: events          int(count)  Events stored.
-- column: slices          int(count)  Events with a duration.
-- column: kernels         int(count)  GPU activities: kernels, copies and fills.
-- column: streams         int(count)  GPU streams in it.
-- column: steps           int(count)  Profiler steps.
-- column: duration_ms     real(ms)    From the first start of an event to the last end.
-- column: skipped_events  int(count)  Events that could not be read.
-- column: issues          int(count)  Kinds of trouble met; `tracedb info --issues` lists them.
-- column: complete        int(count)  0: the file was cut short or damaged.
-- column: path            text        The file, as it was given to ingest.
--
-- about:  the database
-- plot:   bar events by run, trace_id, rank
-- empty:  The database holds no trace.

WITH streams_of AS (
  SELECT trace_id, count(*) AS streams FROM stream_uses GROUP BY trace_id
),
steps_of AS (
  SELECT trace_id, count(*) AS steps FROM steps GROUP BY trace_id
),
issues_of AS (
  SELECT trace_id, count(*) AS issues FROM issues GROUP BY trace_id
)
SELECT
  t.run,
  t.capture,
  t.trace_id,
  t.rank,
  t.world_size,
  t.gpu_name,
  t.events,
  t.slices,
  t.gpu_activities AS kernels,
  ifnull(u.streams, 0) AS streams,
  ifnull(s.steps, 0) AS steps,
  (t.end_ns - t.start_ns) / 1e6 AS duration_ms,
  t.skipped_events,
  ifnull(i.issues, 0) AS issues,
  t.complete,
  t.path
FROM traces t
LEFT JOIN streams_of u ON u.trace_id = t.trace_id
LEFT JOIN steps_of s ON s.trace_id = t.trace_id
LEFT JOIN issues_of i ON i.trace_id = t.trace_id
WHERE (:run IS NULL OR t.run = :run) AND (:capture IS NULL OR t.capture = :capture)
  AND (:rank IS NULL OR t.rank IN (SELECT value FROM json_each(:rank)))
ORDER BY t.run, t.capture, t.rank, t.trace_id;
