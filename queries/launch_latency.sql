-- title: How long from a launch to the start on the GPU
--
-- One row for each stream: the time from the start of the call that launched an activity to its
-- own start, with the launch itself and the wait behind earlier work. Around 0.01 to 0.03 ms the
-- stream was empty and the GPU waits for its host (see `gpu_gaps`); much more means that work was
-- queued, and the host is ahead. Negative ones are a fault of the trace (see `tracedb doctor`).
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  step     ints(count) = null  Only what was launched in these steps; all when null.
--
-- column: run          text        The run: one training job that was recorded.
-- column: rank         int(id)     The rank.
-- column: device       text        The GPU, as the trace calls it.
-- column: stream       text        The stream, as the trace calls it.
-- column: activities   int(count)  Kernels, copies and fills whose launch is known.
-- column: min_ms       real(ms)    The shortest latency.
-- column: p5_ms        real(ms)    5 % of them took no longer.
-- column: median_ms    real(ms)    Half of them took no longer; the lower of two middle ones.
-- column: p95_ms       real(ms)    95 % of them took no longer.
-- column: max_ms       real(ms)    The longest.
-- column: mean_ms      real(ms)    The mean.
-- column: slowest_id   int(id)     The slice_id in `kernels` of the longest, the first of several.
--
-- about:  the host
-- lead:   rank, stream, activities, median_ms, p95_ms, max_ms
-- plot:   bar median_ms by run, rank, device, stream
-- empty:  No launch of a GPU activity is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH lane AS MATERIALIZED (
  SELECT k.track_id, k.device, k.stream, k.base_ns, t.run, t.rank
  FROM tracks k JOIN traces t ON t.trace_id = k.trace_id
  WHERE (:run IS NULL OR t.run = :run) AND (:capture IS NULL OR t.capture = :capture)
    AND (:rank IS NULL OR t.rank IN (SELECT value FROM json_each(:rank)))
),
waited AS MATERIALIZED (  -- base_ns differs by trace, launch_ts_ns counts it in
  SELECT track_id, launch_ts_ns - ts AS before_ns, count(*) AS activities,
         min(slice_id) AS first_id
  FROM activities
  WHERE launch_ts_ns IS NOT NULL AND ifnull(dur_ns, 0) >= 0
    AND (coalesce(:run, :capture, :rank) IS NULL OR track_id IN (SELECT track_id FROM lane))
    AND (:step IS NULL OR step IN (SELECT value FROM json_each(:step)))
  GROUP BY +track_id, launch_ts_ns - ts
),
latency AS (
  SELECT t.run, t.rank, t.device, t.stream, t.base_ns - w.before_ns AS latency_ns, w.activities,
         w.first_id
  FROM waited w CROSS JOIN lane t ON t.track_id = w.track_id
),
counted AS (
  SELECT *, sum(activities) OVER (PARTITION BY run, rank, device, stream ORDER BY latency_ns
                                  ROWS UNBOUNDED PRECEDING) AS up_to_here,
         sum(activities) OVER (PARTITION BY run, rank, device, stream) AS all_of_it,
         max(latency_ns) OVER (PARTITION BY run, rank, device, stream) AS max_ns
  FROM latency
)
SELECT
  run,
  rank,
  device,
  stream,
  sum(activities) AS activities,
  min(latency_ns) / 1e6 AS min_ms,
  min(latency_ns) FILTER (WHERE 100 * up_to_here >= 5 * all_of_it) / 1e6 AS p5_ms,
  min(latency_ns) FILTER (WHERE 2 * up_to_here >= all_of_it) / 1e6 AS median_ms,
  min(latency_ns) FILTER (WHERE 100 * up_to_here >= 95 * all_of_it) / 1e6 AS p95_ms,
  max_ns / 1e6 AS max_ms,
  1.0 * sum(latency_ns * activities) / sum(activities) / 1e6 AS mean_ms,
  min(first_id) FILTER (WHERE latency_ns = max_ns) AS slowest_id
FROM counted
GROUP BY run, rank, device, stream
ORDER BY run, rank, CAST(device AS INTEGER), device, CAST(stream AS INTEGER), stream;
