-- title: Timers of a training log by iteration, as compare takes them
--
-- One row for each timer and iteration of a run: the time of the slowest rank. Numbers that are no
-- durations have none; of an iteration that is there twice, as after a restart, the last lines do.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run        text        The run: one training job that was recorded.
-- column: iteration  int(count)  The iteration's number in the log.
-- column: name       text        The timer.
-- column: ms         real(ms)    Its time: the most over the ranks, where the log has several.
--
-- empty:  No run has a training log with timers.

WITH printed AS (
  SELECT run_id, run, iteration, name, coalesce(max_ms, ms) AS ms,
         row_number() OVER (PARTITION BY run_id, iteration, name, rank, writer
                            ORDER BY source_id DESC, line DESC) AS place
  FROM log_timers
  WHERE iteration IS NOT NULL AND run_id IS NOT NULL AND NOT is_epoch
    AND (:run IS NULL OR run = :run)
)
SELECT run, iteration, name, max(ms) AS ms
FROM printed
WHERE place = 1
GROUP BY run_id, run, iteration, name
ORDER BY run_id, iteration, name;
