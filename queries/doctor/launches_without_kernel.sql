-- title: Kernel launches without a GPU activity
--
-- A runtime or driver call that launches a kernel or a graph (cudaLaunchKernel, cuLaunchKernelEx,
-- hipModuleLaunchKernel, cudaGraphLaunch and their kin) has a correlation; a GPU activity must have
-- the same. Left out are calls while a stream is captured into a graph: they launch nothing.
-- Calls made after the launch of the last GPU activity to start are at_end: they may still have
-- waited in their streams when the capture stopped, and few of them alone are no row. The others
-- are counted; where no launch has a GPU activity, all are. A capture without any GPU activity at
-- all is left to `gpu_activity_missing`.
--
-- param:  few_pct     real(pct)  = 0.1  A share of counted ones up to this is a note.
-- param:  at_end_pct  real(pct)  = 10   A larger share at the end is a finding as well: the GPU's
--                                       records end early.
--
-- meaning: The profiler lost GPU records (dropped buffers), or a launch failed. Busy times,
--   overlap and kernel counts of this rank are too small, by about share_pct if the lost kernels
--   are like the others; idle time is too large. Lost collectives shift the ordinals of those
--   after them, so `nccl_stalls` may match the wrong parts where the trace has no Seq.
-- advice: Record fewer steps or with a larger CUPTI buffer; look at whether first_ms to last_ms
--   is one stretch, and leave it out.
--
-- column: severity   text        finding; note for few.
-- column: run        text        Its run: one training job that was recorded.
-- column: trace_id   int(id)     The trace.
-- column: rank       int(id)     Its rank.
-- column: count      int(count)  Launches without a GPU activity that are not at the end.
-- column: share_pct  real(pct)   Of the trace's launches.
-- column: at_end     int(count)  Those at the end.
-- column: launches   int(count)  Calls that launch a kernel or a graph.
-- column: first_ms   real(ms)    The first without, since the trace's first event.
-- column: last_ms    real(ms)    The last counted one; NULL when all are at the end.
-- column: slice_id   int(id)     The first: its row in slices.
-- column: example    text        Its name.
--
-- lead:   severity, rank, count, share_pct, at_end, first_ms, last_ms, example
-- empty:  Every launch has its GPU activity.

