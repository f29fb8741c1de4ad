-- title: How busy is each stream
--
-- For each GPU stream: how long something ran on it, and what. Times are unions of intervals.
-- utilization_pct is of the span of the rank's whole device, so the streams of one device compare.
-- Several captures of a rank are added up; the time between them belongs to none.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
--
-- column: run              text        The run: one training job that was recorded.
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
-- about:  steps and GPU time
-- lead:   rank, device, stream, activities, busy_ms, utilization_pct
-- plot:   bar utilization_pct by run, rank, device, stream
-- empty:  No GPU activity is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH trace AS MATERIALIZED (
  SELECT trace_id, run FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
span AS MATERIALIZED (
  SELECT t.run, d.rank, d.device, sum(d.end_ns - d.start_ns) AS span_ns
  FROM trace t JOIN device_uses d ON d.trace_id = t.trace_id
  GROUP BY t.run, d.rank, d.device
),
used AS (
  SELECT t.run, s.rank, s.device, s.stream, sum(s.activities) AS activities,
         sum(s.busy_ns) AS busy_ns, sum(s.compute_ns) AS compute_ns,
         sum(s.communication_ns) AS communication_ns, sum(s.memory_ns) AS memory_ns
  FROM trace t JOIN stream_uses s ON s.trace_id = t.trace_id
  GROUP BY t.run, s.rank, s.device, s.stream
)
SELECT
  u.run,
  u.rank,
  u.device,
  u.stream,
  u.activities,
  u.busy_ns / 1e6 AS busy_ms,
  100.0 * u.busy_ns / nullif(d.span_ns, 0) AS utilization_pct,
  u.compute_ns / 1e6 AS compute_ms,
  u.communication_ns / 1e6 AS comm_ms,
  u.memory_ns / 1e6 AS memory_ms
FROM used u
JOIN span d ON d.run = u.run AND d.rank = u.rank AND d.device = u.device
ORDER BY u.run, u.rank, CAST(u.device AS INTEGER), u.device, CAST(u.stream AS INTEGER), u.stream;
