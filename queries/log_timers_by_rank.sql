-- title: Timers of the training program, by rank
--
-- One row for each timer of a training log, or for each timer and rank where the log has the times
-- of all ranks (Megatron-LM's --timing-log-option all). A log with the least and the most over the
-- ranks (minmax) tells how far the ranks are apart, and not which they are. Numbers that are no
-- durations (is_epoch in log_timers) are left out and counted.
--
-- param:  run             text        = null  This run only; all of them when null.
-- param:  name            text        = null  This timer only.
-- param:  from_iteration  int(count)  = 3     Timers of iterations before are left out: they warm
--                                             up. Those of no iteration are never left out.
--
-- column: run          text        The run: one training job.
-- column: source_id    int(id)     The log, in the view sources.
-- column: name         text        The timer.
-- column: rank         int(id)     Whose times; NULL: the log does not say.
-- column: times        int(count)  How often the log has it.
-- column: mean_ms      real(ms)    Mean of the rank's times; of min and max: of the max.
-- column: least_ms     real(ms)    The shortest, of any rank that the row is of.
-- column: most_ms      real(ms)    The longest.
-- column: spread_ms    real(ms)    Mean difference between the ranks: of the max and the min, or of
--                                  this rank and the quickest.
-- column: slowest_pct  real(pct)   Of the iterations: this rank had the longest time of all ranks.
-- column: epochs       int(count)  Numbers that are no durations.
--
-- about:  logs, settings, GPU samples
-- lead:   name, rank, mean_ms, least_ms, most_ms, spread_ms, slowest_pct
-- plot:   bar mean_ms by run, name, rank
-- empty:  No timer is in the database: a log has them with --timing-log-level 1 or 2.

WITH timer AS (
  SELECT run, source_id, iteration, line, name, rank, is_epoch,
         coalesce(ms, max_ms) AS long_ms, coalesce(ms, min_ms, max_ms) AS short_ms,
         max_ms - min_ms AS apart_ms
  FROM log_timers
  WHERE (:run IS NULL OR run = :run) AND (:name IS NULL OR name = :name)
    AND (iteration IS NULL OR iteration >= ifnull(:from_iteration, 3))
),
ranked AS (
  SELECT t.*,
         long_ms - min(long_ms) OVER same AS behind_ms,
         long_ms = max(long_ms) OVER same AND count(*) OVER same > 1 AS is_slowest
  FROM timer t
  WINDOW same AS (PARTITION BY source_id, iteration, name,
                  CASE WHEN iteration IS NULL THEN line END)  -- then a block is all that is known
)
SELECT
  run,
  source_id,
  name,
  rank,
  count(*) AS times,
  avg(long_ms) AS mean_ms,
  min(short_ms) AS least_ms,
  max(long_ms) AS most_ms,
  round(avg(CASE WHEN rank IS NULL THEN apart_ms ELSE behind_ms END), 6) AS spread_ms,
  CASE WHEN rank IS NOT NULL THEN 100.0 * avg(is_slowest) END AS slowest_pct,
  sum(is_epoch) AS epochs
FROM ranked
GROUP BY run, source_id, name, rank
ORDER BY run, source_id, max(sum(long_ms)) OVER (PARTITION BY source_id, name) DESC, name, rank;
