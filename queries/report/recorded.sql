-- title: What was recorded of a run
--
-- One row for each run: what a reader has to know before any figure.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run         text        The run: one training job that was recorded.
-- column: ranks       int(count)  Ranks whose traces are in the database.
-- column: world_size  int(count)  Ranks of the job, where a trace says it.
-- column: captures    int(count)  Cycles of the profiler.
-- column: gpus        text        Names of the GPUs, each once.
-- column: hosts       int(count)  Machines, where the traces tell.
-- column: start       text        The first event, in UTC; NULL where the clock is none of the day.
-- column: length_ms   real(ms)    From the first event to the last.
-- column: steps       int(count)  Steps that the profiler marked.
-- column: first_step  int(count)  The lowest of them
-- column: last_step   int(count)  and the highest.
-- column: groups      text        Sizes of the groups that communicate, by parallelism.
-- column: software    text        Versions, where a trace has them.
--
-- empty:  No trace is in the database: tracedb ingest adds some.

WITH recorded AS MATERIALIZED (
  SELECT trace_id, run_id, run, capture, rank, world_size, host, gpu_name, start_ns, end_ns, header
  FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
),
first_trace AS (  -- bare columns are of the row with the minimum
  SELECT run_id, min(trace_id) AS trace_id, header FROM recorded GROUP BY run_id
),
stepped AS (
  SELECT r.run_id, count(DISTINCT s.step) AS steps, min(s.step) AS first_step,
         max(s.step) AS last_step
  FROM steps s JOIN recorded r ON r.trace_id = s.trace_id GROUP BY r.run_id
),
sized AS (
  SELECT run_id, parallelism, group_concat(size, ' or ') AS sizes
  FROM (SELECT DISTINCT run_id, parallelism, size FROM process_groups
        WHERE parallelism <> 'other' AND size > 1 ORDER BY size)
  GROUP BY run_id, parallelism
),
laid_out AS (
  SELECT run_id, group_concat(parallelism || ' ' || sizes, ', ') AS groups
  FROM (SELECT * FROM sized
        ORDER BY instr('tensor context expert pipeline data', parallelism))
  GROUP BY run_id
),
version AS (
  SELECT run_id, 1 AS place, 'PyTorch' AS name,
         coalesce(json_extract(header, '$.pytorch_version'),
                  json_extract(header, '$.torch_version')) AS version
  FROM first_trace WHERE json_valid(header)
  UNION ALL
  SELECT run_id, 2, 'CUDA', (json_extract(header, '$.cuda_runtime_version') / 1000) || '.'
                              || (json_extract(header, '$.cuda_runtime_version') % 1000 / 10)
  FROM first_trace WHERE json_valid(header)
  UNION ALL
  SELECT run_id, 3, 'NCCL', json_extract(header, '$.distributedInfo.nccl_version')
  FROM first_trace WHERE json_valid(header)
),
versions AS (
  SELECT run_id, group_concat(name || ' ' || version, ', ') AS software
  FROM (SELECT * FROM version WHERE version IS NOT NULL ORDER BY place)
  GROUP BY run_id
)
SELECT
  r.run,
  count(DISTINCT r.rank) AS ranks,
  max(r.world_size) AS world_size,
  count(DISTINCT r.capture) AS captures,
  group_concat(DISTINCT r.gpu_name) AS gpus,
  nullif(count(DISTINCT r.host), 0) AS hosts,
  CASE WHEN min(r.start_ns) > 946684800000000000
       THEN strftime('%Y-%m-%d %H:%M:%S', min(r.start_ns) / 1000000000, 'unixepoch') END AS start,
  (max(r.end_ns) - min(r.start_ns)) / 1e6 AS length_ms,
  s.steps,
  s.first_step,
  s.last_step,
  l.groups,
  v.software
FROM recorded r LEFT JOIN stepped s ON s.run_id = r.run_id
LEFT JOIN laid_out l ON l.run_id = r.run_id
LEFT JOIN versions v ON v.run_id = r.run_id
GROUP BY r.run_id
ORDER BY r.run_id;
