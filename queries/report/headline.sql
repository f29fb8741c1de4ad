-- title: The figures that a report begins with
--
-- One row for each figure that the database knows, over all ranks together: the shares of the
-- GPUs' time (sums over all devices of what `overlap` has for each), the rank at which most waits
-- in collectives begin (as `nccl_stall_ranks` has them), and the steps (as `step_times` has them).
--
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

WITH used AS (
  SELECT sum(end_ns - start_ns) AS span_ns, sum(compute_ns) AS compute_ns,
         sum(exposed_communication_ns) AS exposed_ns, sum(idle_ns) AS idle_ns
  FROM device_uses
),
rooted AS (
  SELECT root_rank AS rank, sum(wait_ns) AS wait_ns, sum(sum(wait_ns)) OVER () AS all_ns
  FROM collective_causes
  GROUP BY root_rank
),
straggler AS (
  SELECT rank, wait_ns, all_ns FROM rooted
  WHERE rank IS NOT NULL AND wait_ns > 0 ORDER BY wait_ns DESC, rank LIMIT 1
),
timed AS (
  SELECT rank, dur_ns, row_number() OVER (ORDER BY dur_ns, slice_id) AS place,
         count(*) OVER () AS steps
  FROM steps
  WHERE dur_ns >= 0
),
middle AS (  -- of an even number of steps the mean of the two in the middle
  SELECT avg(dur_ns) AS median_ns, max(steps) AS steps
  FROM timed WHERE place BETWEEN (steps + 1) / 2 AND (steps + 2) / 2
),
figure AS (
  SELECT 1 AS place, 'compute' AS figure, 100.0 * compute_ns / nullif(span_ns, 0) AS share_pct,
         compute_ns / 1e6 AS total_ms, NULL AS rank, 'overlap' AS query
  FROM used WHERE span_ns IS NOT NULL
  UNION ALL
  SELECT 2, 'exposed_comm', 100.0 * exposed_ns / nullif(span_ns, 0), exposed_ns / 1e6, NULL,
         'overlap'
  FROM used WHERE span_ns IS NOT NULL
  UNION ALL
  SELECT 3, 'idle', 100.0 * idle_ns / nullif(span_ns, 0), idle_ns / 1e6, NULL, 'overlap'
  FROM used WHERE span_ns IS NOT NULL
  UNION ALL
  SELECT 4, 'straggler', 100.0 * wait_ns / all_ns, wait_ns / 1e6, rank, 'nccl_stall_ranks'
  FROM straggler
  UNION ALL
  SELECT 5, 'step', 100.0 * (t.dur_ns - m.median_ns) / nullif(m.median_ns, 0), m.median_ns / 1e6,
         t.rank, 'step_times'
  FROM middle m JOIN timed t ON t.place = m.steps
)
SELECT figure, share_pct, total_ms, rank, query FROM figure ORDER BY place;
