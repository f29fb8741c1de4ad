-- title: How much memory was used at most, and how much unused
--
-- From the profiler's memory events (profile_memory=True), one row for each device of each rank.
-- Allocated is what tensors hold; reserved is what the caching allocator took from the device.
-- Reserved memory that is not allocated is cached or fragmented: a job that runs out of memory
-- with a large unused_pct can try expandable segments.
--
-- param:  rank  int(id)  = null  This rank only; all of them when null.
--
-- column: rank                    int(id)     The rank.
-- column: device_type             int(id)     0: host; 1: CUDA; others as PyTorch numbers them.
-- column: device_id               int(id)     The number of the device; -1 for the host.
-- column: peak_allocated_bytes    int(bytes)  Allocated at most; NULL where the trace counts none.
-- column: peak_ms                 real(ms)    When first, since the first event in the database.
-- column: peak_step               int(count)  In which step of the host; NULL outside of them.
-- column: reserved_at_peak_bytes  int(bytes)  Reserved at that time.
-- column: unused_pct              real(pct)   Of that, what was not allocated.
-- column: peak_reserved_bytes     int(bytes)  Reserved at most.
-- column: allocations             int(count)  Events that allocated.
-- column: releases                int(count)  Events that gave back.
-- column: churn_bytes             int(bytes)  Bytes of all allocations.
-- column: largest_bytes           int(bytes)  The largest of them.
--
-- plot:   bar peak_allocated_bytes by rank, device_type, device_id
-- empty:  No memory event is in the database: record with profile_memory=True.

WITH origin AS (
  SELECT min(start_ns) AS zero_ns FROM _trace
),
used AS MATERIALIZED (
  SELECT i.track, i.args_text, max(i.total_allocated) AS allocated,
    max(i.total_reserved) AS reserved,
         count(*) FILTER (WHERE i.bytes > 0) AS allocations,
         count(*) FILTER (WHERE i.bytes < 0) AS releases,
         sum(i.bytes) FILTER (WHERE i.bytes > 0) AS churn_bytes, max(i.bytes) AS largest_bytes
  FROM _instant i
  WHERE i.event_name IN (SELECT id FROM _event_name WHERE name = '[memory]')
    AND (:rank IS NULL OR i.track IN (SELECT id FROM _track WHERE rank = :rank))
  GROUP BY i.track, i.args_text
),
of_device AS MATERIALIZED (
  SELECT t.rank, a.device_type, a.device_id, max(u.allocated) AS allocated,
         max(u.reserved) AS reserved, sum(u.allocations) AS allocations,
         sum(u.releases) AS releases, sum(u.churn_bytes) AS churn_bytes,
         max(u.largest_bytes) AS largest_bytes
  FROM used u JOIN _track t ON t.id = u.track JOIN _args_text a ON a.id = u.args_text
  GROUP BY t.rank, a.device_type, a.device_id
),
at_peak AS (
  SELECT t.rank, t.trace_id, a.device_type, a.device_id, i.ts + t.base_ns AS ts_ns,
         i.total_reserved AS reserved,
         row_number() OVER (PARTITION BY t.rank, a.device_type, a.device_id
                            ORDER BY i.ts + t.base_ns, i.id) AS place
  FROM _instant i CROSS JOIN _track t ON t.id = i.track
    CROSS JOIN _args_text a ON a.id = i.args_text
  CROSS JOIN of_device d ON d.rank = t.rank AND d.device_type IS a.device_type
    AND d.device_id IS a.device_id AND d.allocated = i.total_allocated
  WHERE i.event_name IN (SELECT id FROM _event_name WHERE name = '[memory]')
    AND i.total_allocated IN (SELECT allocated FROM of_device WHERE allocated > 0)
)
SELECT
  d.rank,
  d.device_type,
  d.device_id,
  nullif(d.allocated, 0) AS peak_allocated_bytes,
  (p.ts_ns - zero_ns) / 1e6 AS peak_ms,
  (SELECT max(s.step) FROM _step s JOIN _track t ON t.id = s.track
   WHERE t.trace_id = p.trace_id AND s.ts + t.base_ns <= p.ts_ns
     AND p.ts_ns < s.ts + t.base_ns + s.dur) AS peak_step,
  p.reserved AS reserved_at_peak_bytes,
  100.0 * (p.reserved - d.allocated) / nullif(p.reserved, 0) AS unused_pct,
  nullif(d.reserved, 0) AS peak_reserved_bytes,
  d.allocations,
  d.releases,
  ifnull(d.churn_bytes, 0) AS churn_bytes,
  iif(d.allocations > 0, d.largest_bytes, NULL) AS largest_bytes
FROM of_device d CROSS JOIN origin
LEFT JOIN at_peak p ON p.rank = d.rank AND p.device_type IS d.device_type
  AND p.device_id IS d.device_id AND p.place = 1
ORDER BY d.rank, d.device_type, d.device_id;
