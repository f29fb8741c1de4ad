-- title: The GPU streams of each rank
--
-- param:  rank  int(id)  = null  This rank only; all of them when null.
--
-- column: rank         int(id)     The rank.
-- column: device       text        The GPU, as the trace calls it.
-- column: streams      int(count)  Its streams.
-- column: activities   int(count)  Kernels, copies and fills on them.
-- column: duration_ms  real(ms)    From the first start to the last end.
--
-- plot:   bar activities by rank, device
-- empty:  No GPU activity is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

SELECT
  rank,
  device,
  count(*) AS streams,
  sum(activities) AS activities,
  (max(end_ns) - min(start_ns)) / 1e6 AS duration_ms
FROM stream_uses
WHERE :rank IS NULL OR rank = :rank
GROUP BY rank, device
ORDER BY rank, CAST(device AS INTEGER), device;
