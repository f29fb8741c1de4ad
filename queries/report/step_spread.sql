-- title: How step times are spread, and how they drift
--
-- One row for each rank, or where there are more than ranks_max of them for each stage of the
-- pipeline, or for all ranks together where there is none: the steps of all its ranks by their
-- length on the host. The drift compares the median of the last third of each rank's steps with
-- that of the first third. Only of runs in which a rank has three steps or more.
--
-- param:  ranks_max  int(count)  = 32    With more ranks than that they are put together.
-- param:  run        text        = null  This run only; all of them when null.
-- param:  capture    int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run        text        The run: one training job that was recorded.
-- column: class      text        Of which ranks: rank N, stage N or all ranks.
-- column: ranks      int(count)  How many these are.
-- column: steps      int(count)  Steps of all of them.
-- column: min_ms     real(ms)    The shortest.
-- column: q1_ms      real(ms)    A quarter of them took no longer.
-- column: median_ms  real(ms)    The middle one; of an even number the mean of the two in the
--                                middle.
-- column: q3_ms      real(ms)    Three quarters of them took no longer.
-- column: max_ms     real(ms)    The longest.
-- column: max_rank   int(id)     Of which rank that was,
-- column: max_step   int(count)  and which step.
-- column: first_ms   real(ms)    Median of the first third of each rank's steps; NULL with fewer
--                                than six of a rank.
-- column: last_ms    real(ms)    Median of the last third.
-- column: drift_pct  real(pct)   last_ms beyond first_ms, of first_ms.
--
-- empty:  No rank has three steps or more.

WITH recorded AS MATERIALIZED (
  SELECT trace_id, run_id, run, rank FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
counted AS MATERIALIZED (
  SELECT run_id, count(DISTINCT rank) > coalesce(:ranks_max, 32) AS is_many
  FROM recorded GROUP BY run_id
),
staged AS MATERIALIZED (  -- by the largest group of pipelines that a rank is in
  SELECT run_id, rank, stage FROM (
    SELECT g.run_id, CAST(j.value AS INTEGER) AS rank, j.key AS stage,
           row_number() OVER (PARTITION BY g.run_id, j.value ORDER BY g.size DESC, g.group_id)
             AS choice
    FROM process_groups g CROSS JOIN json_each(g.ranks) j
    WHERE g.size > 1 AND g.parallelism = 'pipeline'
      AND g.run_id IN (SELECT run_id FROM counted WHERE is_many))
  WHERE choice = 1
),
stepped AS MATERIALIZED (
  SELECT r.run_id, r.rank, s.step, s.dur_ns,
         CASE WHEN NOT c.is_many THEN r.rank
              WHEN g.stage IS NOT NULL THEN g.stage ELSE -1 END AS place,
         CASE WHEN NOT c.is_many THEN 'rank ' || r.rank
              WHEN g.stage IS NOT NULL THEN 'stage ' || g.stage ELSE 'all ranks' END AS class,
         ntile(3) OVER (PARTITION BY r.run_id, r.rank ORDER BY s.ts_ns, s.slice_id) AS third,
         count(*) OVER (PARTITION BY r.run_id, r.rank) AS of_rank
  FROM recorded r JOIN counted c ON c.run_id = r.run_id
       JOIN steps s ON s.trace_id = r.trace_id
       LEFT JOIN staged g ON g.run_id = r.run_id AND g.rank = r.rank
  WHERE s.dur_ns >= 0
),
sorted AS (
  SELECT *, row_number() OVER of_class AS n, count(*) OVER (PARTITION BY run_id, class) AS steps
  FROM stepped WHERE of_rank >= 3
  WINDOW of_class AS (PARTITION BY run_id, class ORDER BY dur_ns, rank, step)
),
spread AS (
  SELECT run_id, class, place, count(DISTINCT rank) AS ranks, steps,
         min(dur_ns) AS min_ns,
         min(dur_ns) FILTER (WHERE n >= (steps + 3) / 4) AS q1_ns,
         avg(dur_ns) FILTER (WHERE n BETWEEN (steps + 1) / 2 AND (steps + 2) / 2) AS median_ns,
         min(dur_ns) FILTER (WHERE n >= (3 * steps + 3) / 4) AS q3_ns
  FROM sorted GROUP BY run_id, class
),
longest AS (
  SELECT run_id, class, rank, step, dur_ns FROM sorted WHERE n = steps
),
thirds AS (
  SELECT run_id, class, third, dur_ns,
         row_number() OVER (PARTITION BY run_id, class, third ORDER BY dur_ns) AS n,
         count(*) OVER (PARTITION BY run_id, class, third) AS steps
  FROM stepped WHERE of_rank >= 6 AND third <> 2
),
drift AS (
  SELECT run_id, class,
         avg(dur_ns) FILTER (WHERE third = 1) AS first_ns,
         avg(dur_ns) FILTER (WHERE third = 3) AS last_ns
  FROM thirds WHERE n BETWEEN (steps + 1) / 2 AND (steps + 2) / 2
  GROUP BY run_id, class
)
SELECT
  r.run,
  s.class,
  s.ranks,
  s.steps,
  s.min_ns / 1e6 AS min_ms,
  s.q1_ns / 1e6 AS q1_ms,
  s.median_ns / 1e6 AS median_ms,
  s.q3_ns / 1e6 AS q3_ms,
  l.dur_ns / 1e6 AS max_ms,
  l.rank AS max_rank,
  l.step AS max_step,
  d.first_ns / 1e6 AS first_ms,
  d.last_ns / 1e6 AS last_ms,
  100.0 * (d.last_ns - d.first_ns) / nullif(d.first_ns, 0) AS drift_pct
FROM spread s JOIN runs r ON r.run_id = s.run_id
     JOIN longest l ON l.run_id = s.run_id AND l.class = s.class
     LEFT JOIN drift d ON d.run_id = s.run_id AND d.class = s.class
ORDER BY s.run_id, s.place;
