-- title: Achieved FLOP/s and bandwidth of kernels, against the roof
--
-- From what Nsight Compute has measured, where it was collected (sections roofline and full have
-- all). Operations: of the CUDA cores add, multiply and twice fused multiply-add, of packed half
-- precision twice that (sm__sass_thread_inst_executed_op_*, as sums or per elapsed cycle); of the
-- tensor cores sm__ops_path_tensor_*, integers left out. Bytes: of DRAM. The roof is the lower of
-- the peak and the intensity times the DRAM's peak; the peak is that of the tensor path with the
-- most operations, and of FP32 on the CUDA cores where there is none. Durations are of kernels that
-- are replayed alone.
--
-- param:  limit  int(rows) = null  Rows of a run at most, the longest kernels first; all when null.
-- param:  run    text      = null  This run only; all of them when null.
-- param:  rank   ints(id)  = null  These ranks only; all of them when null.
--
-- column: run           text          The run.
-- column: rank          int(id)       The rank, where the file's name tells it.
-- column: kernel        int(id)       The kernel's number in the order of the rank.
-- column: base_name     text          Its function.
-- column: dur_us        real(us)      gpu__time_duration.sum
-- column: gflop         real(gflop)   Operations, of 1e9.
-- column: tensor_gflop  real(gflop)   Of those, on the tensor cores. Empty: not collected.
-- column: mbyte         real(count)   Read from DRAM and written to it, of 1e6 bytes.
-- column: intensity     real(count)   Operations a byte.
-- column: tflops        real(tflops)  Achieved.
-- column: dram_gbps     real(gbps)    Achieved: GB/s.
-- column: peak_tflops   real(tflops)  Of the cores that it used, at the clock it ran at.
-- column: peak_gbps     real(gbps)    Of the DRAM.
-- column: bound         text          memory or compute: which side of the roof it is under.
-- column: roof_pct      real(pct)     Achieved of the roof; of kernels without operations, of
--                                     the DRAM's peak.
--
-- about:  Nsight Compute
-- lead:   kernel, base_name, dur_us, tflops, dram_gbps, bound, roof_pct
-- plot:   bar roof_pct by run, rank, kernel, base_name
-- empty:  No kernel has operations or bytes among its metrics: ncu --set roofline collects them.

