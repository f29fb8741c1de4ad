-- title: How much memory was used at most, and how much unused
--
-- From the profiler's memory events (profile_memory=True), one row for each device of each rank.
-- Allocated is what tensors hold; reserved is what the caching allocator took from the device.
-- Reserved memory that is not allocated is cached or fragmented: a job that runs out of memory
-- with a large unused_pct can try expandable segments.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
--
-- column: run                     text        The run: one training job that was recorded.
-- column: rank                    int(id)     The rank.
-- column: device_type             int(id)     0: host; 1: CUDA; others as PyTorch numbers them.
-- column: device_id               int(id)     The number of the device; -1 for the host.
-- column: peak_allocated_bytes    int(bytes)  Allocated at most; NULL where the trace counts none.
-- column: peak_ms                 real(ms)    When first, since the first event of the run.
-- column: peak_step               int(count)  In which step of the host; NULL outside of them.
-- column: reserved_at_peak_bytes  int(bytes)  Reserved at that time.
-- column: unused_pct              real(pct)   Of that, what was not allocated.
-- column: peak_reserved_bytes     int(bytes)  Reserved at most.
-- column: allocations             int(count)  Events that allocated.
-- column: releases                int(count)  Events that gave back.
-- column: churn_bytes             int(bytes)  Bytes of all allocations.
-- column: largest_bytes           int(bytes)  The largest of them.
--
-- about:  memory
-- lead:   rank, device_id, peak_allocated_bytes, peak_ms, peak_step, unused_pct
-- plot:   bar peak_allocated_bytes by run, rank, device_type, device_id
-- empty:  No memory event is in the database: record with profile_memory=True.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run, rank, run_start_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
used AS MATERIALIZED (  -- by two numbers before anything is looked up
  SELECT track_id, args_id, max(max_allocated) AS allocated, max(max_reserved) AS reserved,
         sum(allocations) AS allocations, sum(releases) AS releases,
         sum(taken_bytes) AS churn_bytes, max(largest_bytes) AS largest_bytes
  FROM memory_pieces
  WHERE coalesce(:run, :capture, :rank) IS NULL
     OR track_id IN (SELECT k.track_id FROM tracks k JOIN trace t ON t.trace_id = k.trace_id)
  GROUP BY track_id, args_id
),
of_device AS MATERIALIZED (
  SELECT t.run, t.rank, d.device_type, d.device_id, max(u.allocated) AS allocated,
         max(u.reserved) AS reserved, sum(u.allocations) AS allocations,
         sum(u.releases) AS releases, sum(u.churn_bytes) AS churn_bytes,
         max(u.largest_bytes) AS largest_bytes
  FROM used u JOIN tracks k ON k.track_id = u.track_id JOIN trace t ON t.trace_id = k.trace_id
  JOIN memory_devices d ON d.args_id = u.args_id
  GROUP BY t.run, t.rank, d.device_type, d.device_id
),
peak AS MATERIALIZED (  -- pieces that reach it
  SELECT t.run, t.rank, t.run_start_ns, v.device_type, v.device_id, d.allocated, p.*
  FROM memory_pieces p CROSS JOIN trace t ON t.trace_id = p.trace_id
  CROSS JOIN memory_devices v ON v.args_id = p.args_id
  CROSS JOIN of_device d ON d.run = t.run AND d.rank = t.rank
    AND d.device_type IS v.device_type AND d.device_id IS v.device_id
    AND d.allocated = p.max_allocated
  WHERE p.max_allocated > 0
),
at_peak AS (
  SELECT p.run, p.rank, p.trace_id, p.device_type, p.device_id, e.ts + k.base_ns AS ts_ns,
         e.total_reserved_bytes AS reserved, p.run_start_ns,
         row_number() OVER (PARTITION BY p.run, p.rank, p.device_type, p.device_id
                            ORDER BY e.ts + k.base_ns, e.instant_id) AS place
  FROM peak p CROSS JOIN tracks k ON k.track_id = p.track_id
  CROSS JOIN memory_times e ON e.instant_id BETWEEN p.first_id AND p.last_id
    AND +e.track_id = p.track_id AND +e.args_id = p.args_id
    AND +e.total_allocated_bytes = p.allocated
)
SELECT
  d.run,
  d.rank,
  d.device_type,
  d.device_id,
  nullif(d.allocated, 0) AS peak_allocated_bytes,
  (p.ts_ns - p.run_start_ns) / 1e6 AS peak_ms,
  (SELECT max(s.step) FROM steps s
   WHERE s.trace_id = p.trace_id AND s.ts_ns <= p.ts_ns AND p.ts_ns < s.ts_ns + s.dur_ns)
    AS peak_step,
  p.reserved AS reserved_at_peak_bytes,
  100.0 * (p.reserved - d.allocated) / nullif(p.reserved, 0) AS unused_pct,
  nullif(d.reserved, 0) AS peak_reserved_bytes,
  d.allocations,
  d.releases,
  ifnull(d.churn_bytes, 0) AS churn_bytes,
  iif(d.allocations > 0, d.largest_bytes, NULL) AS largest_bytes
FROM of_device d
LEFT JOIN at_peak p ON p.run = d.run AND p.rank = d.rank AND p.device_type IS d.device_type
  AND p.device_id IS d.device_id AND p.place = 1
ORDER BY d.run, d.rank, d.device_type, d.device_id;
