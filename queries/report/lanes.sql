-- title: The lines of a timeline: streams, and threads of hosts
--
-- One row for each stream and thread on which something with a duration ran, in the order in which
-- a timeline shows them: of each rank its streams, what is annotated on these, and its threads.
--
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run        text      The run: one training job that was recorded.
-- column: lane       int(id)   Its number: of its first track, in `tracks`.
-- column: rank       int(id)   The rank.
-- column: where_is   text      stream, annotation (of a stream) or thread.
-- column: device     text      The GPU, as the trace calls it; NULL of threads.
-- column: stream     text      The stream; NULL of threads.
-- column: pid        text      The process.
-- column: tid        text      The thread.
-- column: name       text      The thread's name, where the trace has one.
--
-- empty:  No trace is in the database: tracedb ingest adds some.

WITH recorded AS MATERIALIZED (
  SELECT trace_id, run_id, run, rank FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
track AS MATERIALIZED (
  SELECT r.run_id, r.run, r.rank, t.*,
         EXISTS (SELECT 1 FROM tracks g WHERE g.trace_id = t.trace_id AND g.pid = t.pid
                   AND g.tid = t.tid AND g.device IS NOT NULL) AS is_gpu_pid
  FROM recorded r JOIN tracks t ON t.trace_id = r.trace_id
)
SELECT
  t.run,
  min(t.track_id) AS lane,
  t.rank,
  CASE WHEN t.device IS NOT NULL THEN 'stream' WHEN t.is_gpu_pid THEN 'annotation'
       ELSE 'thread' END AS where_is,
  t.device,
  t.stream,
  CAST(t.pid AS TEXT) AS pid,
  CAST(t.tid AS TEXT) AS tid,
  max(CASE WHEN t.device IS NULL THEN (SELECT n.name FROM threads n WHERE n.trace_id = t.trace_id
         AND n.pid = t.pid AND n.tid = t.tid) END) AS name
FROM track t
GROUP BY t.run_id, t.rank, t.trace_id, t.device, t.stream,
  CASE WHEN t.device IS NULL THEN t.pid END, CASE WHEN t.device IS NULL THEN t.tid END
ORDER BY t.run_id, t.rank, t.device IS NULL AND NOT t.is_gpu_pid, CAST(t.device AS INTEGER),
  t.device, CAST(t.stream AS INTEGER), t.stream, lane;