WITH launch_label AS MATERIALIZED (
  SELECT name_id
  FROM names
  WHERE name GLOB 'cu*Launch*Kernel*' OR name GLOB 'hip*Launch*Kernel*'
     OR name GLOB 'cu*GraphLaunch*' OR name GLOB 'hip*GraphLaunch*'
),
lone AS MATERIALIZED (
  SELECT s.slice_id AS id, t.trace_id, s.ts + t.base_ns AS ts_ns
  FROM runtime_calls s
  CROSS JOIN tracks t ON t.track_id = s.track_id
  WHERE s.name_id IN (SELECT name_id FROM launch_label) AND s.correlation IS NOT NULL
    AND t.trace_id IN (SELECT trace_id FROM traces WHERE gpu_activities > 0)
    AND s.slice_id NOT IN (SELECT launch_slice_id FROM launches
                           WHERE launch_slice_id IS NOT NULL)
    -- Where several calls share a correlation, only the first of them is a launch. NOT IN of a
    -- pair would look for NULLs among all the others, each time.
    AND CASE WHEN (t.trace_id, s.correlation) IN (
          SELECT d.trace_id, g.correlation
          FROM activities g
          CROSS JOIN tracks d ON d.track_id = g.track_id) THEN 0 ELSE 1 END
),
marked AS (
  SELECT id, trace_id, ts_ns, 0 AS opens FROM lone
  UNION ALL
  SELECT NULL, t.trace_id, s.ts + t.base_ns, iif(l.name GLOB '*BeginCapture*', 1, -1)
  FROM (SELECT 1 FROM lone LIMIT 1)  -- without one no call is gone through
  CROSS JOIN runtime_calls s
  CROSS JOIN names l ON l.name_id = s.name_id
  CROSS JOIN tracks t ON t.track_id = s.track_id
  WHERE s.name_id IN (SELECT name_id FROM names
                      WHERE name GLOB '*StreamBeginCapture*' OR name GLOB '*StreamEndCapture*')
),
nested AS (
  SELECT id, trace_id, ts_ns,
         sum(opens) OVER (PARTITION BY trace_id ORDER BY ts_ns, opens DESC, id
                          ROWS UNBOUNDED PRECEDING) AS depth
  FROM marked
),
-- Below 0: ends of graph captures that began before the trace did.
outside AS MATERIALIZED (
  SELECT id, trace_id, ts_ns, depth = min(0, min(depth) OVER (PARTITION BY trace_id)) AS is_launch
  FROM nested
),
lone_trace AS MATERIALIZED (
  SELECT n.trace_id,
         (SELECT g.launch_ts_ns
          FROM tracks d
          CROSS JOIN activities g ON g.track_id = d.track_id
          WHERE d.trace_id = n.trace_id AND g.launch_ts_ns IS NOT NULL
          ORDER BY g.ts + d.base_ns DESC LIMIT 1) AS last_launch_ns
  FROM (SELECT DISTINCT trace_id FROM lone) n
),
counted AS MATERIALIZED (
  SELECT o.trace_id,
         sum(coalesce(o.ts_ns <= n.last_launch_ns, 1)) AS lost,
         sum(coalesce(o.ts_ns > n.last_launch_ns, 0)) AS at_end,
         min(o.ts_ns) AS first_ns, o.id AS first_id
  FROM outside o
  JOIN lone_trace n ON n.trace_id = o.trace_id
  WHERE o.is_launch AND o.id IS NOT NULL
  GROUP BY o.trace_id
),
last_lost AS MATERIALIZED (  -- min() above decides which id is the first: max() has its own sum
  SELECT o.trace_id, max(o.ts_ns) AS last_ns
  FROM outside o
  JOIN lone_trace n ON n.trace_id = o.trace_id
  WHERE o.is_launch AND o.id IS NOT NULL AND coalesce(o.ts_ns <= n.last_launch_ns, 1)
  GROUP BY o.trace_id
),
called AS MATERIALIZED (  -- all traces at once: their calls lie in one table
  SELECT t.trace_id, count(*) AS launches
  FROM (SELECT 1 FROM counted LIMIT 1) CROSS JOIN runtime_calls s
  CROSS JOIN tracks t ON t.track_id = s.track_id
  WHERE s.name_id IN (SELECT name_id FROM launch_label)
  GROUP BY t.trace_id
),
judged AS MATERIALIZED (
  SELECT c.*, r.run, r.rank, r.start_ns, a.launches, l.last_ns
  FROM counted c
  JOIN traces r ON r.trace_id = c.trace_id
  JOIN called a ON a.trace_id = c.trace_id
  LEFT JOIN last_lost l ON l.trace_id = c.trace_id
)
SELECT
  CASE
    WHEN 100.0 * lost > coalesce(:few_pct, 0.1) * launches THEN 'finding'
    WHEN 100.0 * at_end > coalesce(:at_end_pct, 10) * launches THEN 'finding'
    ELSE 'note'
  END AS severity,
  run,
  trace_id,
  rank,
  lost AS count,
  100.0 * lost / launches AS share_pct,
  at_end,
  launches,
  (first_ns - start_ns) / 1e6 AS first_ms,
  (last_ns - start_ns) / 1e6 AS last_ms,
  first_id AS slice_id,
  (SELECT l.name FROM runtime_calls s JOIN names l ON l.name_id = s.name_id
    WHERE s.slice_id = first_id)
    AS example
FROM judged
WHERE lost > 0 OR 100.0 * at_end > coalesce(:at_end_pct, 10) * launches
ORDER BY lost = 0, run, rank, trace_id;
