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
-- param:  rank     ints(id)    = null  These ranks and their time only; all of them when null.
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
-- about:  memory
-- empty:  No memory event is in the database: record with profile_memory=True.
-- lead:   rank, device_id, start_ms, max_allocated_bytes, max_reserved_bytes, events

WITH trace AS MATERIALIZED (
  SELECT trace_id, run, capture, capture_id, rank, run_start_ns, start_ns, end_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
axis AS MATERIALIZED (  -- step_ns: whole, so that the last event lies in the last bin
  SELECT capture_id, run, capture, run_start_ns, first_ns,
         (last_ns - first_ns) / bins + 1 AS step_ns
  FROM (SELECT capture_id, run, capture, run_start_ns, min(start_ns) AS first_ns,
               max(end_ns) AS last_ns
        FROM trace GROUP BY capture_id)
  CROSS JOIN (SELECT min(max(coalesce(:bins, 200), 1), 1000000) AS bins)
),
lane AS MATERIALIZED (
  SELECT k.track_id, t.capture_id, t.rank, k.base_ns, x.first_ns, x.step_ns
  FROM tracks k JOIN trace t ON t.trace_id = k.trace_id JOIN axis x ON x.capture_id = t.capture_id
),
piece AS MATERIALIZED (
  SELECT p.*, w.capture_id, w.rank, w.base_ns, w.first_ns, w.step_ns,
         (p.start_ts + w.base_ns - w.first_ns) / w.step_ns AS bin,
         (p.end_ts + w.base_ns - w.first_ns) / w.step_ns AS last_bin
  FROM memory_pieces p CROSS JOIN lane w ON w.track_id = p.track_id
),
noted AS (  -- a piece that lies in several bins event by event
  SELECT capture_id, rank, args_id, bin, events, min_allocated, max_allocated, min_reserved,
         max_reserved, end_ts + base_ns AS end_ns, end_id
  FROM piece WHERE bin = last_bin
  UNION ALL
  SELECT p.capture_id, p.rank, p.args_id, (e.ts + p.base_ns - p.first_ns) / p.step_ns, 1,
         e.total_allocated_bytes, e.total_allocated_bytes, e.total_reserved_bytes,
         e.total_reserved_bytes, e.ts + p.base_ns, e.instant_id
  FROM piece p CROSS JOIN memory_times e ON e.instant_id BETWEEN p.first_id AND p.last_id
    AND +e.track_id = p.track_id AND +e.args_id = p.args_id
  WHERE p.bin < p.last_bin
),
located AS MATERIALIZED (
  SELECT n.*, d.device_type, d.device_id
  FROM noted n CROSS JOIN memory_devices d ON d.args_id = n.args_id
),
of_device AS MATERIALIZED (
  SELECT capture_id, rank, device_type, device_id, bin, sum(events) AS events,
         min(min_allocated) AS min_allocated, max(max_allocated) AS max_allocated,
         min(min_reserved) AS min_reserved, max(max_reserved) AS max_reserved,
         max(end_ns) AS last_ns
  FROM located GROUP BY bin, rank, device_id, device_type, capture_id
),
last_of AS MATERIALIZED (  -- of several at one time the last in the trace
  SELECT d.capture_id, d.rank, d.device_type, d.device_id, d.bin, max(n.end_id) AS instant_id
  FROM located n CROSS JOIN of_device d ON d.capture_id = n.capture_id AND d.rank = n.rank
    AND d.bin = n.bin AND d.last_ns = n.end_ns AND d.device_type IS n.device_type
    AND d.device_id IS n.device_id
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
  e.total_allocated_bytes AS last_allocated_bytes,
  d.min_reserved AS min_reserved_bytes,
  d.max_reserved AS max_reserved_bytes,
  e.total_reserved_bytes AS last_reserved_bytes
FROM of_device d JOIN axis x ON x.capture_id = d.capture_id
JOIN last_of o ON o.capture_id = d.capture_id AND o.rank = d.rank
  AND o.bin = d.bin AND o.device_type IS d.device_type AND o.device_id IS d.device_id
JOIN memory_times e ON e.instant_id = o.instant_id
ORDER BY x.run, x.capture, d.rank, d.device_type, d.device_id, d.bin;
