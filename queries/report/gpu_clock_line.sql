-- title: GPU clocks, power and temperature over time
--
-- As nvidia-smi, dmon or gpustat sampled them. Samples without a time have no row; of a
-- file without its time zone times are as it says them.
--
-- param:  points   int(count)  = 300   Samples of a GPU and quantity at most: every n-th of more.
-- param:  run      text        = null  This run only; all of them when null.
--
-- column: run       text        The run: one training job that was recorded.
-- column: host      text        The machine.
-- column: gpu       text        The GPU.
-- column: quantity  text        sm_clock, memory_clock, power, temperature or utilization.
-- column: at_ms     real(ms)    When, since the first sample of the run.
-- column: value     real(count) The value
-- column: unit      text        and its unit.
--
-- empty:  No sample of a GPU is in the database: tracedb ingest takes files of nvidia-smi and dmon.

WITH sample AS MATERIALIZED (
  SELECT run_id, run, host, gpu, quantity, value, unit, ifnull(at_ns, local_ns) AS at_ns,
         ifnull(at_ns, local_ns)
           - min(ifnull(at_ns, local_ns)) OVER (PARTITION BY run_id) AS since_ns,
         row_number() OVER w - 1 AS place,
         count(*) OVER (PARTITION BY run_id, host, gpu, quantity) AS samples
  FROM gpu_samples
  WHERE (:run IS NULL OR run = :run) AND ifnull(at_ns, local_ns) IS NOT NULL
    AND typeof(value) IN ('integer', 'real')
    AND quantity IN ('sm_clock', 'memory_clock', 'power', 'temperature', 'utilization')
  WINDOW w AS (PARTITION BY run_id, host, gpu, quantity
               ORDER BY ifnull(at_ns, local_ns), moment, source_id)
)
SELECT run, host, CAST(gpu AS TEXT) AS gpu, quantity, since_ns / 1e6 AS at_ms, value, unit
FROM sample
WHERE place % ((samples - 1) / max(coalesce(:points, 300), 1) + 1) = 0
ORDER BY run_id, quantity, host, gpu, at_ns, place;
