-- title: How busy is each stream, over time
--
-- The time from the first start of a GPU activity in a capture to the last end is cut into equal
-- pieces; for each stream it says how much of each piece something ran in. Busy time is the length
-- of a union: activities that overlap on a stream count once.
--
-- param:  bins     int(count)  = 160   Pieces.
-- param:  streams  int(count)  = 400   Streams of a capture at most, the busiest.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run       text        The run: one training job that was recorded.
-- column: capture   int(count)  The capture: its number in the run.
-- column: rank      int(id)     The rank.
-- column: device    text        The GPU, as the trace calls it.
-- column: stream    text        The stream, as the trace calls it.
-- column: start_ms  real(ms)    Start of the first piece, since the first event of the run.
-- column: bin_ms    real(ms)    Length of a piece.
-- column: busy_ms   real(ms)    Something ran on the stream, in all pieces.
-- column: busy_pct  text        Of each piece, in whole percent, in their order: a JSON list.
--
-- empty:  No GPU activity is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH RECURSIVE recorded AS MATERIALIZED (
  SELECT trace_id, capture_id, run_id, run, capture, rank, run_start_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
frame AS MATERIALIZED (
  SELECT r.capture_id, min(d.start_ns) AS first_ns,
         -- Rounded up: the last end is within the last piece.
         max((max(d.end_ns) - min(d.start_ns) + max(coalesce(:bins, 160), 1) - 1)
             / max(coalesce(:bins, 160), 1), 1) AS bin_ns
  FROM device_uses d JOIN recorded r ON r.trace_id = d.trace_id
  GROUP BY r.capture_id
),
lane AS MATERIALIZED (
  SELECT * FROM (
    SELECT u.stream_id AS lane, u.trace_id, u.device, u.stream, f.first_ns, f.bin_ns,
           row_number() OVER (PARTITION BY r.capture_id
                              ORDER BY u.busy_ns DESC, r.rank, CAST(u.device AS INTEGER), u.device,
                                u.stream) AS place
    FROM stream_uses u JOIN recorded r ON r.trace_id = u.trace_id
    JOIN frame f ON f.capture_id = r.capture_id
  )
  WHERE place <= coalesce(:streams, 400)
),
filled AS MATERIALIZED (  -- no more than these are in the frame, but in a damaged database
  SELECT l.lane, b.piece AS bin, b.busy_ns
  FROM lane l CROSS JOIN stream_busy(l.lane, l.first_ns, l.bin_ns) b
  LIMIT (SELECT count(*) FROM lane) * max(coalesce(:bins, 160), 1)
),
number AS (
  SELECT 0 AS bin UNION ALL SELECT bin + 1 FROM number WHERE bin + 1 < max(coalesce(:bins, 160), 1)
),
listed AS (
  SELECT lane, json_group_array(busy_pct) AS busy_pct, sum(busy_ns) AS busy_ns
  FROM (SELECT l.lane, n.bin, ifnull(f.busy_ns, 0) AS busy_ns,
               (200 * ifnull(f.busy_ns, 0) + l.bin_ns) / (2 * l.bin_ns) AS busy_pct
        FROM lane l CROSS JOIN number n
        LEFT JOIN filled f ON f.lane = l.lane AND f.bin = n.bin
        ORDER BY l.lane, n.bin)
  GROUP BY lane
)
SELECT
  r.run,
  r.capture,
  r.rank,
  l.device,
  l.stream,
  (l.first_ns - r.run_start_ns) / 1e6 AS start_ms,
  l.bin_ns / 1e6 AS bin_ms,
  d.busy_ns / 1e6 AS busy_ms,
  d.busy_pct
FROM lane l JOIN recorded r ON r.trace_id = l.trace_id
JOIN listed d ON d.lane = l.lane
ORDER BY r.run_id, r.capture, r.rank, CAST(l.device AS INTEGER), l.device,
  CAST(l.stream AS INTEGER), l.stream;
