-- title: How a training went, as its log says it
--
-- One row for each iteration's line of a training log. elapsed_ms is the log's own number: with
-- Megatron-LM a mean over its log interval, whose second line counts the first one's time again;
-- between_ms is what the times of the lines say. Tokens are those that the log counts, else the
-- samples of an iteration times the argument seq_length.
--
-- param:  run    text        = null  This run only; all of them when null.
-- param:  every  int(count)  = 1     Iterations that this number divides.
-- param:  rank   ints(id)    = null  Lines of these ranks only.
--
-- column: run            text          The run: one training job.
-- column: source_id      int(id)       The log, in the view sources.
-- column: iteration      int(count)    Its number.
-- column: iterations     int(count)    How many there are to be.
-- column: start_ms       real(ms)      When the line was printed, since the first one with a time.
-- column: elapsed_ms     real(ms)      Time of an iteration, by the log.
-- column: between_ms     real(ms)      Since the line before, for each of the iterations between.
-- column: loss           real(count)   As the log has it.
-- column: grad_norm      real(count)   Norm of the gradients.
-- column: tflops         real(tflops)  Of a GPU, as the log has it.
-- column: tokens_per_s   real(hz)      Of the whole job.
-- column: learning_rate  real(count)   As the log has it.
-- column: rank           int(id)       Who printed it, where the line says so.
--
-- about:  logs, settings, GPU samples
-- lead:   iteration, elapsed_ms, loss, tflops, tokens_per_s, grad_norm
-- plot:   line loss over iteration by run, source_id
-- empty:  No line of an iteration is in the database: ingest the job's log.

WITH length AS (
  SELECT source_id, max(CAST(value AS INTEGER)) AS tokens
  FROM log_arguments
  WHERE name IN ('seq_length', 'encoder_seq_length') AND value GLOB '[1-9]*'
  GROUP BY source_id
),
line AS (
  SELECT i.run, i.source_id, i.iteration, i.iterations, i.at_ns, i.elapsed_ms, i.loss,
         i.grad_norm, i.tflops, i.learning_rate, i.rank, i.line, i.tokens,
         i.batch_size * l.tokens AS iteration_tokens,
         min(i.at_ns) OVER (PARTITION BY i.source_id) AS first_ns,
         lag(i.iteration) OVER printed AS last_iteration,
         lag(i.at_ns) OVER printed AS last_ns,
         lag(i.tokens) OVER printed AS last_tokens
  FROM log_iterations i LEFT JOIN length l ON l.source_id = i.source_id
  WHERE (:run IS NULL OR i.run = :run)
    AND (:rank IS NULL OR i.rank IN (SELECT value FROM json_each(:rank)))
  WINDOW printed AS (PARTITION BY i.source_id, i.rank, i.writer ORDER BY i.line)
)
SELECT
  run,
  source_id,
  iteration,
  iterations,
  (at_ns - first_ns) / 1e6 AS start_ms,
  elapsed_ms,
  CASE WHEN iteration > last_iteration
       THEN (at_ns - last_ns) / 1e6 / (iteration - last_iteration) END AS between_ms,
  loss,
  grad_norm,
  tflops,
  coalesce(CASE WHEN iteration > last_iteration AND tokens >= last_tokens
                THEN (tokens - last_tokens) * 1e3 / (iteration - last_iteration) END,
           iteration_tokens * 1e3) / nullif(elapsed_ms, 0) AS tokens_per_s,
  learning_rate,
  rank
FROM line
WHERE iteration % max(ifnull(:every, 1), 1) = 0
ORDER BY run, source_id, line;
