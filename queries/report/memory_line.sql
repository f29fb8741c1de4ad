-- title: How much memory was allocated, over time
--
-- From the profiler's memory events that say how much is allocated in total. The time from the
-- first event of a capture to the last is cut into equal pieces; pieces without an event of a
-- device have no row, and neither has a device of which nothing is counted.
--
-- param:  bins     int(count)  = 200   Pieces.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run                  text        The run: one training job that was recorded.
-- column: capture              int(count)  The capture: its number in the run.
-- column: rank                 int(id)     The rank.
-- column: device_type          int(id)     0: host; 1: CUDA; others as PyTorch numbers them.
-- column: device_id            int(id)     The number of the device; -1 for the host.
-- column: start_ms             real(ms)    Its first event in the piece, since the first event of
--                                          the run.
-- column: min_allocated_bytes  int(bytes)  The least that was allocated.
-- column: max_allocated_bytes  int(bytes)  The most.
-- column: max_reserved_bytes   int(bytes)  The most that was reserved.
--
-- empty:  No memory event is in the database: record with profile_memory=True.

WITH recorded AS MATERIALIZED (
  SELECT trace_id, capture_id, run_id, run, capture, rank, start_ns, end_ns, run_start_ns
  FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
frame AS MATERIALIZED (
  SELECT capture_id, min(start_ns) AS first_ns,
         (max(end_ns) - min(start_ns)) / max(coalesce(:bins, 200), 1) + 1 AS bin_ns
  FROM recorded
  GROUP BY capture_id
),
of_track AS MATERIALIZED (
  SELECT t.track_id, t.trace_id, t.base_ns - f.first_ns AS base_ns, f.first_ns, f.bin_ns
  FROM tracks t JOIN recorded r ON r.trace_id = t.trace_id
  JOIN frame f ON f.capture_id = r.capture_id
),
piece AS MATERIALIZED (
  SELECT p.*, o.base_ns, o.first_ns, o.bin_ns, (p.start_ts + o.base_ns) / o.bin_ns AS bin,
         (p.end_ts + o.base_ns) / o.bin_ns AS last_bin
  FROM memory_pieces p CROSS JOIN of_track o ON o.track_id = p.track_id
  WHERE p.max_allocated IS NOT NULL
),
used AS (  -- one that lies in several bins event by event; its args tell the device
  SELECT trace_id, args_id, first_ns, bin, start_ts + base_ns AS ts, min_allocated AS least,
         max_allocated AS most, max_reserved AS reserved
  FROM piece WHERE bin = last_bin
  UNION ALL
  SELECT p.trace_id, p.args_id, p.first_ns, (e.ts + p.base_ns) / p.bin_ns, e.ts + p.base_ns,
         e.total_allocated_bytes, e.total_allocated_bytes, e.total_reserved_bytes
  FROM piece p CROSS JOIN memory_times e ON e.instant_id BETWEEN p.first_id AND p.last_id
    AND +e.track_id = p.track_id AND +e.args_id = p.args_id
  WHERE p.bin < p.last_bin
),
binned AS (
  SELECT u.trace_id, d.device_type, d.device_id, min(u.ts) + u.first_ns AS ts_ns,
         min(u.least) AS least, max(u.most) AS most, max(u.reserved) AS reserved,
         max(max(u.most)) OVER (PARTITION BY u.trace_id, d.device_type, d.device_id) AS most_of_all
  FROM used u CROSS JOIN memory_devices d ON d.args_id = u.args_id
  GROUP BY u.trace_id, d.device_type, d.device_id, u.bin
)
SELECT
  r.run,
  r.capture,
  r.rank,
  b.device_type,
  b.device_id,
  round((b.ts_ns - r.run_start_ns) / 1e6, 3) AS start_ms,
  b.least AS min_allocated_bytes,
  b.most AS max_allocated_bytes,
  b.reserved AS max_reserved_bytes
FROM binned b JOIN recorded r ON r.trace_id = b.trace_id
WHERE b.most_of_all > 0
ORDER BY r.run_id, r.capture, r.rank, b.device_type, b.device_id, b.ts_ns;
