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
  FROM _trace
),
of_track AS MATERIALIZED (
  SELECT t.id AS track, t.rank, t.base_ns - first_ns AS base_ns, bin_ns
  FROM _track t CROSS JOIN frame WHERE t.rank IS NOT NULL
),
used AS MATERIALIZED (  -- an event's device is told by its shape
  SELECT o.rank, i.args_text, (i.ts + o.base_ns) / bin_ns AS bin, min(i.ts + o.base_ns) AS ts,
         min(i.total_allocated) AS least, max(i.total_allocated) AS most,
         max(i.total_reserved) AS reserved
  FROM _instant i CROSS JOIN of_track o ON o.track = i.track
  WHERE i.event_name IN (SELECT id FROM _event_name
    WHERE name = '[memory]') AND i.total_allocated IS NOT NULL
  GROUP BY o.rank, i.args_text, bin
),
binned AS (
  SELECT u.rank, a.device_type, a.device_id, min(u.ts) AS ts, min(u.least) AS least,
         max(u.most) AS most, max(u.reserved) AS reserved,
         max(max(u.most)) OVER (PARTITION BY u.rank, a.device_type, a.device_id) AS most_of_all
  FROM used u JOIN _args_text a ON a.id = u.args_text
  GROUP BY u.rank, a.device_type, a.device_id, u.bin
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
