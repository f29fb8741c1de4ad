-- title: Memory traffic over GPU time, against the size of L2
--
-- Metrics in bytes and sectors (of 32 bytes) on one axis, all as Mbyte of 1e6 bytes, over the GPU
-- time of the kernels profiled one after the other. border_ms is where the backward pass begins:
-- the first kernel that a trace of the run has launched in one (ncu_trace_kernels), else the first
-- whose name says so. l2_mbyte is what the device says of its cache, where the file has
-- device__attribute_l2_cache_size: a kernel that moves less than that may find it there. Metrics in
-- other units are left out.
--
-- param:  metrics  text    = dram__bytes_read.sum,dram__bytes_write.sum  With commas between.
-- param:  run      text    = null  This run only; all of them when null.
-- param:  rank     ints(id) = null  These ranks only; all of them when null.
--
-- column: run            text         The run.
-- column: rank           int(id)      The rank, where the file's name tells it.
-- column: metric         text         The metric.
-- column: kernel         int(id)      The kernel's number in the order of the rank.
-- column: gpu_time_ms    real(ms)     GPU time up to the end of this kernel.
-- column: mbyte          real(count)  What this kernel moved.
-- column: total_mbyte    real(count)  What all kernels of the rank moved.
-- column: is_backward    int(0..1)    1: from the border on. Empty: no border is known.
-- column: border_ms      real(ms)     GPU time at which the backward pass begins.
-- column: border_source  text         trace, or kernel names.
-- column: l2_mbyte       real(count)  Size of the device's L2 cache.
-- column: name           text         The kernel.
--
-- about:  Nsight Compute
-- lead:   kernel, metric, gpu_time_ms, mbyte, total_mbyte, is_backward
-- plot:   line mbyte over gpu_time_ms by run, rank, metric
-- empty:  No kernel has one of these metrics in bytes or sectors.

WITH timed AS MATERIALIZED (
  SELECT run, rank, kernel, name, ifnull(dur_ns, 0) AS dur_ns,
         sum(dur_ns) OVER (PARTITION BY run_id, run, rank ORDER BY kernel, name
                           ROWS UNBOUNDED PRECEDING) AS gpu_time_ns
  FROM ncu_kernels
  WHERE (:run IS NULL OR run = :run)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
asked AS MATERIALIZED (
  SELECT trim(value) AS metric
  FROM json_each('["' || replace(replace(coalesce(
    :metrics, 'dram__bytes_read.sum,dram__bytes_write.sum'), '"', ''), ',', '","') || '"]')
),
found AS MATERIALIZED (  -- all rows are looked at once
  SELECT run, rank, kernel, name, metric, value_si, unit_si,
         row_number() OVER (PARTITION BY run, rank, kernel, name, metric
                            ORDER BY source_id, section) AS nth
  FROM ncu_metrics
  WHERE metric IN (SELECT metric FROM asked
                   UNION ALL SELECT 'device__attribute_l2_cache_size')
    AND value_si IS NOT NULL
    AND (:run IS NULL OR run = :run)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
measured AS (
  SELECT run, rank, kernel, name, metric, value_si * iif(unit_si = 'byte', 1, 32) / 1e6 AS mbyte
  FROM found
  WHERE nth = 1 AND unit_si IN ('byte', 'sector') AND metric IN (SELECT metric FROM asked)
),
cache AS MATERIALIZED (
  SELECT run, rank, max(value_si) / 1e6 AS l2_mbyte
  FROM found WHERE metric = 'device__attribute_l2_cache_size' GROUP BY run, rank
),
backward AS MATERIALIZED (  -- the first kernel of the backward pass by each source
  SELECT n.run, n.rank, 'trace' AS source, min(n.kernel) AS kernel
  FROM ncu_trace_kernels n JOIN kernels k ON k.slice_id = n.slice_id
  WHERE k.forward_path_id IS NOT NULL
  GROUP BY n.run, n.rank
  UNION ALL
  SELECT run, rank, 'kernel names', min(kernel)
  FROM timed
  WHERE name LIKE '%backward%' OR name LIKE '%bwd%' OR name LIKE '%grad_input%'
  GROUP BY run, rank
),
border AS MATERIALIZED (
  SELECT b.run, b.rank, b.source, b.kernel, t.gpu_time_ns - t.dur_ns AS at_ns
  FROM (SELECT *, row_number() OVER (PARTITION BY run, rank ORDER BY source DESC) AS nth
        FROM backward) b
  JOIN timed t ON t.run IS b.run AND t.rank IS b.rank AND t.kernel = b.kernel
  WHERE b.nth = 1
)
SELECT
  m.run,
  m.rank,
  m.metric,
  m.kernel,
  t.gpu_time_ns / 1e6 AS gpu_time_ms,
  m.mbyte,
  sum(m.mbyte) OVER (PARTITION BY m.run, m.rank, m.metric) AS total_mbyte,
  m.kernel >= b.kernel AS is_backward,
  b.at_ns / 1e6 AS border_ms,
  b.source AS border_source,
  c.l2_mbyte,
  m.name
FROM measured m
JOIN timed t ON t.kernel = m.kernel AND t.name = m.name AND t.rank IS m.rank AND t.run IS m.run
LEFT JOIN border b ON b.run IS m.run AND b.rank IS m.rank
LEFT JOIN cache c ON c.run IS m.run AND c.rank IS m.rank
ORDER BY m.run, m.rank, m.metric, m.kernel, m.name;
