-- title: How memory was used over time
--
-- From the profiler's memory events (profile_memory=True). The time of a capture, from the first
-- event of its traces to the last, is cut into bins of one length, the same for every rank. One row
-- for each bin in which a device of a rank has a memory event, made of the events that lie in it;
-- until the next row of the capture the last values hold. Allocated is what tensors hold; reserved
-- is what the caching allocator took from the device.
--
-- param:  bins     int(count)  = 200   Bins, and so rows of a device in a capture, at most.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     int(id)     = null  This rank and its time only; all of them when null.
--
-- column: run                   text        The run: one training job that was recorded.
-- column: capture               int(count)  The capture, by its number in the run.
-- column: rank                  int(id)     The rank.
-- column: device_type           int(id)     0: host; 1: CUDA; others as PyTorch numbers them.
-- column: device_id             int(id)     The number of the device; -1 for the host.
-- column: start_ms              real(ms)    Start of the bin, since the first event of the run.
-- column: bin_ms                real(ms)    How long a bin is; the same in a capture.
-- column: events                int(count)  Allocations and releases in it.
-- column: min_allocated_bytes   int(bytes)  The least allocated after one of them.
-- column: max_allocated_bytes   int(bytes)  The most.
-- column: last_allocated_bytes  int(bytes)  After the last of them.
-- column: min_reserved_bytes    int(bytes)  The least reserved after one of them.
-- column: max_reserved_bytes    int(bytes)  The most.
-- column: last_reserved_bytes   int(bytes)  After the last of them.
--
-- empty:  No memory event is in the database: record with profile_memory=True.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run, capture, capture_id, rank, run_start_ns, start_ns, end_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank = :rank)
),
axis AS MATERIALIZED (  -- step_ns: whole, so that the last event lies in the last bin
  SELECT capture_id, run, capture, run_start_ns, first_ns,
         (last_ns - first_ns) / bins + 1 AS step_ns
  FROM (SELECT capture_id, run, capture, run_start_ns, min(start_ns) AS first_ns,
               max(end_ns) AS last_ns
        FROM trace GROUP BY capture_id)
  CROSS JOIN (SELECT min(max(coalesce(:bins, 200), 1), 1000000) AS bins)
),
size AS MATERIALIZED (
  SELECT min(max(coalesce(:bins, 200), 1), 1000000) AS bins,
         (SELECT max(args_id) + 1 FROM args_texts) AS args
),
lane AS MATERIALIZED (
  SELECT k.track_id, t.capture_id, t.rank, x.first_ns, x.step_ns
  FROM tracks k JOIN trace t ON t.trace_id = k.trace_id JOIN axis x ON x.capture_id = t.capture_id
),
used AS MATERIALIZED (  -- one number as key: track, args (they tell the device) and bin
  SELECT (e.track_id * z.args + e.args_id) * z.bins + (e.ts_ns - w.first_ns) / w.step_ns AS place,
         count(*) AS events, min(total_allocated_bytes) AS min_allocated,
         max(total_allocated_bytes) AS max_allocated, min(total_reserved_bytes) AS min_reserved,
         max(total_reserved_bytes) AS max_reserved, max(ts_ns) AS last_ns
  FROM size z CROSS JOIN memory_events e CROSS JOIN lane w ON w.track_id = e.track_id
  GROUP BY 1
),
of_device AS MATERIALIZED (
  SELECT w.capture_id, w.rank, d.device_type, d.device_id, u.place % z.bins AS bin,
         sum(u.events) AS events, min(u.min_allocated) AS min_allocated,
         max(u.max_allocated) AS max_allocated, min(u.min_reserved) AS min_reserved,
         max(u.max_reserved) AS max_reserved, max(u.last_ns) AS last_ns
  FROM size z CROSS JOIN used u CROSS JOIN lane w ON w.track_id = u.place / z.bins / z.args
  CROSS JOIN memory_devices d ON d.args_id = u.place / z.bins % z.args
  GROUP BY w.capture_id, w.rank, d.device_type, d.device_id, bin
),
last_of AS MATERIALIZED (  -- of several at one time the last in the trace
  SELECT d.capture_id, d.rank, d.device_type, d.device_id, d.bin, max(e.instant_id) AS instant_id,
         e.total_allocated_bytes, e.total_reserved_bytes
  FROM memory_events e CROSS JOIN trace t ON t.trace_id = e.trace_id
  CROSS JOIN of_device d ON d.capture_id = t.capture_id AND d.rank = t.rank
    AND d.device_type IS e.device_type AND d.device_id IS e.device_id AND d.last_ns = e.ts_ns
  WHERE e.ts_ns IN (SELECT last_ns FROM of_device)
  GROUP BY d.capture_id, d.rank, d.device_type, d.device_id, d.bin
)
SELECT
  x.run,
  x.capture,
  d.rank,
  d.device_type,
  d.device_id,
  (x.first_ns + d.bin * x.step_ns - x.run_start_ns) / 1e6 AS start_ms,
  x.step_ns / 1e6 AS bin_ms,
  d.events,
  d.min_allocated AS min_allocated_bytes,
  d.max_allocated AS max_allocated_bytes,
  o.total_allocated_bytes AS last_allocated_bytes,
  d.min_reserved AS min_reserved_bytes,
  d.max_reserved AS max_reserved_bytes,
  o.total_reserved_bytes AS last_reserved_bytes
FROM of_device d JOIN axis x ON x.capture_id = d.capture_id
JOIN last_of o ON o.capture_id = d.capture_id AND o.rank = d.rank
  AND o.device_type IS d.device_type AND o.device_id IS d.device_id AND o.bin = d.bin
ORDER BY x.run, x.capture, d.rank, d.device_type, d.device_id, d.bin;
