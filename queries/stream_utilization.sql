-- title: How busy is each stream
--
-- For each GPU stream: how long something ran on it, and what. Times are unions of intervals.
-- utilization_pct is of the span of the rank's whole device, so the streams of one device compare.
--
-- param:  rank  int(id)  = null  This rank only; all of them when null.
--
-- column: rank             int(id)     The rank.
-- column: device           text        The GPU, as the trace calls it.
-- column: stream           text        The stream, as the trace calls it.
-- column: activities       int(count)  Kernels, copies and fills.
-- column: busy_ms          real(ms)    Something ran on the stream.
-- column: utilization_pct  real(pct)   busy_ms of the device's span.
-- column: compute_ms       real(ms)    Some compute kernel ran on it.
-- column: comm_ms          real(ms)    Some communication kernel ran on it.
-- column: memory_ms        real(ms)    Some copy or fill ran on it.
--
-- plot:   bar utilization_pct by rank, device, stream
-- empty:  No GPU activity is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

SELECT
  s.rank,
  s.device,
  s.stream,
  s.activities,
  s.busy_ns / 1e6 AS busy_ms,
  100.0 * s.busy_ns / nullif(d.end_ns - d.start_ns, 0) AS utilization_pct,
  s.compute_ns / 1e6 AS compute_ms,
  s.communication_ns / 1e6 AS comm_ms,
  s.memory_ns / 1e6 AS memory_ms
FROM stream_uses s
JOIN device_uses d ON d.rank = s.rank AND d.device = s.device
WHERE :rank IS NULL OR s.rank = :rank
ORDER BY s.rank, CAST(s.device AS INTEGER), s.device, CAST(s.stream AS INTEGER), s.stream;
