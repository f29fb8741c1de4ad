-- title: Loss and time of iterations, as compare takes them
--
-- One row for each iteration of a run's training log: of an iteration that is there twice, as after
-- a restart, the last line.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run         text         The run: one training job that was recorded.
-- column: iteration   int(count)   Its number in the log.
-- column: elapsed_ms  real(ms)     Its time: the mean of the log's interval; where no line of the
--                                  log has one, what lies between two lines, if their times are
--                                  fine enough.
-- column: loss        real(count)  As the log has it.
-- column: batch_size  int(count)   Samples in it.
--
-- empty:  No run has a training log.

WITH line AS (
  SELECT run_id, run, source_id, line, iteration, elapsed_ms, loss, batch_size, at_ns,
         lag(iteration) OVER printed AS last_iteration, lag(at_ns) OVER printed AS last_ns
  FROM log_iterations
  WHERE run_id IS NOT NULL AND (:run IS NULL OR run = :run)
  WINDOW printed AS (PARTITION BY source_id, rank, writer ORDER BY line)
),
fine AS (  -- most are 200 times as far apart as times of lines are exact, which may be seconds
  SELECT source_id
  FROM (SELECT source_id, elapsed_ms, at_ns - last_ns AS gap_ns,
               iif(sum(at_ns % 1000000000 <> 0) OVER (PARTITION BY source_id) > 0, 200000000,
                   200000000000) AS least_ns
        FROM line)
  GROUP BY source_id
  HAVING count(elapsed_ms) = 0 AND 2 * sum(gap_ns >= least_ns) > count(gap_ns)
),
placed AS (
  SELECT run_id, run, iteration, loss, batch_size,
         CASE WHEN source_id NOT IN (SELECT source_id FROM fine) THEN elapsed_ms
              WHEN iteration > last_iteration AND at_ns > last_ns
                THEN (at_ns - last_ns) / 1e6 / (iteration - last_iteration) END AS elapsed_ms,
         row_number() OVER (PARTITION BY run_id, iteration ORDER BY source_id DESC, line DESC)
           AS place
  FROM line
  WHERE iteration IS NOT NULL
)
SELECT run, iteration, elapsed_ms, loss, batch_size
FROM placed WHERE place = 1 ORDER BY run_id, iteration;
