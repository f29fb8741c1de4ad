-- title: A metric of Nsight Compute, kernel by kernel
--
-- One row for each kernel that has a value of the metric, with the GPU time up to its end:
-- durations of profiled kernels one after the other, each replayed alone, so that nothing overlaps.
-- gpu_time is their sum as written, added up in the order of the kernels; where files of a rank
-- have durations in several units, it is in ns. Of a kernel with the same metric in several files
-- the value of the first counts. `ncu_metric_list` tells which metrics there are.
--
-- param:  metric  text  = gpu__time_duration.sum  As in the file: dram__bytes_read.sum, say
-- param:  run     text    = null  This run only; all of them when null.
-- param:  rank    ints(id) = null  These ranks only; all of them when null.
--
-- column: run            text         The run; empty where a file's folder holds several.
-- column: rank           int(id)      The rank, where the file's name tells it.
-- column: kernel         int(id)      Its number in the order of the rank, over all batches.
-- column: name           text         The kernel.
-- column: value          real(count)  The value, in the unit as written.
-- column: unit           text         That unit.
-- column: gpu_time       real(count)  GPU time up to the end of this kernel.
-- column: gpu_time_unit  text         Unit of gpu_time.
-- column: gpu_time_ms    real(ms)     The same, from whole ns.
-- column: value_si       real(count)  The value in base units: s, byte, hz, byte/s.
-- column: unit_si        text         That unit.
--
-- about:  Nsight Compute
-- lead:   kernel, name, value, unit, gpu_time_ms
-- plot:   line value_si over gpu_time_ms by run, rank
-- empty:  No kernel has a number for this metric; `tracedb query ncu_metric_list` tells what there
--         is.

WITH timed AS (
  SELECT
    run_id, run, rank, kernel, name, duration_unit,
    sum(duration) OVER by_kernel AS gpu_time,
    sum(dur_ns) OVER by_kernel AS gpu_time_ns,
    min(duration_unit) OVER (PARTITION BY run_id, run, rank) AS least_unit,
    max(duration_unit) OVER (PARTITION BY run_id, run, rank) AS greatest_unit
  FROM ncu_kernels
  WHERE (:run IS NULL OR run = :run)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
  WINDOW by_kernel AS (PARTITION BY run_id, run, rank ORDER BY kernel, name
                       ROWS UNBOUNDED PRECEDING)
),
measured AS MATERIALIZED (
  SELECT run, rank, kernel, name, value, unit, value_si, unit_si,
         row_number() OVER (PARTITION BY run, rank, kernel, name ORDER BY source_id, section) AS nth
  FROM ncu_metrics
  WHERE metric = :metric AND value IS NOT NULL
    AND (:run IS NULL OR run = :run)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
)
SELECT
  t.run,
  t.rank,
  t.kernel,
  t.name,
  CAST(m.value AS REAL) AS value,
  m.unit,
  iif(t.least_unit = t.greatest_unit, t.gpu_time, CAST(t.gpu_time_ns AS REAL)) AS gpu_time,
  iif(t.least_unit = t.greatest_unit, t.least_unit, iif(t.gpu_time_ns IS NULL, NULL, 'ns'))
    AS gpu_time_unit,
  t.gpu_time_ns / 1e6 AS gpu_time_ms,
  m.value_si,
  m.unit_si
FROM timed t
JOIN measured m ON m.kernel = t.kernel AND m.name = t.name AND m.rank IS t.rank AND m.run IS t.run
WHERE m.nth = 1
ORDER BY t.run, t.rank, t.kernel, t.name;
