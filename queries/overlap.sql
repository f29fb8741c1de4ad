-- title: Is communication hidden behind computation
--
-- For each GPU of each rank: how long it computed, how long it communicated, and how much of the
-- communication ran while something was computed. Times are unions of intervals, so kernels that
-- overlap count once. compute + exposed_comm + exposed_memory + idle = span, to the nanosecond.
--
-- param:  rank  int(id)  = null  This rank only; all of them when null.
--
-- column: rank               int(id)    The rank.
-- column: device             text       The GPU, as the trace calls it.
-- column: span_ms            real(ms)   From the first start of a GPU activity to the last end.
-- column: compute_ms         real(ms)   Some compute kernel ran.
-- column: comm_ms            real(ms)   Some communication kernel ran.
-- column: overlap_ms         real(ms)   Both ran.
-- column: overlap_pct        real(pct)  overlap_ms of comm_ms; NULL without communication.
-- column: exposed_comm_ms    real(ms)   Communication ran and no compute kernel did.
-- column: exposed_memory_ms  real(ms)   A copy or a fill ran and no kernel did.
-- column: idle_ms            real(ms)   Nothing ran.
--
-- plot:   stacked compute_ms, exposed_comm_ms, exposed_memory_ms, idle_ms by rank, device
-- empty:  No GPU activity is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

SELECT
  rank,
  device,
  (end_ns - start_ns) / 1e6 AS span_ms,
  compute_ns / 1e6 AS compute_ms,
  communication_ns / 1e6 AS comm_ms,
  overlap_ns / 1e6 AS overlap_ms,
  100.0 * overlap_ns / nullif(communication_ns, 0) AS overlap_pct,
  exposed_communication_ns / 1e6 AS exposed_comm_ms,
  exposed_memory_ns / 1e6 AS exposed_memory_ms,
  idle_ns / 1e6 AS idle_ms
FROM device_uses
WHERE :rank IS NULL OR rank = :rank
ORDER BY rank, CAST(device AS INTEGER), device;
