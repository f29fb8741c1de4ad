-- title: What the kernels of a rank were launched in, as a tree
--
-- One row for each piece of a call path (operator, annotation, module or function), and below it
-- one for each kernel that was launched right in it. Times are the rank's, over all its captures.
--
-- param:  rank     int(id)     = null  This rank; all of them when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  limit    int(rows)   = null  Kernels at most, those that take longest; all when null.
--
-- column: run         text        The run: one training job that was recorded.
-- column: rank        int(id)     The rank.
-- column: node        int(id)     The piece's number, as in call_paths; NULL of a kernel.
-- column: parent      int(id)     What it is in; NULL the outermost.
-- column: kind        text        operator, annotation, function, module or kernel.
-- column: name        text        Its name.
-- column: activities  int(count)  Of a kernel: how often it ran.
-- column: gpu_ms      real(ms)    Of a kernel: how long, in all. 0 of others: their kernels tell.
--
-- empty:  No launch is in the traces: kernels without one have no path.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH RECURSIVE recorded AS MATERIALIZED (
  SELECT trace_id, run_id, run, rank FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank = :rank)
),
ran AS MATERIALIZED (  -- in the order of one number; a path is of one trace
  SELECT r.trace_id, k.path_id, g.name_id, count(*) AS activities, sum(g.dur_ns) AS gpu_ns
  FROM recorded r JOIN tracks t ON t.trace_id = r.trace_id
  JOIN activity_times g ON g.track_id = t.track_id JOIN launches k ON k.slice_id = g.slice_id
  WHERE k.path_id IS NOT NULL AND g.dur_ns > 0
  GROUP BY k.path_id * (SELECT max(name_id) + 1 FROM names) + g.name_id
),
kernel AS MATERIALIZED (
  SELECT *, row_number() OVER (ORDER BY gpu_ns DESC, path_id, name_id) AS place FROM ran
),
shown AS MATERIALIZED (
  SELECT * FROM kernel WHERE :limit IS NULL OR :limit < 0 OR place <= :limit
),
up (path_id, pieces) AS (  -- a path has no more pieces than a thread has slices open
  SELECT DISTINCT path_id, 1 FROM shown
  UNION
  SELECT c.parent_id, u.pieces + 1 FROM up u JOIN call_paths c ON c.path_id = u.path_id
  WHERE c.parent_id IS NOT NULL AND u.pieces < 256
),
node AS (SELECT DISTINCT path_id FROM up)
SELECT run, rank, node, parent, kind, name, activities, gpu_ms
FROM (
  SELECT r.run_id, r.run, r.rank, c.path_id AS node, c.parent_id AS parent, c.kind, c.name,
         NULL AS activities, 0.0 AS gpu_ms
  FROM node n JOIN call_paths c ON c.path_id = n.path_id
  JOIN recorded r ON r.trace_id = c.trace_id
  UNION ALL
  SELECT r.run_id, r.run, r.rank, NULL, s.path_id, 'kernel', l.name, s.activities, s.gpu_ns / 1e6
  FROM shown s JOIN recorded r ON r.trace_id = s.trace_id JOIN names l ON l.name_id = s.name_id
)
ORDER BY run_id, rank, kind = 'kernel', node, gpu_ms DESC, parent, name;
