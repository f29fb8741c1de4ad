-- title: How long from a launch to the start on the GPU
--
-- One row for each stream: the time from the start of the call that launched an activity to its
-- own start, with the launch itself and the wait behind earlier work. Around 0.01 to 0.03 ms the
-- stream was empty and the GPU waits for its host (see `gpu_gaps`); much more means that work was
-- queued, and the host is ahead. Negative ones are a fault of the trace (see `tracedb doctor`).
--
-- param:  rank  int(id)     = null  This rank only; all of them when null.
-- param:  step  int(count)  = null  Only what was launched in this step; all when null.
--
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
-- plot:   bar median_ms by rank, device, stream
-- empty:  No launch of a GPU activity is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH waited AS MATERIALIZED (  -- base_ns differs by trace, launch_ts_ns counts it in
  SELECT track_id, launch_ts_ns - ts AS before_ns, count(*) AS activities,
         min(slice_id) AS first_id
  FROM activities
  WHERE launch_ts_ns IS NOT NULL AND ifnull(dur_ns, 0) >= 0
    AND (:rank IS NULL OR track_id IN (SELECT track_id FROM tracks WHERE rank = :rank))
    AND (:step IS NULL OR step = :step)
  GROUP BY +track_id, launch_ts_ns - ts
),
counted AS (
  SELECT t.rank, t.device, t.stream, t.base_ns - w.before_ns AS latency_ns, w.activities,
         w.first_id,
         sum(w.activities) OVER (PARTITION BY t.rank, t.device, t.stream
                                 ORDER BY t.base_ns - w.before_ns
                                 ROWS UNBOUNDED PRECEDING) AS up_to_here,
         sum(w.activities) OVER (PARTITION BY t.rank, t.device, t.stream) AS all_of_it,
         max(t.base_ns - w.before_ns) OVER (PARTITION BY t.rank, t.device, t.stream) AS max_ns
  FROM waited w CROSS JOIN tracks t ON t.track_id = w.track_id
)
SELECT
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
GROUP BY rank, device, stream
ORDER BY rank, CAST(device AS INTEGER), device, CAST(stream AS INTEGER), stream;
