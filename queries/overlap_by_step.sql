-- title: Is communication hidden behind computation, by step
--
-- `overlap`, cut into steps. The GPU runs behind the host, so its time is cut where it comes to a
-- step's work: a step lasts from the first start of an activity launched in it to the next such
-- start, the last one to the end of all activities. What ran before the first step's work is in a
-- row with step NULL. compute + exposed_comm + exposed_memory + idle = span, to the nanosecond,
-- and each of these, over the rows of a GPU, adds up to what `overlap` says.
--
-- param:  rank  int(id)  = null  This rank only; all of them when null.
--
-- column: rank               int(id)     The rank.
-- column: device             text        The GPU, as the trace calls it.
-- column: step               int(count)  The step; NULL before the first one's work.
-- column: start_ms           real(ms)    Where its work starts, since the first event of all.
-- column: span_ms            real(ms)    From there to where the next one's starts.
-- column: compute_ms         real(ms)    Some compute kernel ran.
-- column: comm_ms            real(ms)    Some communication kernel ran.
-- column: overlap_ms         real(ms)    Both ran.
-- column: overlap_pct        real(pct)   overlap_ms of comm_ms; NULL without communication.
-- column: exposed_comm_ms    real(ms)    Communication ran and no compute kernel did.
-- column: exposed_memory_ms  real(ms)    A copy or a fill ran and no kernel did.
-- column: idle_ms            real(ms)    Nothing ran.
--
-- plot:   stacked compute_ms, exposed_comm_ms, exposed_memory_ms, idle_ms by rank, device, step
-- empty:  No GPU activity is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH first_start AS (
  SELECT track_id, step, min(ts) AS ts FROM activities
  WHERE step IS NOT NULL AND ifnull(dur_ns, 0) >= 0
  GROUP BY +track_id, step
),
boundary AS (
  SELECT t.rank, t.device, f.step, min(f.ts + t.base_ns) AS at_ns
  FROM first_start f JOIN tracks t ON t.track_id = f.track_id
  WHERE :rank IS NULL OR t.rank = :rank
  GROUP BY t.rank, t.device, t.trace_id, f.step
  UNION ALL
  SELECT rank, device, NULL, start_ns FROM device_uses WHERE :rank IS NULL OR rank = :rank
),
stretch AS MATERIALIZED (  -- the GPU's time, cut: from one boundary to the next
  SELECT b.rank, b.device, b.step, b.at_ns AS from_ns,
         lead(b.at_ns, 1, u.end_ns) OVER in_time AS to_ns, row_number() OVER in_time AS number
  FROM boundary b JOIN device_uses u ON u.rank = b.rank AND u.device = b.device
  WINDOW in_time AS (PARTITION BY b.rank, b.device ORDER BY b.at_ns, b.step)
),
begun AS MATERIALIZED (  -- a segment may last into it
  SELECT *, ifnull((SELECT max(b.ts_ns) FROM busy_segments b
                    WHERE b.rank = s.rank AND b.device = s.device AND b.ts_ns <= s.from_ns),
                   from_ns) AS first_ns
  FROM stretch s
),
summed AS MATERIALIZED (
  SELECT s.rank, s.device, s.step, s.number, s.from_ns, s.to_ns,
         (SELECT json_array(sum(c.ns) FILTER (WHERE c.kinds & 1),
                            sum(c.ns) FILTER (WHERE c.kinds & 2),
                            sum(c.ns) FILTER (WHERE c.kinds & 3 = 3),
                            sum(c.ns) FILTER (WHERE c.kinds = 4))
          FROM (SELECT b.kinds, max(0, min(b.end_ns, s.to_ns) - max(b.ts_ns, s.from_ns)) AS ns
                FROM busy_segments b
                WHERE b.rank = s.rank AND b.device = s.device
                  AND b.ts_ns >= s.first_ns AND b.ts_ns < s.to_ns) c) AS sums
  FROM begun s
),
used AS (
  SELECT rank, device, step, number, from_ns, to_ns, ifnull(sums ->> 0, 0) AS compute_ns,
         ifnull(sums ->> 1, 0) AS communication_ns, ifnull(sums ->> 2, 0) AS overlap_ns,
         ifnull(sums ->> 3, 0) AS exposed_memory_ns
  FROM summed
)
SELECT
  rank,
  device,
  step,
  (from_ns - zero_ns) / 1e6 AS start_ms,
  (to_ns - from_ns) / 1e6 AS span_ms,
  compute_ns / 1e6 AS compute_ms,
  communication_ns / 1e6 AS comm_ms,
  overlap_ns / 1e6 AS overlap_ms,
  100.0 * overlap_ns / nullif(communication_ns, 0) AS overlap_pct,
  (communication_ns - overlap_ns) / 1e6 AS exposed_comm_ms,
  exposed_memory_ns / 1e6 AS exposed_memory_ms,
  (to_ns - from_ns - compute_ns - communication_ns + overlap_ns - exposed_memory_ns) / 1e6
    AS idle_ms
FROM used CROSS JOIN origin
WHERE step IS NOT NULL OR to_ns > from_ns
ORDER BY rank, CAST(device AS INTEGER), device, number;
