-- title: Loss and time of iterations, as compare draws them
--
-- One row for each iteration of a run's training log: of an iteration that is there twice, as after
-- a restart, the last line.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run         text         The run: one training job that was recorded.
-- column: iteration   int(count)   Its number in the log.
-- column: elapsed_ms  real(ms)     Its time: the mean of the log's interval.
-- column: loss        real(count)  As the log has it.
-- column: batch_size  int(count)   Samples in it.
--
-- empty:  No run has a training log.

WITH placed AS (
  SELECT run_id, run, iteration, elapsed_ms, loss, batch_size,
         row_number() OVER (PARTITION BY run_id, iteration ORDER BY source_id DESC, line DESC)
           AS place
  FROM log_iterations
  WHERE iteration IS NOT NULL AND run_id IS NOT NULL AND (:run IS NULL OR run = :run)
)
SELECT run, iteration, elapsed_ms, loss, batch_size
FROM placed WHERE place = 1 ORDER BY run_id, iteration;
