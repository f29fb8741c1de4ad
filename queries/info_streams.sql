-- title: The GPU streams of each rank
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
--
-- column: run          text        The run: one training job that was recorded.
-- column: rank         int(id)     The rank.
-- column: device       text        The GPU, as the trace calls it.
-- column: streams      int(count)  Its streams.
-- column: activities   int(count)  Kernels, copies and fills on them.
-- column: duration_ms  real(ms)    From the first start to the last end, of each capture.
--
-- about:  the database
-- plot:   bar activities by run, rank, device
-- empty:  No GPU activity is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH used AS (
  SELECT t.run, s.rank, s.device, s.stream, s.trace_id, s.activities,
         max(s.end_ns) OVER one - min(s.start_ns) OVER one AS span_ns,
         row_number() OVER one AS place
  FROM stream_uses s JOIN traces t ON t.trace_id = s.trace_id
  WHERE (:run IS NULL OR t.run = :run) AND (:capture IS NULL OR t.capture = :capture)
    AND (:rank IS NULL OR t.rank IN (SELECT value FROM json_each(:rank)))
  WINDOW one AS (PARTITION BY s.trace_id, s.device)
)
SELECT
  run,
  rank,
  device,
  count(DISTINCT stream) AS streams,
  sum(activities) AS activities,
  sum(span_ns) FILTER (WHERE place = 1) / 1e6 AS duration_ms
FROM used
GROUP BY run, rank, device
ORDER BY run, rank, CAST(device AS INTEGER), device;
