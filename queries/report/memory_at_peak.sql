-- title: What was allocated when most memory was
--
-- Of the device on which most was allocated (by the profiler's memory events), and of the moment
-- when it was: what had been allocated in the recording and not released, by the operator and the
-- module in which it was allocated. What was allocated before the recording began has a row of its
-- own: what the trace counts in total beyond that.
--
-- param:  limit    int(rows)   = 25    Rows of a run at most, the most bytes first.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run          text        The run: one training job that was recorded.
-- column: rank         int(id)     The rank.
-- column: device_type  int(id)     0: host; 1: CUDA; others as PyTorch numbers them.
-- column: device_id    int(id)     The number of the device; -1 for the host.
-- column: peak_ms      real(ms)    When most was allocated first, since the first event of the run.
-- column: peak_bytes   int(bytes)  How much that was.
-- column: origin       text        recorded, or before: allocated before the recording.
-- column: module       text        The innermost module that took 0.25 ms or more; NULL: none.
-- column: op           text        The innermost operator or annotation but aten::empty
--                              and its like, if there is another; NULL: in none.
-- column: blocks       int(count)  How many allocations; NULL of before.
-- column: bytes        int(bytes)  Theirs together.
-- column: share_pct    real(pct)   Of peak_bytes.
--
-- empty:  No memory event that says how much is allocated in total is in the database: record with
--         profile_memory=True.

WITH recorded AS MATERIALIZED (
  SELECT trace_id, run_id, run, rank, run_start_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
most AS MATERIALIZED (
  SELECT * FROM (
    SELECT r.run_id, p.trace_id, d.device_type, d.device_id, max(p.max_allocated) AS bytes,
           row_number() OVER (PARTITION BY r.run_id ORDER BY d.device_type = 0,
                              max(p.max_allocated) DESC, p.trace_id, d.device_id) AS choice
    FROM memory_pieces p JOIN recorded r ON r.trace_id = p.trace_id
         JOIN memory_devices d ON d.args_id = p.args_id
    WHERE p.max_allocated > 0
    GROUP BY p.trace_id, d.device_type, d.device_id)
  WHERE choice = 1
),
peak AS MATERIALIZED (  -- when that was first: in a piece that reaches it
  SELECT m.*, min(e.ts + k.base_ns) AS ts_ns, e.instant_id
  FROM most m CROSS JOIN memory_pieces p ON p.trace_id = m.trace_id
       AND p.max_allocated = m.bytes
  CROSS JOIN memory_devices d ON d.args_id = p.args_id AND d.device_type IS m.device_type
       AND d.device_id IS m.device_id
  CROSS JOIN tracks k ON k.track_id = p.track_id
  CROSS JOIN memory_times e ON e.instant_id BETWEEN p.first_id AND p.last_id
       AND +e.track_id = p.track_id AND +e.args_id = p.args_id
       AND +e.total_allocated_bytes = m.bytes
  GROUP BY m.run_id
),
touched AS (  -- of each address what happened last
  SELECT p.run_id, e.bytes, e.track_id, e.ts_ns,
         row_number() OVER (PARTITION BY p.run_id, e.addr ORDER BY e.ts_ns DESC, e.instant_id DESC)
           AS choice
  FROM peak p CROSS JOIN memory_pieces m ON m.trace_id = p.trace_id
  CROSS JOIN memory_devices d ON d.args_id = m.args_id AND d.device_type IS p.device_type
    AND d.device_id IS p.device_id
  CROSS JOIN tracks k ON k.track_id = m.track_id AND m.start_ts + k.base_ns <= p.ts_ns
  CROSS JOIN memory_events e ON e.instant_id BETWEEN m.first_id AND m.last_id
    AND +e.track_id = m.track_id AND +e.args_id = m.args_id
  WHERE e.addr IS NOT NULL
    AND (e.ts_ns < p.ts_ns OR e.ts_ns = p.ts_ns AND e.instant_id <= p.instant_id)
),
held AS MATERIALIZED (
  SELECT row_number() OVER () AS block, t.run_id, t.bytes, t.track_id,
         t.ts_ns - k.base_ns AS ts
  FROM touched t JOIN tracks k ON k.track_id = t.track_id
  WHERE t.choice = 1 AND t.bytes > 0
),
recent AS MATERIALIZED (
  SELECT h.track_id, min(k.trace_id) AS trace_id, min(h.ts) AS from_ts, max(h.ts) AS to_ts
  FROM held h JOIN tracks k ON k.track_id = h.track_id GROUP BY h.track_id
),
part AS MATERIALIZED (  -- in which a short slice can have been open at one of these moments
  SELECT b.first_id, b.last_id
  FROM (SELECT trace_id, min(from_ts) AS from_ts, max(to_ts) AS to_ts FROM recent
        GROUP BY trace_id) w
  JOIN slice_parts b ON b.trace_id = w.trace_id
  WHERE b.start_ts IS NULL OR (b.end_ts >= w.from_ts AND b.start_ts <= w.to_ts)
),
-- Which slices were open at a moment: one that takes less than a width began in the moment's piece
-- of time, of that width, or in the piece before. A slice is looked for by the least width that is
-- longer than it (the last is 36 years): so no moment is compared with all slices before it.
moment(block, track_id, ts, width, bucket) AS MATERIALIZED (
  SELECT h.block, h.track_id, h.ts, w.width, h.ts / w.width - b.back
  FROM held h
  CROSS JOIN (SELECT 250000 AS width UNION ALL SELECT 1 << 22 UNION ALL SELECT 1 << 26 UNION ALL
              SELECT 1 << 30 UNION ALL SELECT 1 << 34 UNION ALL SELECT 1 << 60) w
  CROSS JOIN (SELECT 0 AS back UNION ALL SELECT 1) b
),
long AS (
  SELECT 0 AS is_module, o.slice_id, o.track_id, o.ts, o.dur_ns, o.name_id
  FROM recent r CROSS JOIN operator_slices o ON o.track_id = r.track_id AND o.ts <= r.to_ts
  WHERE o.dur_ns >= 250000
  UNION ALL
  SELECT 1, f.slice_id, f.track_id, f.ts, f.dur_ns, f.name_id
  FROM recent r CROSS JOIN function_slices f ON f.track_id = r.track_id AND f.ts <= r.to_ts
  WHERE f.dur_ns >= 250000
    AND f.name_id IN (SELECT name_id FROM names WHERE name GLOB 'nn.Module: *')
),
sized AS MATERIALIZED (
  SELECT *, CASE WHEN dur_ns < 1 << 22 THEN 1 << 22 WHEN dur_ns < 1 << 26 THEN 1 << 26
                 WHEN dur_ns < 1 << 30 THEN 1 << 30 WHEN dur_ns < 1 << 34 THEN 1 << 34
                 ELSE 1 << 60 END AS width
  FROM long
),
within AS (
  SELECT m.block, 0 AS is_module, s.slice_id, s.ts, s.dur_ns, s.name_id
  FROM part p CROSS JOIN operator_slices s ON s.slice_id BETWEEN p.first_id AND p.last_id
  CROSS JOIN moment m ON m.bucket = s.ts / 250000 AND m.track_id = s.track_id AND m.width = 250000
  WHERE s.dur_ns < 250000 AND s.ts <= m.ts AND s.ts + s.dur_ns >= m.ts
  UNION ALL
  SELECT m.block, s.is_module, s.slice_id, s.ts, s.dur_ns, s.name_id
  FROM sized s CROSS JOIN moment m ON m.bucket = s.ts / s.width AND m.track_id = s.track_id
    AND m.width = s.width
  WHERE s.ts <= m.ts AND s.ts + s.dur_ns >= m.ts
),
innermost AS (  -- an operator that only makes room for others says less
  SELECT w.block, w.is_module, n.name,
         row_number() OVER (PARTITION BY w.block, w.is_module
                            ORDER BY n.name GLOB 'aten::empty*', w.ts DESC, w.dur_ns,
                                     w.slice_id DESC) AS place
  FROM within w JOIN names n ON n.name_id = w.name_id
  WHERE n.name NOT GLOB 'ProfilerStep#*'
),
named AS MATERIALIZED (
  SELECT block, max(iif(is_module, substr(name, 12), NULL)) AS module,
         max(iif(is_module, NULL, name)) AS op
  FROM innermost WHERE place = 1 GROUP BY block
),
summed AS (
  SELECT h.run_id, 'recorded' AS origin, n.module, n.op, count(*) AS blocks, sum(h.bytes) AS bytes
  FROM held h LEFT JOIN named n ON n.block = h.block
  GROUP BY h.run_id, n.module, n.op
  UNION ALL
  SELECT p.run_id, 'before', NULL, NULL, NULL,
         p.bytes - ifnull((SELECT sum(bytes) FROM held h WHERE h.run_id = p.run_id), 0)
  FROM peak p
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY bytes DESC, origin, module, op) AS n
  FROM summed WHERE bytes > 0
)
SELECT
  r.run,
  r.rank,
  p.device_type,
  p.device_id,
  (p.ts_ns - r.run_start_ns) / 1e6 AS peak_ms,
  p.bytes AS peak_bytes,
  s.origin,
  s.module,
  s.op,
  s.blocks,
  s.bytes,
  100.0 * s.bytes / p.bytes AS share_pct
FROM placed s JOIN peak p ON p.run_id = s.run_id JOIN recorded r ON r.trace_id = p.trace_id
WHERE :limit < 0 OR s.n <= coalesce(:limit, 25)
ORDER BY p.run_id, s.n;
