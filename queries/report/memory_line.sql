-- title: How much memory was allocated, over time
--
-- From the profiler's memory events that say how much is allocated in total. The time from the
-- first event in the database to the last is cut into equal pieces; pieces without an event of a
-- device have no row, and neither has a device of which nothing is counted.
--
-- param:  bins  int(count)  = 200  Pieces.
--
-- column: rank                 int(id)     The rank.
-- column: device_type          int(id)     0: host; 1: CUDA; others as PyTorch numbers them.
-- column: device_id            int(id)     The number of the device; -1 for the host.
-- column: start_ms             real(ms)    Its first event in the piece, since the first event in
--                                          the database.
-- column: min_allocated_bytes  int(bytes)  The least that was allocated.
-- column: max_allocated_bytes  int(bytes)  The most.
-- column: max_reserved_bytes   int(bytes)  The most that was reserved.
--
-- empty:  No memory event is in the database: record with profile_memory=True.

WITH frame AS MATERIALIZED (
  SELECT min(start_ns) AS first_ns,
         (max(end_ns) - min(start_ns)) / max(coalesce(:bins, 200), 1) + 1 AS bin_ns
  FROM traces
),
used AS MATERIALIZED (  -- an event's device is told by its args
  SELECT track_id, args_id, (ts_ns - first_ns) / bin_ns AS bin, min(ts_ns - first_ns) AS ts,
         min(total_allocated_bytes) AS least, max(total_allocated_bytes) AS most,
         max(total_reserved_bytes) AS reserved
  FROM frame CROSS JOIN memory_events
  WHERE total_allocated_bytes IS NOT NULL
  GROUP BY track_id, args_id, bin
),
binned AS (
  SELECT t.rank, d.device_type, d.device_id, min(u.ts) AS ts, min(u.least) AS least,
         max(u.most) AS most, max(u.reserved) AS reserved,
         max(max(u.most)) OVER (PARTITION BY t.rank, d.device_type, d.device_id) AS most_of_all
  FROM used u JOIN tracks t ON t.track_id = u.track_id
  JOIN memory_devices d ON d.args_id = u.args_id
  WHERE t.rank IS NOT NULL
  GROUP BY t.rank, d.device_type, d.device_id, u.bin
)
SELECT
  b.rank,
  b.device_type,
  b.device_id,
  round(b.ts / 1e6, 3) AS start_ms,
  b.least AS min_allocated_bytes,
  b.most AS max_allocated_bytes,
  b.reserved AS max_reserved_bytes
FROM binned b
WHERE b.most_of_all > 0
ORDER BY b.rank, b.device_type, b.device_id, b.ts;
