-- title: What ran on each stream, one after the other
--
-- A stream with no more activities than `per_stream` has a row for each of them. The time of one
-- with more is cut into that many equal pieces; activities of one kind that start in the same piece
-- are one row: from the first start to the last end, with the name of the longest. So gaps shorter
-- than a piece are not seen.
--
-- param:  per_stream  int(count)  = 500   Pieces of a stream's time.
-- param:  streams     int(count)  = 400   Streams of a capture at most, the busiest.
-- param:  run         text        = null  This run only; all of them when null.
-- param:  capture     int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run         text        The run: one training job that was recorded.
-- column: capture     int(count)  The capture: its number in the run.
-- column: rank        int(id)     The rank.
-- column: device      text        The GPU, as the trace calls it.
-- column: stream      text        The stream, as the trace calls it.
-- column: kind        text        compute, communication or memory.
-- column: start_ms    real(ms)    First start, since the first event of the run; to 0.1 us.
-- column: dur_ms      real(ms)    From there to the last end; to 0.1 us.
-- column: activities  int(count)  How many they are.
-- column: sum_ms      real(ms)    Their durations, summed; to 0.1 us.
-- column: name        text        The name of the longest.
--
-- empty:  No GPU activity is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH recorded AS MATERIALIZED (
  SELECT trace_id, capture_id, run_id, run, capture, rank, run_start_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
lane AS MATERIALIZED (
  SELECT * FROM (
    SELECT u.stream_id AS lane, u.trace_id, u.device, u.stream, u.start_ns, u.activities,
           max((u.end_ns - u.start_ns) / max(coalesce(:per_stream, 500), 1) + 1, 1) AS piece_ns,
           row_number() OVER (PARTITION BY r.capture_id
                              ORDER BY u.busy_ns DESC, r.rank, CAST(u.device AS INTEGER), u.device,
                                u.stream) AS place
    FROM stream_uses u JOIN recorded r ON r.trace_id = u.trace_id
  )
  WHERE place <= coalesce(:streams, 400)
),
pieced AS (
  SELECT l.lane, p.kind, p.piece, p.first_ns - l.start_ns AS ts, p.last_ns - l.start_ns AS end_ts,
         p.activities, p.sum_ns, p.longest_name_id AS name_id
  FROM lane l CROSS JOIN stream_pieces(l.lane, l.start_ns, l.piece_ns) p
  WHERE l.activities > coalesce(:per_stream, 500)
  UNION ALL
  SELECT l.lane, g.kind, g.slice_id, g.ts + t.base_ns - l.start_ns,
         g.ts + t.base_ns - l.start_ns + g.dur_ns, 1, g.dur_ns, g.name_id
  FROM lane l
  JOIN tracks t ON t.trace_id = l.trace_id AND t.device = l.device AND t.stream = l.stream
  CROSS JOIN activity_times g ON g.track_id = t.track_id
  WHERE l.activities <= coalesce(:per_stream, 500) AND g.dur_ns >= 0
)
SELECT
  r.run,
  r.capture,
  r.rank,
  l.device,
  l.stream,
  CASE p.kind WHEN 0 THEN 'compute' WHEN 1 THEN 'communication' ELSE 'memory' END AS kind,
  round((l.start_ns - r.run_start_ns + p.ts) / 1e6, 4) AS start_ms,
  round((p.end_ts - p.ts) / 1e6, 4) AS dur_ms,
  p.activities,
  round(p.sum_ns / 1e6, 4) AS sum_ms,
  b.name
FROM pieced p JOIN lane l ON l.lane = p.lane
JOIN recorded r ON r.trace_id = l.trace_id
LEFT JOIN names b ON b.name_id = p.name_id
ORDER BY r.run_id, r.capture, r.rank, CAST(l.device AS INTEGER), l.device,
  CAST(l.stream AS INTEGER), l.stream, p.ts, p.kind, p.piece;
