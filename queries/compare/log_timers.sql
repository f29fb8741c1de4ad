-- title: Timers of a training log by iteration, as compare takes them
--
-- One row for each timer and iteration of a run: the time of the slowest rank. Numbers that are no
-- durations have none.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run        text        The run: one training job that was recorded.
-- column: iteration  int(count)  The iteration's number in the log.
-- column: name       text        The timer.
-- column: ms         real(ms)    Its time: the most over the ranks, where the log has several.
--
-- empty:  No run has a training log with timers.

SELECT run, iteration, name, max(coalesce(max_ms, ms)) AS ms
FROM log_timers
WHERE iteration IS NOT NULL AND run_id IS NOT NULL AND NOT is_epoch
  AND (:run IS NULL OR run = :run)
GROUP BY run_id, run, iteration, name
ORDER BY run_id, iteration, name;
