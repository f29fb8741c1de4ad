-- title: Is communication hidden behind computation, by step
--
-- `overlap`, cut into steps. The GPU runs behind the host, so its time is cut where it comes to a
-- step's work: a step lasts from the first start of an activity launched in it to the next such
-- start, the last one to the end of all activities. What ran before the first step's work is in a
-- row with step NULL. compute + exposed_comm + exposed_memory + idle = span, to the nanosecond,
-- and each of these, over the rows of a GPU, adds up to what `overlap` says.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
--
-- column: run                text        The run: one training job that was recorded.
-- column: capture            int(count)  The capture, by its number in the run; a step whose number
--                                        comes again in another capture is another step.
-- column: rank               int(id)     The rank.
-- column: device             text        The GPU, as the trace calls it.
-- column: step               int(count)  The step; NULL before the first one's work.
-- column: start_ms           real(ms)    Where its work starts, since the first event of the run.
-- column: span_ms            real(ms)    From there to where the next one's starts.
-- column: compute_ms         real(ms)    Some compute kernel ran.
-- column: comm_ms            real(ms)    Some communication kernel ran.
-- column: overlap_ms         real(ms)    Both ran.
-- column: overlap_pct        real(pct)   overlap_ms of comm_ms; NULL without communication.
-- column: exposed_comm_ms    real(ms)    Communication ran and no compute kernel did.
-- column: exposed_memory_ms  real(ms)    A copy or a fill ran and no kernel did.
-- column: idle_ms            real(ms)    Nothing ran.
--
-- about:  steps and GPU time
-- lead:   rank, device, step, overlap_pct, exposed_comm_ms, idle_ms, span_ms, compute_ms, comm_ms
-- plot:   stacked compute_ms, exposed_comm_ms, exposed_memory_ms, idle_ms
--         by run, capture, rank, device, step
-- empty:  No GPU activity is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH trace AS MATERIALIZED (
  SELECT trace_id, run, capture, rank, run_start_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
other AS MATERIALIZED (  -- of thousands of streams: not worked out when the trace was read
  SELECT trace_id FROM trace WHERE trace_id NOT IN (SELECT trace_id FROM step_uses)
),
first_start AS (
  SELECT track_id, step, min(ts) AS ts FROM activities
  WHERE EXISTS (SELECT 1 FROM other) AND step IS NOT NULL AND ifnull(dur_ns, 0) >= 0
  GROUP BY +track_id, step
),
boundary AS (
  SELECT t.trace_id, t.device, f.step, min(f.ts + t.base_ns) AS at_ns
  FROM first_start f JOIN tracks t ON t.track_id = f.track_id
  WHERE t.trace_id IN (SELECT trace_id FROM other)
  GROUP BY t.trace_id, t.device, f.step
  UNION ALL
  SELECT trace_id, device, NULL, start_ns FROM device_uses
  WHERE trace_id IN (SELECT trace_id FROM other)
),
stretch AS MATERIALIZED (  -- the GPU's time, cut: from one boundary to the next
  SELECT b.trace_id, b.device, b.step, b.at_ns AS from_ns,
         lead(b.at_ns, 1, u.end_ns) OVER in_time AS to_ns
  FROM boundary b JOIN device_uses u ON u.trace_id = b.trace_id AND u.device = b.device
  WINDOW in_time AS (PARTITION BY b.trace_id, b.device ORDER BY b.at_ns, b.step)
),
begun AS MATERIALIZED (  -- a segment may last into it
  SELECT *, ifnull((SELECT max(b.ts_ns) FROM busy_segments b
                    WHERE b.trace_id = s.trace_id AND b.device = s.device
                      AND b.ts_ns <= s.from_ns),
                   from_ns) AS first_ns
  FROM stretch s
),
summed AS MATERIALIZED (
  SELECT s.trace_id, s.device, s.step, s.from_ns, s.to_ns,
         (SELECT json_array(sum(c.ns) FILTER (WHERE c.kinds & 1),
                            sum(c.ns) FILTER (WHERE c.kinds & 2),
                            sum(c.ns) FILTER (WHERE c.kinds & 3 = 3),
                            sum(c.ns) FILTER (WHERE c.kinds = 4))
          FROM (SELECT b.kinds, max(0, min(b.end_ns, s.to_ns) - max(b.ts_ns, s.from_ns)) AS ns
                FROM busy_segments b
                WHERE b.trace_id = s.trace_id AND b.device = s.device
                  AND b.ts_ns >= s.first_ns AND b.ts_ns < s.to_ns) c) AS sums
  FROM begun s
),
used AS (
  SELECT trace_id, device, step, from_ns, to_ns, ifnull(sums ->> 0, 0) AS compute_ns,
         ifnull(sums ->> 1, 0) AS communication_ns, ifnull(sums ->> 2, 0) AS overlap_ns,
         ifnull(sums ->> 3, 0) AS exposed_memory_ns
  FROM summed
  UNION ALL
  SELECT trace_id, device, step, start_ns, end_ns, compute_ns, communication_ns, overlap_ns,
         exposed_memory_ns
  FROM step_uses WHERE trace_id IN (SELECT trace_id FROM trace)
)
SELECT
  t.run,
  t.capture,
  t.rank,
  u.device,
  u.step,
  (u.from_ns - t.run_start_ns) / 1e6 AS start_ms,
  (u.to_ns - u.from_ns) / 1e6 AS span_ms,
  u.compute_ns / 1e6 AS compute_ms,
  u.communication_ns / 1e6 AS comm_ms,
  u.overlap_ns / 1e6 AS overlap_ms,
  100.0 * u.overlap_ns / nullif(u.communication_ns, 0) AS overlap_pct,
  (u.communication_ns - u.overlap_ns) / 1e6 AS exposed_comm_ms,
  u.exposed_memory_ns / 1e6 AS exposed_memory_ms,
  (u.to_ns - u.from_ns - u.compute_ns - u.communication_ns + u.overlap_ns - u.exposed_memory_ns)
    / 1e6 AS idle_ms
FROM used u JOIN trace t ON t.trace_id = u.trace_id
WHERE u.step IS NOT NULL OR u.to_ns > u.from_ns
ORDER BY t.run, t.capture, t.rank, CAST(u.device AS INTEGER), u.device, u.trace_id,
  u.from_ns, u.step;
