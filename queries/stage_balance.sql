-- title: Time of each pipeline stage against the layers it holds
--
-- One row for each stage of a job with pipeline parallelism. Its time is the median over steps of
-- what the slowest of its ranks computed: `trace`, the GPU's computing time in profiled steps; else
-- `log`, the timers forward-compute and backward-compute by rank. Ranks of a stage are neighbours:
-- rank / (ranks of the job / stages), as Megatron-LM numbers them. Its layers are those of the
-- setting PARTITION, of decoder_first and decoder_last_pipeline_num_layers, else the same for all.
-- A stage whose over_mean_pct is high should get fewer layers; the first also has the embedding,
-- the last the loss, so their layer_ms is higher than that of the others.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run            text        The run: one training job that was recorded.
-- column: stage          int(id)     From 0.
-- column: ranks          text        Its ranks, the first and the last.
-- column: layers         int(count)  That it holds; NULL: it cannot be told.
-- column: layers_by      text        partition, arguments, or even: all stages the same.
-- column: times_by       text        trace or log.
-- column: stage_ms       real(ms)    Its computing in a step.
-- column: layer_ms       real(ms)    stage_ms over layers.
-- column: over_mean_pct  real(pct)   stage_ms beyond the mean of the stages.
-- column: steps          int(count)  From how many.
--
-- about:  logs, settings, GPU samples
-- plot:   bar stage_ms by run, stage
-- empty:  No run has a log that names several pipeline stages, with times of ranks or a trace.

WITH argument AS (
  SELECT run_id, name, min(CAST(value AS INTEGER)) AS value FROM log_arguments
  WHERE value GLOB '[0-9]*' AND (:run IS NULL OR run = :run)
    AND name IN ('pipeline_model_parallel_size', 'world_size', 'num_layers', 'encoder_num_layers',
                 'decoder_first_pipeline_num_layers', 'decoder_last_pipeline_num_layers')
  GROUP BY run_id, name
  UNION ALL
  SELECT j.run_id, 'PIPELINE_MP_SIZE', max(CAST(j.value AS INTEGER)) FROM job_settings j
  WHERE j.name = 'PIPELINE_MP_SIZE' AND j.value GLOB '[0-9]*' AND (:run IS NULL OR j.run = :run)
  GROUP BY j.run_id
),
job AS (
  SELECT r.run_id, r.run,
         coalesce(max(a.value) FILTER (WHERE a.name = 'pipeline_model_parallel_size'),
                  max(a.value) FILTER (WHERE a.name = 'PIPELINE_MP_SIZE')) AS stages,
         coalesce(max(a.value) FILTER (WHERE a.name = 'world_size'), r.world_size) AS world,
         coalesce(max(a.value) FILTER (WHERE a.name = 'num_layers'),
                  max(a.value) FILTER (WHERE a.name = 'encoder_num_layers')) AS layers,
         max(a.value) FILTER (WHERE a.name = 'decoder_first_pipeline_num_layers') AS first_layers,
         max(a.value) FILTER (WHERE a.name = 'decoder_last_pipeline_num_layers') AS last_layers
  FROM runs r JOIN argument a ON a.run_id = r.run_id
  GROUP BY r.run_id, r.run
),
cut AS (
  SELECT j.run_id, p.key AS stage, CAST(p.value AS INTEGER) AS layers,
         json_array_length(l.list) AS n
  FROM (SELECT run_id, '[' || replace(max(value), '-', ',') || ']' AS list FROM job_settings
        WHERE name = 'PARTITION' AND value GLOB '[0-9]*-[0-9]*' AND value NOT GLOB '*[^-0-9]*'
        GROUP BY run_id) l
  JOIN job j ON j.run_id = l.run_id
  JOIN json_each(CASE WHEN json_valid(l.list) THEN l.list ELSE '[]' END) p
),
of_rank AS (  -- by step
  SELECT t.run_id, t.rank, u.step, sum(u.compute_ns) / 1e6 AS ms, 'trace' AS times_by
  FROM step_uses u JOIN traces t ON t.trace_id = u.trace_id
  WHERE u.step IS NOT NULL AND t.rank IS NOT NULL
  GROUP BY t.run_id, t.rank, t.trace_id, u.step
  UNION ALL
  SELECT run_id, rank, iteration, sum(ms), 'log' FROM log_timers
  WHERE rank IS NOT NULL AND ms IS NOT NULL AND name IN ('forward-compute', 'backward-compute')
    AND run_id NOT IN (SELECT run_id FROM traces)
  GROUP BY run_id, source_id, iteration, rank
),
of_stage AS (
  SELECT o.run_id, o.times_by, o.rank * j.stages / j.world AS stage, o.step, max(o.ms) AS ms
  FROM of_rank o JOIN job j ON j.run_id = o.run_id
  WHERE j.stages > 1 AND j.world >= j.stages AND j.world % j.stages = 0 AND o.rank < j.world
  GROUP BY o.run_id, o.times_by, stage, o.step
),
placed AS (
  SELECT run_id, times_by, stage, ms,
         row_number() OVER (PARTITION BY run_id, times_by, stage ORDER BY ms) AS place,
         count(*) OVER (PARTITION BY run_id, times_by, stage) AS steps
  FROM of_stage
),
median AS (
  SELECT run_id, times_by, stage, avg(ms) AS ms, max(steps) AS steps FROM placed
  WHERE place BETWEEN (steps + 1) / 2 AND (steps + 2) / 2 GROUP BY run_id, times_by, stage
),
held AS (
  SELECT j.run, j.stages, j.world, m.run_id, m.times_by, m.stage, m.ms, m.steps,
         c.layers AS cut_layers,
         CASE WHEN j.first_layers IS NULL AND j.last_layers IS NULL THEN NULL
              WHEN m.stage = 0 AND j.first_layers IS NOT NULL THEN j.first_layers
              WHEN m.stage = j.stages - 1 AND j.last_layers IS NOT NULL THEN j.last_layers
              ELSE (j.layers - ifnull(j.first_layers, 0) - ifnull(j.last_layers, 0))
                   / nullif(j.stages - (j.first_layers IS NOT NULL)
                            - (j.last_layers IS NOT NULL), 0) END AS argument_layers,
         CASE WHEN j.layers % j.stages = 0 THEN j.layers / j.stages END AS even_layers
  FROM median m JOIN job j ON j.run_id = m.run_id
  LEFT JOIN cut c ON c.run_id = m.run_id AND c.n = j.stages AND c.stage = m.stage
)
SELECT
  run,
  stage,
  (stage * (world / stages)) || ' to ' || ((stage + 1) * (world / stages) - 1) AS ranks,
  coalesce(cut_layers, argument_layers, even_layers) AS layers,
  CASE WHEN cut_layers IS NOT NULL THEN 'partition'
       WHEN argument_layers IS NOT NULL THEN 'arguments'
       WHEN even_layers IS NOT NULL THEN 'even' END AS layers_by,
  times_by,
  ms AS stage_ms,
  ms / nullif(coalesce(cut_layers, argument_layers, even_layers), 0) AS layer_ms,
  100.0 * (ms / nullif(avg(ms) OVER (PARTITION BY run_id, times_by), 0) - 1) AS over_mean_pct,
  steps
FROM held
ORDER BY run, times_by, stage;
