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
  SELECT t.track_id, t.trace_id, f.first_ns, f.bin_ns
  FROM tracks t JOIN recorded r ON r.trace_id = t.trace_id
  JOIN frame f ON f.capture_id = r.capture_id
),
used AS MATERIALIZED (  -- an event's device is told by its args
  SELECT o.track_id, o.trace_id, m.args_id, o.first_ns, (m.ts_ns - o.first_ns) / o.bin_ns AS bin,
         min(m.ts_ns - o.first_ns) AS ts, min(m.total_allocated_bytes) AS least,
         max(m.total_allocated_bytes) AS most, max(m.total_reserved_bytes) AS reserved
  FROM memory_events m CROSS JOIN of_track o ON o.track_id = m.track_id
  WHERE m.total_allocated_bytes IS NOT NULL
  GROUP BY o.track_id, m.args_id, bin
),
binned AS (
  SELECT u.trace_id, d.device_type, d.device_id, min(u.ts) + u.first_ns AS ts_ns,
         min(u.least) AS least, max(u.most) AS most, max(u.reserved) AS reserved,
         max(max(u.most)) OVER (PARTITION BY u.trace_id, d.device_type, d.device_id) AS most_of_all
  FROM used u JOIN memory_devices d ON d.args_id = u.args_id
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
