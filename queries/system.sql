-- title: What a run was recorded on: GPUs, driver, versions
--
-- One row for each run, of what its files tell: the headers of PyTorch's traces (GPUs, CUDA), of
-- exports of Nsight Systems (processor, driver), its training log (PyTorch) and samples of
-- nvidia-smi (GPUs, driver). Several values stand in one text, in order.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run             text        The run: one training job that was recorded.
-- column: path            text        Its folder.
-- column: hosts           text        The machines; NULL: nothing names them.
-- column: world_size      int(count)  Ranks of the whole job, as a header has it.
-- column: ranks           int(count)  Ranks that were recorded.
-- column: gpus            int(count)  GPUs on which something of these ran.
-- column: gpu_names       text        What they are.
-- column: cpu_model       text        The processor.
-- column: driver_version  text        Of NVIDIA's driver.
-- column: framework       text        Versions of PyTorch, Megatron-Core, Transformer Engine.
-- column: cuda_version    text        Of the CUDA runtime, HIP's on AMD; of the driver where only
--                                     that is known.
--
-- about:  the database
-- lead:   run, gpus, gpu_names, driver_version, framework, cuda_version
-- empty:  The database holds no trace.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run_id, rank, host, world_size, gpu_name,
         CASE WHEN json_valid(header) THEN header END AS header
  FROM traces WHERE :run IS NULL OR run = :run
),
version AS (
  SELECT run_id,
         CAST(coalesce(header ->> 'cuda_runtime_version', header ->> 'cuda_driver_version')
              AS INTEGER) AS cuda,  -- 12040: 12.4
         CAST(coalesce(header ->> 'hip_runtime_version', header ->> 'hip_driver_version')
              AS INTEGER) AS hip,   -- 70051831: 7.0.51831
         CAST(header ->> '$.nsys.system.CudaDriverVersion' AS INTEGER) AS nsys_cuda
  FROM trace
),
sampled AS MATERIALIZED (
  SELECT DISTINCT run_id, name, value FROM gpu_samples
  WHERE run_id IS NOT NULL AND name IN ('name', 'gpu_name', 'driver_version')
    AND (:run IS NULL OR run = :run)
),
told(run_id, kind, value) AS (
  SELECT run_id, 'host', host FROM trace
  UNION SELECT run_id, 'gpu', gpu_name FROM trace
  UNION SELECT run_id, CASE name WHEN 'driver_version' THEN 'driver' ELSE 'gpu' END, value
        FROM sampled
  UNION SELECT run_id, 'cpu', header ->> '$.nsys.system.CpuDescription' FROM trace
  UNION SELECT run_id, 'driver', header ->> '$.nsys.system.NvDriverVersion' FROM trace
  UNION SELECT run_id, 'framework', replace(name, ' version', '') || ' ' || value
        FROM log_arguments
        WHERE section = 'environment' AND value <> '0.0.0'  -- Transformer Engine: it is not there
          AND name IN ('PyTorch version', 'Megatron-Core version', 'Transformer Engine version')
  UNION SELECT run_id, 'cuda', printf('%d.%d', coalesce(cuda, nsys_cuda) / 1000,
                                      coalesce(cuda, nsys_cuda) % 1000 / 10)
        FROM version WHERE coalesce(cuda, nsys_cuda) > 0
  UNION SELECT run_id, 'cuda', printf('HIP %d.%d', hip / 10000000, hip / 100000 % 100) FROM version
        WHERE hip > 0
),
listed AS (
  SELECT run_id, kind, group_concat(value, ', ') AS texts
  FROM (SELECT run_id, kind, value FROM told
        WHERE value <> '' AND value NOT IN ('unknown', '[N/A]')
        ORDER BY run_id, kind, value)
  GROUP BY run_id, kind
),
used AS (
  SELECT run_id, count(*) AS gpus
  FROM (SELECT DISTINCT t.run_id, t.rank, u.device
        FROM device_uses u JOIN trace t ON t.trace_id = u.trace_id)
  GROUP BY run_id
)
SELECT
  r.run,
  r.path,
  max(l.texts) FILTER (WHERE l.kind = 'host') AS hosts,
  r.world_size,
  r.ranks,
  u.gpus,
  max(l.texts) FILTER (WHERE l.kind = 'gpu') AS gpu_names,
  max(l.texts) FILTER (WHERE l.kind = 'cpu') AS cpu_model,
  max(l.texts) FILTER (WHERE l.kind = 'driver') AS driver_version,
  max(l.texts) FILTER (WHERE l.kind = 'framework') AS framework,
  max(l.texts) FILTER (WHERE l.kind = 'cuda') AS cuda_version
FROM runs r
LEFT JOIN used u ON u.run_id = r.run_id
LEFT JOIN listed l ON l.run_id = r.run_id
WHERE :run IS NULL OR r.run = :run
GROUP BY r.run_id
ORDER BY r.run;
