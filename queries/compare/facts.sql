-- title: What has to be alike for two runs to be compared
--
-- One row for each thing that is known of a run: what it ran on, how its ranks share the work, and
-- what of it was recorded, and its arguments where its training log was ingested too.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run        text       The run: one training job that was recorded.
-- column: fact       text       world size, GPUs, GPUs of a rank, tensor parallel (and pipeline,
--                               data, expert, context; 1 where others alone are known), ranks
--                               recorded, rank numbers (where traces say theirs), CUDA, incomplete
--                               traces, events skipped; argument X of the training log; SM clock
--                               (MHz) during the steps by gpu_samples: the mean of the GPUs, and
--                               that of the slowest.
-- column: value      text       What it is.
-- column: decides    bool       Runs that differ in it are not compared, nor are those with
--                               incomplete traces.
-- column: alike_pct  real(pct)  Numbers that are no further apart are alike; NULL: only equal ones.
--
-- empty:  No trace is in the database, and no training log with its arguments.

WITH trace AS (
  SELECT trace_id, run_id, run, rank, rank_source, world_size, gpu_name, complete, skipped_events,
         header
  FROM traces WHERE :run IS NULL OR run = :run
),
job AS (SELECT run_id, run FROM runs WHERE :run IS NULL OR run = :run),
device AS (
  SELECT u.trace_id, count(DISTINCT u.device) AS devices FROM device_uses u GROUP BY u.trace_id
),
stretch AS (  -- of steps that were recorded
  SELECT t.run_id, t.rank, min(s.ts_ns) AS start_ns, max(s.ts_ns + s.dur_ns) AS end_ns
  FROM steps s JOIN trace t ON t.trace_id = s.trace_id GROUP BY s.trace_id
),
clock AS MATERIALIZED (
  SELECT run_id, rank, at_ns, mhz, period_ns FROM rank_clock_samples
  WHERE run_id IN (SELECT run_id FROM trace)
),
clock_near AS (
  SELECT c.run_id, c.rank, c.mhz, c.is_within,
         row_number() OVER (PARTITION BY c.run_id, c.rank, c.is_within ORDER BY c.mhz) AS place,
         count(*) OVER (PARTITION BY c.run_id, c.rank, c.is_within) AS samples
  FROM (SELECT c.run_id, c.rank, c.mhz, c.at_ns BETWEEN w.start_ns AND w.end_ns AS is_within
        FROM stretch w JOIN clock c ON c.run_id = w.run_id AND c.rank = w.rank
          AND c.at_ns BETWEEN w.start_ns - c.period_ns AND w.end_ns + c.period_ns) c
),
clock_of AS (  -- the median within the steps; where there is none the highest beside them
  SELECT run_id, rank,
         coalesce(max(mhz) FILTER (WHERE is_within AND place = (samples + 1) / 2),
                  max(mhz)) AS mhz
  FROM clock_near GROUP BY run_id, rank
),
fact(run_id, place, fact, value, decides) AS (
  SELECT run_id, 1, 'world size', CAST(max(world_size) AS TEXT), 1 FROM trace
  GROUP BY run_id HAVING max(world_size) IS NOT NULL
  UNION ALL
  SELECT run_id, 2, 'GPUs', group_concat(DISTINCT gpu_name), 1
  FROM (SELECT run_id, gpu_name FROM trace WHERE gpu_name IS NOT NULL ORDER BY gpu_name)
  GROUP BY run_id
  UNION ALL
  SELECT t.run_id, 3, 'GPUs of a rank', CAST(max(d.devices) AS TEXT), 1
  FROM trace t JOIN device d ON d.trace_id = t.trace_id GROUP BY t.run_id
  UNION ALL
  SELECT g.run_id, 4, p.parallelism || ' parallel',
         CAST(ifnull(max(g.size) FILTER (WHERE g.parallelism = p.parallelism), 1) AS TEXT), 1
  FROM process_groups g
       CROSS JOIN (SELECT 'tensor' AS parallelism UNION ALL VALUES ('pipeline'), ('data'),
                     ('expert'), ('context')) p
  WHERE g.run_id IN (SELECT run_id FROM trace)
  GROUP BY g.run_id, p.parallelism HAVING sum(g.parallelism <> 'other') > 0
  UNION ALL
  SELECT run_id, 5, 'ranks recorded', CAST(count(DISTINCT rank) AS TEXT), 1 FROM trace
  GROUP BY run_id
  UNION ALL  -- not of traces that do not say theirs: chosen are the first that are free
  SELECT run_id, 5, 'rank numbers', group_concat(DISTINCT rank), 1
  FROM (SELECT run_id, rank, rank_source FROM trace ORDER BY run_id, rank) GROUP BY run_id
  HAVING sum(rank_source IN ('chosen', 'device order')) = 0
  UNION ALL
  SELECT run_id, 6, 'CUDA', group_concat(DISTINCT version), 0
  FROM (SELECT run_id, header ->> '$.cuda_runtime_version' AS version FROM trace
        WHERE json_valid(header) ORDER BY 2)
  WHERE version IS NOT NULL GROUP BY run_id
  UNION ALL  -- an argument that is given several times counts once
  SELECT l.run_id, 9, 'argument ' || l.name, group_concat(DISTINCT l.value),
         l.name = 'global_batch_size'
  FROM (SELECT DISTINCT run_id, name, value FROM log_arguments
        WHERE section = 'arguments' AND run_id IN (SELECT run_id FROM job) ORDER BY 1, 2, 3) l
  GROUP BY l.run_id, l.name
  UNION ALL
  SELECT run_id, 7, 'incomplete traces', CAST(sum(NOT complete) AS TEXT), 1 FROM trace
  GROUP BY run_id
  UNION ALL
  SELECT run_id, 8, 'events skipped', CAST(sum(skipped_events) AS TEXT), 0 FROM trace
  GROUP BY run_id
  UNION ALL
  SELECT run_id, 10, 'SM clock (MHz)', CAST(CAST(round(avg(mhz)) AS INTEGER) AS TEXT), 0
  FROM clock_of GROUP BY run_id
  UNION ALL
  SELECT run_id, 10, 'SM clock of the slowest GPU (MHz)',
         CAST(CAST(round(min(mhz)) AS INTEGER) AS TEXT), 0
  FROM clock_of GROUP BY run_id HAVING count(*) > 1
)
SELECT r.run, f.fact, f.value, f.decides, iif(f.place = 10, 2.0, NULL) AS alike_pct
FROM fact f JOIN job r ON r.run_id = f.run_id
ORDER BY f.run_id, f.place, f.fact;
