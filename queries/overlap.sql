-- title: Is communication hidden behind computation
--
-- For each GPU of each rank: how long it computed, how long it communicated, and how much of the
-- communication ran while something was computed. Times are unions of intervals, so kernels that
-- overlap count once. compute + exposed_comm + exposed_memory + idle = span, to the nanosecond.
-- Several captures of a rank are added up; the time between them belongs to none.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
--
-- column: run                text       The run: one training job that was recorded.
-- column: rank               int(id)    The rank.
-- column: device             text       The GPU, as the trace calls it.
-- column: span_ms            real(ms)   From the first start of a GPU activity to the last end, of
--                                       each capture.
-- column: compute_ms         real(ms)   Some compute kernel ran.
-- column: comm_ms            real(ms)   Some communication kernel ran.
-- column: overlap_ms         real(ms)   Both ran.
-- column: overlap_pct        real(pct)  overlap_ms of comm_ms; NULL without communication.
-- column: exposed_comm_ms    real(ms)   Communication ran and no compute kernel did.
-- column: exposed_memory_ms  real(ms)   A copy or a fill ran and no kernel did.
-- column: idle_ms            real(ms)   Nothing ran.
--
-- about:  steps and GPU time
-- lead:   rank, device, overlap_pct, exposed_comm_ms, idle_ms, span_ms, compute_ms, comm_ms
-- plot:   stacked compute_ms, exposed_comm_ms, exposed_memory_ms, idle_ms by run, rank, device
-- empty:  No GPU activity is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

SELECT
  t.run,
  u.rank,
  u.device,
  sum(u.end_ns - u.start_ns) / 1e6 AS span_ms,
  sum(u.compute_ns) / 1e6 AS compute_ms,
  sum(u.communication_ns) / 1e6 AS comm_ms,
  sum(u.overlap_ns) / 1e6 AS overlap_ms,
  100.0 * sum(u.overlap_ns) / nullif(sum(u.communication_ns), 0) AS overlap_pct,
  sum(u.exposed_communication_ns) / 1e6 AS exposed_comm_ms,
  sum(u.exposed_memory_ns) / 1e6 AS exposed_memory_ms,
  sum(u.idle_ns) / 1e6 AS idle_ms
FROM device_uses u
JOIN traces t ON t.trace_id = u.trace_id
WHERE (:run IS NULL OR t.run = :run) AND (:capture IS NULL OR t.capture = :capture)
  AND (:rank IS NULL OR u.rank IN (SELECT value FROM json_each(:rank)))
GROUP BY t.run, u.rank, u.device
ORDER BY t.run, u.rank, CAST(u.device AS INTEGER), u.device;
