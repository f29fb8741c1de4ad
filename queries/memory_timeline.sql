-- title: How memory was used over time
--
-- From the profiler's memory events (profile_memory=True). The time from the first event of the
-- traces to the last is cut into bins of one length, the same for every rank. One row for each bin
-- in which a device of a rank has a memory event, made of the events that lie in it; until the next
-- row the last values hold. Allocated is what tensors hold; reserved is what the caching allocator
-- took from the device.
--
-- param:  bins  int(count)  = 200   Bins, and so rows of a device, at most.
-- param:  rank  int(id)     = null  This rank and its time only; all of them when null.
--
-- column: rank                  int(id)     The rank.
-- column: device_type           int(id)     0: host; 1: CUDA; others as PyTorch numbers them.
-- column: device_id             int(id)     The number of the device; -1 for the host.
-- column: start_ms              real(ms)    Start of the bin, since the first event.
-- column: bin_ms                real(ms)    How long a bin is; the same in all rows.
-- column: events                int(count)  Allocations and releases in it.
-- column: min_allocated_bytes   int(bytes)  The least allocated after one of them.
-- column: max_allocated_bytes   int(bytes)  The most.
-- column: last_allocated_bytes  int(bytes)  After the last of them.
-- column: min_reserved_bytes    int(bytes)  The least reserved after one of them.
-- column: max_reserved_bytes    int(bytes)  The most.
-- column: last_reserved_bytes   int(bytes)  After the last of them.
--
-- empty:  No memory event is in the database: record with profile_memory=True.

WITH axis AS MATERIALIZED (  -- step_ns: whole, so that the last event lies in the last bin
  SELECT first_ns, (last_ns - first_ns) / bins + 1 AS step_ns, bins,
         (SELECT max(args_id) + 1 FROM args_texts) AS args
  FROM (SELECT min(start_ns) AS first_ns, max(end_ns) AS last_ns,
               min(max(coalesce(:bins, 200), 1), 1000000) AS bins
        FROM traces WHERE :rank IS NULL OR rank = :rank)
),
used AS MATERIALIZED (  -- one number as key: track, args (they tell the device) and bin
  SELECT (track_id * x.args + args_id) * x.bins + (ts_ns - x.first_ns) / x.step_ns AS place,
         count(*) AS events, min(total_allocated_bytes) AS min_allocated,
         max(total_allocated_bytes) AS max_allocated, min(total_reserved_bytes) AS min_reserved,
         max(total_reserved_bytes) AS max_reserved, max(ts_ns) AS last_ns
  FROM axis x CROSS JOIN memory_events
  WHERE :rank IS NULL OR track_id IN (SELECT track_id FROM tracks WHERE rank = :rank)
  GROUP BY 1
),
of_device AS MATERIALIZED (
  SELECT t.rank, d.device_type, d.device_id, u.place % x.bins AS bin, sum(u.events) AS events,
         min(u.min_allocated) AS min_allocated, max(u.max_allocated) AS max_allocated,
         min(u.min_reserved) AS min_reserved, max(u.max_reserved) AS max_reserved,
         max(u.last_ns) AS last_ns
  FROM axis x CROSS JOIN used u CROSS JOIN tracks t ON t.track_id = u.place / x.bins / x.args
  CROSS JOIN memory_devices d ON d.args_id = u.place / x.bins % x.args
  GROUP BY t.rank, d.device_type, d.device_id, bin
),
last_of AS MATERIALIZED (  -- of several at one time the last in the trace
  SELECT d.rank, d.device_type, d.device_id, d.bin, max(e.instant_id) AS instant_id,
         e.total_allocated_bytes, e.total_reserved_bytes
  FROM memory_events e CROSS JOIN of_device d ON d.rank = e.rank
    AND d.device_type IS e.device_type AND d.device_id IS e.device_id AND d.last_ns = e.ts_ns
  WHERE e.ts_ns IN (SELECT last_ns FROM of_device)
  GROUP BY d.rank, d.device_type, d.device_id, d.bin
)
SELECT
  d.rank,
  d.device_type,
  d.device_id,
  (x.first_ns + d.bin * x.step_ns - zero_ns) / 1e6 AS start_ms,
  x.step_ns / 1e6 AS bin_ms,
  d.events,
  d.min_allocated AS min_allocated_bytes,
  d.max_allocated AS max_allocated_bytes,
  o.total_allocated_bytes AS last_allocated_bytes,
  d.min_reserved AS min_reserved_bytes,
  d.max_reserved AS max_reserved_bytes,
  o.total_reserved_bytes AS last_reserved_bytes
FROM of_device d CROSS JOIN origin CROSS JOIN axis x
JOIN last_of o ON o.rank = d.rank AND o.device_type IS d.device_type
  AND o.device_id IS d.device_id AND o.bin = d.bin
ORDER BY d.rank, d.device_type, d.device_id, d.bin;