WITH wanted AS MATERIALIZED (
  SELECT run, rank, kernel, name, metric, value_si,
         row_number() OVER (PARTITION BY run, rank, kernel, name, metric
                            ORDER BY source_id, section) AS nth
  FROM ncu_metrics
  WHERE (metric GLOB 'sm*__sass_thread_inst_executed_op_[dfh]*_pred_on.sum*'
         OR metric GLOB 'sm__ops_path_tensor_*.sum*' OR metric GLOB 'dram__*'
         OR metric GLOB 'sm*__cycles_elapsed.avg*')
    AND value_si IS NOT NULL
    AND (:run IS NULL OR run = :run)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
weighed AS (  -- operations of an instruction; of the tensor cores' a path and what it gives
  SELECT *,
    CASE WHEN metric GLOB 'sm*__sass_thread_inst_executed_op_*'
         THEN iif(instr(metric, 'fma_pred') > 0, 2, 1) * iif(instr(metric, '_op_h') > 0, 2, 1)
    END AS flop,
    iif(metric GLOB 'sm__ops_path_tensor_*' AND instr(metric, '_int') = 0,
        substr(metric, 1, instr(metric, '.sum') - 1), NULL) AS path,
    substr(metric, instr(metric, '.')) AS part
  FROM wanted WHERE nth = 1
),
pathed AS (
  SELECT run, rank, kernel, name, path, instr(path, '_tensor_op_') > 0 AS has_op,
         substr(path, instr(path, '_src_') + 5, 4) AS type,  -- bf16, fp16, tf32, fp8_, fp64
         max(iif(part = '.sum', value_si, NULL)) AS flop,
         max(iif(part = '.sum.peak_sustained_elapsed.per_second', value_si, NULL)) AS peak
  FROM weighed WHERE path IS NOT NULL
  GROUP BY run, rank, kernel, name, path
),
typed AS (
  SELECT *, max(has_op) OVER (PARTITION BY run, rank, kernel, name, type) AS type_has_ops
  FROM pathed
),
alone AS MATERIALIZED (  -- by instruction where ncu tells it: the type's other path is their sum
  SELECT *, max(flop) OVER (PARTITION BY run, rank, kernel, name) AS most
  FROM typed WHERE has_op = type_has_ops
),
tensor AS MATERIALIZED (
  SELECT run, rank, kernel, name, sum(flop) AS flop,
         max(iif(flop = most AND flop > 0, peak, NULL)) AS peak
  FROM alone GROUP BY run, rank, kernel, name
),
cored AS MATERIALIZED (
  SELECT run, rank, kernel, name,
    sum(iif(part = '.sum' AND metric GLOB 'sm__*', flop * value_si, NULL)) AS sm_flop,
    sum(iif(part = '.sum' AND metric GLOB 'smsp__*', flop * value_si, NULL)) AS smsp_flop,
    sum(iif(part = '.sum.per_cycle_elapsed' AND metric GLOB 'smsp__*', flop * value_si, NULL))
      AS smsp_flop_cycle,
    sum(iif(part = '.sum.per_cycle_elapsed' AND metric GLOB 'sm__*', flop * value_si, NULL))
      AS sm_flop_cycle,
    max(iif(metric = 'sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained',
            2 * value_si, NULL)) AS peak_flop_cycle,
    max(iif(metric GLOB 'sm*__cycles_elapsed.avg.per_second', value_si, NULL)) AS clock,
    max(iif(metric = 'dram__bytes.sum', value_si, NULL)) AS bytes,
    sum(iif(metric IN ('dram__bytes_read.sum', 'dram__bytes_write.sum'), value_si, NULL))
      AS moved_bytes,
    sum(iif(metric IN ('dram__sectors_read.sum', 'dram__sectors_write.sum'), 32 * value_si, NULL))
      AS sector_bytes,
    max(iif(metric = 'dram__bytes.sum.per_second', value_si, NULL)) AS bytes_second,
    max(iif(metric = 'dram__bytes.sum.peak_sustained', value_si, NULL)) AS peak_bytes_cycle,
    max(iif(metric = 'dram__cycles_elapsed.avg.per_second', value_si, NULL)) AS dram_clock
  FROM weighed GROUP BY run, rank, kernel, name
),
counted AS (
  SELECT
    k.run_id, k.run, k.rank, k.kernel, k.name, k.base_name, k.dur_ns,
    coalesce(c.sm_flop, c.smsp_flop,
             coalesce(c.smsp_flop_cycle, c.sm_flop_cycle) * c.clock * k.dur_ns / 1e9) AS core_flop,
    t.flop AS tensor_flop,
    coalesce(c.bytes, c.moved_bytes, c.sector_bytes, c.bytes_second * k.dur_ns / 1e9) AS bytes,
    ifnull(t.peak, c.peak_flop_cycle * c.clock) AS peak,
    c.peak_bytes_cycle * c.dram_clock AS peak_bytes
  FROM ncu_kernels k
  JOIN cored c ON c.kernel = k.kernel AND c.name = k.name AND c.rank IS k.rank AND c.run IS k.run
  LEFT JOIN tensor t
    ON t.kernel = k.kernel AND t.name = k.name AND t.rank IS k.rank AND t.run IS k.run
),
rated AS (
  SELECT *, ifnull(core_flop, 0) + ifnull(tensor_flop, 0) AS flop,
         row_number() OVER (PARTITION BY run_id, run
                            ORDER BY dur_ns DESC, rank, kernel, name) AS place
  FROM counted WHERE core_flop IS NOT NULL OR tensor_flop IS NOT NULL OR bytes IS NOT NULL
)
SELECT
  run,
  rank,
  kernel,
  base_name,
  dur_ns / 1e3 AS dur_us,
  iif(core_flop IS NULL AND tensor_flop IS NULL, NULL, flop / 1e9) AS gflop,
  tensor_flop / 1e9 AS tensor_gflop,
  bytes / 1e6 AS mbyte,
  flop / nullif(bytes, 0) AS intensity,
  iif(core_flop IS NULL AND tensor_flop IS NULL, NULL, 1.0 * flop / dur_ns / 1e3) AS tflops,
  1.0 * bytes / dur_ns AS dram_gbps,
  peak / 1e12 AS peak_tflops,
  peak_bytes / 1e9 AS peak_gbps,
  CASE WHEN flop = 0 AND bytes > 0 OR flop * peak_bytes < peak * bytes THEN 'memory'
       WHEN flop * peak_bytes >= peak * bytes THEN 'compute' END AS bound,
  CASE WHEN flop = 0 THEN 100.0 * bytes / dur_ns * 1e9 / peak_bytes
       WHEN flop * peak_bytes < peak * bytes
       THEN 100.0 * bytes / dur_ns * 1e9 / peak_bytes
       ELSE 100.0 * flop / dur_ns * 1e9 / peak END AS roof_pct
FROM rated
WHERE :limit IS NULL OR :limit < 0 OR place <= :limit
ORDER BY run, place;
