-- title: The figures that a report begins with
--
-- One row for each figure that is known of a run, over all its ranks and captures together: the
-- shares of the GPUs' time (sums over all devices of what `overlap` has for each), the rank at
-- which most waits in collectives begin (as `nccl_stall_ranks` has them), and the steps (as
-- `step_times` has them).
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run        text       The run: one training job that was recorded.
-- column: figure     text       compute, exposed_comm, idle, straggler or step.
-- column: share_pct  real(pct)  Of the time of all GPUs; straggler: of all waits; step: how much
--                               longer the longest step took than the median.
-- column: total_ms   real(ms)   The time itself, summed over all GPUs; straggler: the waits whose
--                               chain begins at it; step: the median over all ranks' steps.
-- column: rank       int(id)    straggler: the rank; step: the rank of the longest step.
-- column: query      text       The query that has the figure rank by rank.
--
-- empty:  No GPU activity is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH recorded AS MATERIALIZED (
  SELECT trace_id, run_id FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
used AS (
  SELECT r.run_id, sum(end_ns - start_ns) AS span_ns, sum(compute_ns) AS compute_ns,
         sum(exposed_communication_ns) AS exposed_ns, sum(idle_ns) AS idle_ns
  FROM device_uses d JOIN recorded r ON r.trace_id = d.trace_id
  GROUP BY r.run_id
),
rooted AS (
  SELECT r.run_id, root_rank AS rank, sum(wait_ns) AS wait_ns,
         sum(sum(wait_ns)) OVER (PARTITION BY r.run_id) AS all_ns
  FROM collective_causes c JOIN recorded r ON r.trace_id = c.trace_id
  GROUP BY r.run_id, root_rank
),
straggler AS (
  SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY wait_ns DESC, rank) AS place
  FROM rooted r WHERE rank IS NOT NULL AND wait_ns > 0
    -- Where nearly all is as a pipeline's schedule has it, nobody is one.
    AND 20 * wait_ns >= ifnull((SELECT sum(n.wait_ns) FROM rooted n
                                WHERE n.run_id = r.run_id AND n.rank IS NULL), 0)
),
timed AS (
  SELECT r.run_id, rank, dur_ns,
         row_number() OVER (PARTITION BY r.run_id ORDER BY dur_ns, slice_id) AS place,
         count(*) OVER (PARTITION BY r.run_id) AS steps
  FROM steps s JOIN recorded r ON r.trace_id = s.trace_id
  WHERE dur_ns >= 0
),
middle AS (  -- of an even number of steps the mean of the two in the middle
  SELECT run_id, avg(dur_ns) AS median_ns, max(steps) AS steps
  FROM timed WHERE place BETWEEN (steps + 1) / 2 AND (steps + 2) / 2 GROUP BY run_id
),
figure AS (
  SELECT run_id, 1 AS place, 'compute' AS figure,
         100.0 * compute_ns / nullif(span_ns, 0) AS share_pct, compute_ns / 1e6 AS total_ms,
         NULL AS rank, 'overlap' AS query
  FROM used
  UNION ALL
  SELECT run_id, 2, 'exposed_comm', 100.0 * exposed_ns / nullif(span_ns, 0), exposed_ns / 1e6,
         NULL, 'overlap'
  FROM used
  UNION ALL
  SELECT run_id, 3, 'idle', 100.0 * idle_ns / nullif(span_ns, 0), idle_ns / 1e6, NULL, 'overlap'
  FROM used
  UNION ALL
  SELECT run_id, 4, 'straggler', 100.0 * wait_ns / all_ns, wait_ns / 1e6, rank,
         'nccl_stall_ranks'
  FROM straggler WHERE place = 1
  UNION ALL
  SELECT m.run_id, 5, 'step', 100.0 * (t.dur_ns - m.median_ns) / nullif(m.median_ns, 0),
         m.median_ns / 1e6, t.rank, 'step_times'
  FROM middle m JOIN timed t ON t.run_id = m.run_id AND t.place = m.steps
)
SELECT w.run, f.figure, f.share_pct, f.total_ms, f.rank, f.query
FROM figure f JOIN runs w ON w.run_id = f.run_id
ORDER BY f.run_id, f.place;
