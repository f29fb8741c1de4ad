-- title: Which kernels take the GPU's time
--
-- One row for each name of a kernel, copy or fill, the most time first. total_ms is the sum of
-- durations: what overlaps on a GPU counts in each (for the time in which anything ran see
-- `overlap`). Of communication kernels most may be waiting for other ranks (see `nccl_stalls`).
-- Ranks that do the same work have the same total: most_rank and least_rank show who does not.
--
-- param:  limit    int(rows)   = null  Rows returned at most for a run; all when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  step     ints(count) = null  Only what was launched in these steps; all when null.
--
-- column: run              text        The run: one training job that was recorded.
-- column: name             text        The kernel, whole; of templates each instance is one.
-- column: kind             text        compute, communication, memory or waiting.
-- column: activities       int(count)  How often it ran.
-- column: total_ms         real(ms)    Sum of its durations.
-- column: share_pct        real(pct)   Of the sum of all selected durations of the run.
-- column: cumulative_pct   real(pct)   share_pct of this and all rows of the run above.
-- column: mean_ms          real(ms)    Its mean duration.
-- column: min_ms           real(ms)    The shortest.
-- column: median_ms        real(ms)    Half of them took no longer; the lower of two middle ones.
-- column: max_ms           real(ms)    The longest.
-- column: ranks            int(count)  Ranks that ran it.
-- column: most_rank        int(id)     The rank with the largest sum; of several the lowest.
-- column: most_rank_ms     real(ms)    Its sum.
-- column: least_rank       int(id)     The rank with the smallest sum, of those that ran it.
-- column: least_rank_ms    real(ms)    Its sum.
--
-- about:  kernels and operators
-- lead:   name, kind, activities, total_ms, share_pct
-- plot:   bar total_ms by run, name, kind
-- empty:  No GPU activity is in the database, or none of that rank and step.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH trace AS MATERIALIZED (
  SELECT trace_id, run, rank FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
lane AS MATERIALIZED (
  SELECT k.track_id, t.run, t.rank FROM tracks k JOIN trace t ON t.trace_id = k.trace_id
),
ran AS MATERIALIZED (  -- by duration first: of few streams and names most rows are of the same
  SELECT ifnull(g.dur_ns, 0) AS dur, g.name_id, g.track_id, g.kind, count(*) AS activities
  FROM activity_times g
  WHERE ifnull(g.dur_ns, 0) >= 0
    AND (coalesce(:run, :capture, :rank) IS NULL OR g.track_id IN (SELECT track_id FROM lane))
    AND (:step IS NULL
         OR (SELECT k.step FROM launches k WHERE k.slice_id = g.slice_id)
            IN (SELECT value FROM json_each(:step)))
  GROUP BY ifnull(g.dur_ns, 0), g.name_id, g.track_id, g.kind
),
named AS MATERIALIZED (
  SELECT t.run, l.name, r.kind, t.rank, r.dur, r.activities
  FROM ran r JOIN names l ON l.name_id = r.name_id JOIN lane t ON t.track_id = r.track_id
),
by_rank AS (
  SELECT run, name, kind, rank, sum(dur * activities) AS total_ns
  FROM named GROUP BY run, name, kind, rank
),
placed AS (
  SELECT run, name, kind, rank, total_ns,
         row_number() OVER (PARTITION BY run, name, kind ORDER BY total_ns DESC, rank) AS from_most,
         row_number() OVER (PARTITION BY run, name, kind ORDER BY total_ns, rank) AS from_least
  FROM by_rank
),
ranked AS (
  SELECT run, name, kind, count(*) AS ranks,
         max(rank) FILTER (WHERE from_most = 1) AS most_rank, max(total_ns) AS most_ns,
         max(rank) FILTER (WHERE from_least = 1) AS least_rank, min(total_ns) AS least_ns
  FROM placed GROUP BY run, name, kind
),
counted AS (
  SELECT run, name, kind, dur, activities,
         sum(activities) OVER (PARTITION BY run, name, kind ORDER BY dur
                               ROWS UNBOUNDED PRECEDING) AS up_to_here,
         sum(activities) OVER (PARTITION BY run, name, kind) AS all_of_it
  FROM named
),
measured AS (
  SELECT run, name, kind, sum(activities) AS activities, sum(dur * activities) AS total_ns,
         min(dur) AS min_ns, max(dur) AS max_ns,
         min(dur) FILTER (WHERE 2 * up_to_here >= all_of_it) AS median_ns
  FROM counted GROUP BY run, name, kind
),
shared AS (
  SELECT *, sum(total_ns) OVER (PARTITION BY run) AS run_ns,
         sum(total_ns) OVER in_order AS above_ns, row_number() OVER in_order AS place
  FROM measured
  WINDOW in_order AS (PARTITION BY run ORDER BY total_ns DESC, name, kind ROWS UNBOUNDED PRECEDING)
),
both AS (  -- put together by sorting: a join of them has no key, and SQLite makes none
  SELECT run, name, kind, activities, total_ns, min_ns, median_ns, max_ns, run_ns, above_ns, place,
         NULL AS ranks, NULL AS most_rank, NULL AS most_ns, NULL AS least_rank, NULL AS least_ns
  FROM shared
  UNION ALL
  SELECT run, name, kind, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ranks, most_rank,
         most_ns, least_rank, least_ns
  FROM ranked
),
shown AS (
  SELECT run, name, kind, max(activities) AS activities, max(total_ns) AS total_ns,
         max(min_ns) AS min_ns, max(median_ns) AS median_ns, max(max_ns) AS max_ns,
         max(run_ns) AS run_ns, max(above_ns) AS above_ns, max(place) AS place,
         max(ranks) AS ranks, max(most_rank) AS most_rank, max(most_ns) AS most_ns,
         max(least_rank) AS least_rank, max(least_ns) AS least_ns
  FROM both GROUP BY run, name, kind
)
SELECT
  m.run,
  m.name,
  CASE m.kind WHEN 0 THEN 'compute' WHEN 1 THEN 'communication' WHEN 2 THEN 'memory'
              ELSE 'waiting' END AS kind,
  m.activities,
  m.total_ns / 1e6 AS total_ms,
  100.0 * m.total_ns / nullif(m.run_ns, 0) AS share_pct,
  100.0 * m.above_ns / nullif(m.run_ns, 0) AS cumulative_pct,
  1.0 * m.total_ns / m.activities / 1e6 AS mean_ms,
  m.min_ns / 1e6 AS min_ms,
  m.median_ns / 1e6 AS median_ms,
  m.max_ns / 1e6 AS max_ms,
  m.ranks,
  m.most_rank,
  m.most_ns / 1e6 AS most_rank_ms,
  m.least_rank,
  m.least_ns / 1e6 AS least_rank_ms
FROM shown m
WHERE :limit IS NULL OR :limit < 0 OR m.place <= :limit
ORDER BY m.run, m.place;
