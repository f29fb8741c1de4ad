-- title: Loss and time of each iteration, as the job's log has them
--
-- param:  points   int(count)  = 2000  Iterations at most: of more, every second, third and so on.
-- param:  run      text        = null  This run only; all of them when null.
--
-- column: run         text        The run: one training job that was recorded.
-- column: iteration   int(count)  The iteration.
-- column: loss        real(count) The loss.
-- column: elapsed_ms  real(ms)    How long it took.
-- column: grad_norm   real(count) The norm of the gradients.
-- column: tflops      real(count) TFLOP/s of a GPU, as the log has it.
--
-- empty:  No training log is in the database: tracedb ingest takes the folder that has it.

WITH line AS (
  SELECT run_id, run, iteration, max(loss) AS loss, max(elapsed_ms) AS elapsed_ms,
         max(grad_norm) AS grad_norm, max(tflops) AS tflops
  FROM log_iterations
  WHERE (:run IS NULL OR run = :run)
  GROUP BY run_id, iteration
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY iteration) - 1 AS place,
         count(*) OVER (PARTITION BY run_id) AS lines
  FROM line
)
SELECT run, iteration, loss, elapsed_ms, grad_norm, tflops
FROM placed
WHERE place % ((lines - 1) / max(coalesce(:points, 2000), 1) + 1) = 0
ORDER BY run_id, iteration;
