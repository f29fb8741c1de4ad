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

SELECT
  run,
  capture,
  trace_id,
  rank,
  world_size,
  gpu_name,
  events,
  slices,
  gpu_activities AS kernels,
  (SELECT count(*) FROM stream_uses s WHERE s.trace_id = t.trace_id) AS streams,
  (SELECT count(*) FROM steps s WHERE s.trace_id = t.trace_id) AS steps,
  (end_ns - start_ns) / 1e6 AS duration_ms,
  skipped_events,
  (SELECT count(*) FROM issues i WHERE i.trace_id = t.trace_id) AS issues,
  complete,
  path
FROM traces t
WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
  AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
ORDER BY run, capture, rank, trace_id;
