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
  FROM peak p CROSS JOIN memory_events e ON e.trace_id = p.trace_id
  WHERE e.device_type IS p.device_type AND e.device_id IS p.device_id AND e.addr IS NOT NULL
    AND (e.ts_ns < p.ts_ns OR e.ts_ns = p.ts_ns AND e.instant_id <= p.instant_id)
),
held AS MATERIALIZED (
  SELECT row_number() OVER () AS block, t.run_id, t.bytes, t.track_id,
         t.ts_ns - k.base_ns AS ts
  FROM touched t JOIN tracks k ON k.track_id = t.track_id
  WHERE t.choice = 1 AND t.bytes > 0
),
piece(block, track_id, ts, bucket) AS MATERIALIZED (  -- short slices begin in this piece of time
  SELECT block, track_id, ts, ts / 250000 FROM held      -- or in that before
  UNION ALL SELECT block, track_id, ts, ts / 250000 - 1 FROM held
),
within AS (
  SELECT p.block, s.ts, s.name_id
  FROM operator_slices s CROSS JOIN piece p ON p.bucket = s.ts / 250000 AND p.track_id = s.track_id
  WHERE s.dur_ns < 250000 AND s.ts <= p.ts AND s.ts + s.dur_ns >= p.ts
  UNION ALL
  SELECT h.block, s.ts, s.name_id
  FROM held h CROSS JOIN operator_slices s ON s.track_id = h.track_id AND s.dur_ns >= 250000
       AND s.ts <= h.ts AND s.ts + s.dur_ns >= h.ts
),
named AS MATERIALIZED (  -- those that only make room for others say less
  SELECT w.block, n.name, max(w.ts - iif(n.name GLOB 'aten::empty*', 1000000000000000000, 0))
  FROM within w JOIN names n ON n.name_id = w.name_id
  WHERE n.name NOT GLOB 'ProfilerStep#*' GROUP BY w.block
),
module AS MATERIALIZED (  -- backwards from the block: the innermost began last
  SELECT h.block,
         (SELECT substr(n.name, 12)
          FROM function_slices s CROSS JOIN names n ON n.name_id = s.name_id
          WHERE s.track_id = h.track_id AND s.dur_ns >= 250000
            AND s.ts <= h.ts AND s.ts + s.dur_ns >= h.ts AND n.name GLOB 'nn.Module: *'
          ORDER BY s.ts DESC LIMIT 1) AS name
  FROM held h
),
summed AS (
  SELECT h.run_id, 'recorded' AS origin, m.name AS module, o.name AS op, count(*) AS blocks,
         sum(h.bytes) AS bytes
  FROM held h LEFT JOIN named o ON o.block = h.block LEFT JOIN module m ON m.block = h.block
  GROUP BY h.run_id, m.name, o.name
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
