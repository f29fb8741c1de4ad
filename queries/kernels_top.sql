-- title: Which kernels take the GPU's time
--
-- One row for each name of a kernel, copy or fill, the most time first. total_ms is the sum of
-- durations: what overlaps on a GPU counts in each (for the time in which anything ran see
-- `overlap`). Of communication kernels most may be waiting for other ranks (see `nccl_stalls`).
-- Ranks that do the same work have the same total: most_rank and least_rank show who does not.
--
-- param:  limit  int(rows)   = null  Rows returned at most; all when null.
-- param:  rank   int(id)     = null  This rank only; all of them when null.
-- param:  step   int(count)  = null  Only what was launched in this step; all when null.
--
-- column: name             text        The kernel, whole; of templates each instance is one.
-- column: kind             text        compute, communication or memory.
-- column: activities       int(count)  How often it ran.
-- column: total_ms         real(ms)    Sum of its durations.
-- column: share_pct        real(pct)   Of the sum of all selected durations.
-- column: cumulative_pct   real(pct)   share_pct of this and all rows above.
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
-- plot:   bar total_ms by name, kind
-- empty:  No GPU activity is in the database, or none of that rank and step.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH ran AS MATERIALIZED (
  SELECT track_id, name_id, kind, ifnull(dur_ns, 0) AS dur, count(*) AS activities
  FROM activities
  WHERE ifnull(dur_ns, 0) >= 0
    AND (:rank IS NULL OR track_id IN (SELECT track_id FROM tracks WHERE rank = :rank))
    AND (:step IS NULL OR step = :step)
  GROUP BY track_id, name_id, kind, ifnull(dur_ns, 0)
),
named AS MATERIALIZED (
  SELECT l.name, r.kind, t.rank, r.dur, r.activities
  FROM ran r JOIN names l ON l.name_id = r.name_id JOIN tracks t ON t.track_id = r.track_id
),
by_rank AS (
  SELECT name, kind, rank, sum(dur * activities) AS total_ns FROM named GROUP BY name, kind, rank
),
placed AS (
  SELECT name, kind, rank, total_ns,
         row_number() OVER (PARTITION BY name, kind ORDER BY total_ns DESC, rank) AS from_most,
         row_number() OVER (PARTITION BY name, kind ORDER BY total_ns, rank) AS from_least
  FROM by_rank
),
ranked AS (
  SELECT name, kind, count(*) AS ranks,
         max(rank) FILTER (WHERE from_most = 1) AS most_rank, max(total_ns) AS most_ns,
         max(rank) FILTER (WHERE from_least = 1) AS least_rank, min(total_ns) AS least_ns
  FROM placed GROUP BY name, kind
),
counted AS (
  SELECT name, kind, dur, activities,
         sum(activities) OVER (PARTITION BY name, kind ORDER BY dur
                               ROWS UNBOUNDED PRECEDING) AS up_to_here,
         sum(activities) OVER (PARTITION BY name, kind) AS all_of_it
  FROM named
),
measured AS (
  SELECT name, kind, sum(activities) AS activities, sum(dur * activities) AS total_ns,
         min(dur) AS min_ns, max(dur) AS max_ns,
         min(dur) FILTER (WHERE 2 * up_to_here >= all_of_it) AS median_ns
  FROM counted GROUP BY name, kind
)
SELECT
  m.name,
  CASE m.kind WHEN 0 THEN 'compute' WHEN 1 THEN 'communication' ELSE 'memory' END AS kind,
  m.activities,
  m.total_ns / 1e6 AS total_ms,
  100.0 * m.total_ns / nullif(sum(m.total_ns) OVER (), 0) AS share_pct,
  100.0 * sum(m.total_ns) OVER (ORDER BY m.total_ns DESC, m.name, m.kind
                                ROWS UNBOUNDED PRECEDING)
    / nullif(sum(m.total_ns) OVER (), 0) AS cumulative_pct,
  1.0 * m.total_ns / m.activities / 1e6 AS mean_ms,
  m.min_ns / 1e6 AS min_ms,
  m.median_ns / 1e6 AS median_ms,
  m.max_ns / 1e6 AS max_ms,
  r.ranks,
  r.most_rank,
  r.most_ns / 1e6 AS most_rank_ms,
  r.least_rank,
  r.least_ns / 1e6 AS least_rank_ms
FROM measured m JOIN ranked r ON r.name = m.name AND r.kind = m.kind
ORDER BY m.total_ns DESC, m.name, m.kind
LIMIT coalesce(:limit, -1);
