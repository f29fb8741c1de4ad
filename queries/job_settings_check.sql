-- title: What a job's settings say, and what its log contradicts
--
-- One row for each thing that a job's settings (batch file, variables, accounting; the view
-- job_settings) and its log (arguments; the view log_arguments) both speak of: sizes of the model,
-- of batches and of the parallel groups, the number of processes, layers of a partition, the batch
-- of the iterations' lines. Of a name that is set twice in one file the last value is in force.
-- Settings that contradict each other or the log come first. Settings of
-- which nothing else speaks have one side only, and are shown with `all`.
--
-- param:  run  text        = null  This run only; all of them when null.
-- param:  all  int(count)  = 0     1: settings of which one side alone speaks as well.
--
-- column: run         text  The run: one training job.
-- column: verdict     text  contradicts, agrees; NULL: one side alone speaks.
-- column: setting     text  What it is, as the training program calls it.
-- column: value       text  What the settings say.
-- column: said_by     text  Where: its kind and name.
-- column: log_value   text  What the log says.
-- column: log_said_by text  Where.
--
-- about:  logs, settings, GPU samples
-- empty:  No run has settings and a log that speak of one thing: ingest both, in one folder.

WITH known (name, setting) AS (
  VALUES ('GLOBAL_BATCH_SIZE', 'global_batch_size'), ('MICRO_BATCH_SIZE', 'micro_batch_size'),
         ('TENSOR_MP_SIZE', 'tensor_model_parallel_size'), ('TP', 'tensor_model_parallel_size'),
         ('TP_SIZE', 'tensor_model_parallel_size'),
         ('PIPELINE_MP_SIZE', 'pipeline_model_parallel_size'),
         ('PP', 'pipeline_model_parallel_size'), ('PP_SIZE', 'pipeline_model_parallel_size'),
         ('DP_SIZE', 'data_parallel_size'), ('CP_SIZE', 'context_parallel_size'),
         ('NUM_LAYERS', 'num_layers'), ('HIDDEN_SIZE', 'hidden_size'),
         ('SEQ_LENGTH', 'seq_length'), ('TRAIN_ITERS', 'train_iters'),
         ('WORLD_SIZE', 'world_size')
),
written AS (
  SELECT *, row_number() OVER (PARTITION BY source_id, kind, name, item ORDER BY line DESC) AS place
  FROM job_settings
  WHERE :run IS NULL OR run = :run
),
setting AS (  -- the last of a file is in force; a log has those of many processes
  SELECT run_id, run, kind, name, value FROM written
  WHERE value IS NOT NULL AND (place = 1 OR kind = 'log')
),
processes AS (  -- nodes times processes or GPUs of a node
  SELECT s.run_id, s.run, n.kind,
         CAST(n.value AS INTEGER) * CAST(p.value AS INTEGER) AS world,
         n.kind || ' ' || n.name || ' * ' || p.name AS said_by
  FROM (SELECT DISTINCT run_id, run FROM setting) s
  JOIN setting n ON n.run_id = s.run_id AND n.name IN ('nodes', 'NNODES')
  JOIN setting p ON p.run_id = s.run_id AND p.kind = n.kind
       AND p.name IN ('ntasks-per-node', 'NPROC_PER_NODE', 'GPUS_PER_NODE', 'gpus-per-node')
  WHERE n.value GLOB '[1-9]*' AND p.value GLOB '[1-9]*'
  UNION ALL  -- gpu:a10:4
  SELECT n.run_id, n.run, n.kind,
         CAST(n.value AS INTEGER)
         * CAST(substr(g.value, length(rtrim(g.value, '0123456789')) + 1) AS INTEGER),
         n.kind || ' nodes * gres ' || g.value || ' per-node'
  FROM setting n
  JOIN setting g ON g.run_id = n.run_id AND g.kind = n.kind AND g.name = 'gres'
  WHERE n.name = 'nodes' AND n.value GLOB '[1-9]*' AND g.value GLOB 'gpu:*[0-9]'
),
said AS (
  SELECT s.run_id, s.run, k.setting, s.value, s.kind || ' ' || s.name AS said_by
  FROM setting s JOIN known k ON k.name = s.name
  WHERE s.kind IN ('variable', 'log')
  UNION
  SELECT run_id, run, 'world_size', CAST(world AS TEXT), said_by FROM processes
  WHERE kind = 'variable' OR said_by LIKE '%per-node'
  UNION
  SELECT s.run_id, s.run, 'num_layers', CAST(sum(p.value) AS TEXT),
         s.kind || ' ' || s.name || ' ' || s.value
  FROM setting s
  JOIN json_each(CASE WHEN json_valid('[' || replace(s.value, '-', ',') || ']')
                      THEN '[' || replace(s.value, '-', ',') || ']' ELSE '[]' END) p
  WHERE s.name = 'PARTITION' AND s.value GLOB '[0-9]*-[0-9]*' AND s.value NOT GLOB '*[^-0-9]*'
  GROUP BY s.run_id, s.run, s.kind, s.name, s.value
  UNION
  SELECT s.run_id, s.run, s.name, s.value, s.kind || ' ' || s.name
  FROM setting s
  WHERE s.kind IN ('variable', 'log', 'sbatch', 'pbs')
    AND s.name NOT IN (SELECT name FROM known)
),
argument AS (
  SELECT run_id, name AS setting, value, 'argument ' || name AS said_by FROM log_arguments
  WHERE section = 'arguments'
    AND (name IN (SELECT setting FROM known))
  UNION
  SELECT a.run_id, 'seq_length', a.value, 'argument ' || a.name FROM log_arguments a
  WHERE a.name = 'encoder_seq_length'
  UNION
  SELECT i.run_id, 'global_batch_size', CAST(i.batch_size AS TEXT), 'lines of iterations'
  FROM log_iterations i WHERE i.batch_size IS NOT NULL
  GROUP BY i.run_id, i.batch_size
  UNION
  SELECT i.run_id, 'train_iters', CAST(i.iterations AS TEXT), 'lines of iterations'
  FROM log_iterations i WHERE i.iterations IS NOT NULL
  GROUP BY i.run_id, i.iterations
  UNION  -- the same variable in another file, or in the log
  SELECT s.run_id, ifnull(k.setting, s.name), s.value, s.kind || ' ' || s.name
  FROM setting s LEFT JOIN known k ON k.name = s.name
  WHERE s.kind = 'log'
),
pair AS (
  SELECT s.run_id, s.run, s.setting, s.value, s.said_by, a.value AS log_value,
         a.said_by AS log_said_by
  FROM said s
  LEFT JOIN argument a ON a.run_id = s.run_id AND a.setting = s.setting AND a.said_by <> s.said_by
),
judged AS (
  SELECT run, setting, value, said_by, log_value, log_said_by,
         CASE WHEN log_value IS NULL THEN NULL
              WHEN log_value = value OR (value GLOB '[0-9]*' AND log_value GLOB '[0-9]*'
                   AND CAST(value AS REAL) = CAST(log_value AS REAL)) THEN 'agrees'
              ELSE 'contradicts' END AS verdict
  FROM pair
)
SELECT run, verdict, setting, value, said_by, log_value, log_said_by
FROM judged
WHERE verdict IS NOT NULL OR :all = 1
ORDER BY run, verdict IS NULL, verdict DESC, setting, said_by, value, log_said_by, log_value;
