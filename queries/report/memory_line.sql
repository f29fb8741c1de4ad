-- title: How much memory was allocated, over time
--
-- From the profiler's memory events that say how much is allocated in total. The time of each
-- device of each rank is cut into equal pieces; pieces without an event have no row, and neither
-- has a device of which nothing is counted (the host, mostly).
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

WITH origin AS (
  SELECT min(start_ns) AS zero_ns FROM trace
),
used AS MATERIALIZED (  -- an event's device is told by its shape
  SELECT i.track, i.shape, min(i.ts) AS first_ts, max(i.ts) AS last_ts,
         max(i.total_allocated) AS most
  FROM instant i
  WHERE i.label IN (SELECT id FROM label WHERE name = '[memory]') AND i.total_allocated IS NOT NULL
  GROUP BY i.track, i.shape
),
device AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY t.rank, a.device_type, a.device_id) AS device, t.rank,
         a.device_type, a.device_id, min(u.first_ts + t.base_ns) AS first_ns,
         (max(u.last_ts + t.base_ns) - min(u.first_ts + t.base_ns)) / max(coalesce(:bins, 200), 1)
           + 1 AS bin_ns
  FROM used u JOIN track t ON t.id = u.track JOIN shape a ON a.id = u.shape
  GROUP BY t.rank, a.device_type, a.device_id
  HAVING max(u.most) > 0
),
source AS MATERIALIZED (
  SELECT u.track, u.shape, d.device, d.bin_ns, t.base_ns - d.first_ns AS base_ns
  FROM used u JOIN track t ON t.id = u.track JOIN shape a ON a.id = u.shape
  JOIN device d ON d.rank = t.rank AND d.device_type IS a.device_type
    AND d.device_id IS a.device_id
),
binned AS (
  SELECT s.device, (i.ts + s.base_ns) / s.bin_ns AS bin, min(i.ts + s.base_ns) AS ts,
         min(i.total_allocated) AS min_allocated, max(i.total_allocated) AS max_allocated,
         max(i.total_reserved) AS max_reserved
  FROM instant i CROSS JOIN source s ON s.track = i.track AND s.shape IS i.shape
  WHERE i.label IN (SELECT id FROM label WHERE name = '[memory]') AND i.total_allocated IS NOT NULL
  GROUP BY s.device, bin
)
SELECT
  d.rank,
  d.device_type,
  d.device_id,
  round((d.first_ns - zero_ns + b.ts) / 1e6, 3) AS start_ms,
  b.min_allocated AS min_allocated_bytes,
  b.max_allocated AS max_allocated_bytes,
  b.max_reserved AS max_reserved_bytes
FROM binned b CROSS JOIN origin
JOIN device d ON d.device = b.device
ORDER BY d.device, b.bin;
