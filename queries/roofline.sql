-- title: How near each operator comes to what the GPU can do
--
-- One row for each operator that launches work itself, and each shape and type of its inputs: what
-- it computes and moves at least, by its args (`op_cost`), over the time of what it launched. FLOPs
-- are multiplications and additions of matrix products; other operators have bytes alone: each
-- input once, each output once. The device's peaks are those of `device_peaks` for its name, to
-- which rows can be added. Operators whose args do not decide what they do (lengths within a
-- batch, experts that tokens chose), without shapes, and with sizes that cannot be, have no row:
-- covered_pct says how much of the GPU's time has. Wants a trace recorded with record_shapes=True.
--
-- param:  limit        int(rows)   = 40    Rows returned at most for a run, the most GPU time
--                                          first.
-- param:  category     text        = null  This category only (GEMM, attention ...); all when null.
-- param:  peak_tflops  real(tflops) = null  What the GPU can do, in place of its row for the type.
-- param:  peak_gbps    real(gbps)  = null  Its memory's bandwidth in GB/s, in place of its row's.
-- param:  bound_pct    real(pct)   = 50    From this share of a peak on it is what bounds.
-- param:  run          text        = null  This run only; all of them when null.
-- param:  capture      int(count)  = null  This capture of a run only, by its number; all when
--                                          null.
-- param:  rank         ints(id)    = null  These ranks only; all of them together when null.
-- param:  step         ints(count) = null  Calls that start in these steps; all when null.
--
-- column: run             text        The run: one training job that was recorded.
-- column: gpu             text        The GPU's name, as the trace has it.
-- column: category        text        GEMM, convolution, attention, norm (softmax too),
--                                     elementwise, reduction, embedding, optimizer or copy.
-- column: op              text        The operator.
-- column: shapes          text        Its inputs' sizes, those that count.
-- column: dtype           text        What is multiplied: fp64, fp32, tf32, bf16, fp16, fp8, fp4 or
--                                     int8; NULL: nothing, or the args do not tell.
-- column: calls           int(count)  Calls that launched something; of a CUDA or HIP graph those
--                                     that were captured, times its replays.
-- column: gpu_ms          real(ms)    What they launched themselves ran as long, summed.
-- column: share_pct       real(pct)   gpu_ms of all GPU time of the run, this rank and step.
-- column: gflop_per_call  real(gflop)  What one call computes, in 1e9 operations.
-- column: mbyte_per_call  real(count)  What one call moves at least, in 1e6 bytes.
-- column: intensity       real(count)  Operations a byte.
-- column: tflops          real(tflops)  Achieved: 1e12 operations in a second of gpu_ms.
-- column: peak_tflops     real(tflops)  What the GPU can do in this dtype.
-- column: peak_pct        real(pct)   tflops of peak_tflops.
-- column: gbps            real(gbps)  Achieved at least, in 1e9 bytes a second.
-- column: peak_gbps       real(gbps)  Its memory's bandwidth.
-- column: gbps_pct        real(pct)   gbps of peak_gbps; above 100 where caches held the data.
-- column: roof_pct        real(pct)   The higher of both shares.
-- column: bound           text        compute, memory or neither: which share is the higher one,
--                                     where it is bound_pct or more. NULL: a peak is not known,
--                                     or what was achieved is more than it by a tenth.
-- column: kernel          text        The kernel that took most of gpu_ms.
-- column: kernel_pct      real(pct)   Its share of gpu_ms.
-- column: covered_pct     real(pct)   GPU time of all operators with a row (of any limit and
--                                     category), of all GPU time of the run.
--
-- about:  kernels and operators
-- empty:  No operator with its shapes is in the database: record with record_shapes=True.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown
-- lead:   op, shapes, gpu_ms, share_pct, bound, roof_pct, tflops, gbps
-- plot:   roofline tflops, peak_tflops, peak_gbps over intensity by run, op, shapes

WITH trace AS MATERIALIZED (
  SELECT trace_id, run, gpu_name,
         (SELECT p.pattern FROM device_peaks p WHERE upper(t.gpu_name) GLOB p.pattern
          ORDER BY length(p.pattern) DESC, p.pattern LIMIT 1) AS device
  FROM traces t
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
ran AS MATERIALIZED (
  SELECT k.trace_id, k.op_id, k.args_id, k.kernel_id, sum(k.activities) AS activities,
         sum(k.gpu_ns) AS gpu_ns
  FROM op_kernels k
  WHERE k.trace_id IN (SELECT trace_id FROM trace)
    AND (:step IS NULL OR k.step IN (SELECT value FROM json_each(:step)))
  GROUP BY k.trace_id, k.op_id, k.args_id, k.kernel_id
),
launched AS MATERIALIZED (  -- of each operator and its args, and the kernel that took longest
  SELECT trace_id, op_id, args_id, sum(activities) AS activities, sum(gpu_ns) AS gpu_ns,
         max(gpu_ns) AS kernel_ns, kernel_id, activities AS kernel_activities
  FROM ran WHERE op_id IS NOT NULL GROUP BY trace_id, op_id, args_id
),
-- Attention of engines: how long sequences are is in an annotation's name. Taken where a trace has
-- one of them, all kernels of that name were launched in it, and each call launched one: where some
-- launch another, layers are not alike (some look at a window alone).
lacking AS MATERIALIZED (
  SELECT l.trace_id, l.op_id, l.args_id, l.kernel_id
  FROM launched l JOIN names n ON n.name_id = l.op_id JOIN args_texts a ON a.args_id = l.args_id
  WHERE op_category(n.name) = 'attention' AND op_cost(n.name, a.args) IS NULL
),
noted AS MATERIALIZED (
  SELECT k.trace_id, min(s.name_id) AS name_id, min(s.ts + k.base_ns) AS from_ns,
         max(s.ts + k.base_ns + s.dur_ns) AS to_ns
  FROM (SELECT 1 FROM lacking LIMIT 1) CROSS JOIN operator_slices s  -- read only where one lacks
  JOIN tracks k ON k.track_id = s.track_id
  WHERE s.name_id IN (SELECT name_id FROM names WHERE name GLOB 'execute_*context_*generation_*')
  GROUP BY k.trace_id HAVING count(*) = 1
),
spread AS MATERIALIZED (
  SELECT k.trace_id, a.name_id, min(a.launch_ts_ns) AS first_ns, max(a.launch_ts_ns) AS last_ns,
         count(*) - count(a.launch_ts_ns) AS unknown
  FROM (SELECT 1 FROM noted LIMIT 1) CROSS JOIN activities a
  JOIN tracks k ON k.track_id = a.track_id
  WHERE a.name_id IN (SELECT kernel_id FROM lacking)
  GROUP BY k.trace_id, a.name_id
),
annotated AS MATERIALIZED (
  SELECT l.trace_id, l.op_id, l.args_id, n.name
  FROM lacking l JOIN noted o ON o.trace_id = l.trace_id JOIN names n ON n.name_id = o.name_id
       JOIN spread s ON s.trace_id = l.trace_id AND s.name_id = l.kernel_id
  WHERE s.unknown = 0 AND s.first_ns >= o.from_ns AND s.last_ns <= o.to_ns
),
called AS MATERIALIZED (
  SELECT trace_id, name_id, args_id, sum(calls + graph_calls) AS calls
  FROM host_uses
  WHERE kind = 'operator' AND trace_id IN (SELECT trace_id FROM trace)
    AND (:step IS NULL OR step IN (SELECT value FROM json_each(:step)))
  GROUP BY trace_id, name_id, args_id
),
costed AS MATERIALIZED (
  SELECT t.run, t.gpu_name, t.device, n.name AS op, k.name AS kernel, l.gpu_ns, l.kernel_ns,
         min(c.calls, l.activities) AS calls,
         op_cost(n.name, a.args, k.name, x.name) AS cost
  FROM launched l JOIN trace t ON t.trace_id = l.trace_id
       JOIN called c ON c.trace_id = l.trace_id AND c.name_id = l.op_id AND c.args_id = l.args_id
       JOIN names n ON n.name_id = l.op_id JOIN names k ON k.name_id = l.kernel_id
       JOIN args_texts a ON a.args_id = l.args_id
       LEFT JOIN annotated x ON x.trace_id = l.trace_id AND x.op_id = l.op_id
                            AND x.args_id = l.args_id
  WHERE l.gpu_ns > 0 AND c.calls > 0 AND (x.name IS NULL OR c.calls = l.kernel_activities)
),
read AS (
  SELECT run, gpu_name, device, op, kernel, gpu_ns, kernel_ns, calls, cost ->> 'shapes' AS shapes,
         cost ->> 'dtype' AS dtype, cost ->> 'flops' AS flops, cost ->> 'bytes' AS bytes
  FROM costed WHERE cost IS NOT NULL
),
summed AS (  -- kernel: of the rank where one took longest
  SELECT run, gpu_name, device, op, shapes, dtype, flops, bytes, sum(calls) AS calls,
         sum(gpu_ns) AS gpu_ns, max(kernel_ns), kernel,
         100.0 * sum(kernel_ns) / sum(gpu_ns) AS kernel_pct
  FROM read GROUP BY run, gpu_name, device, op, shapes, dtype, flops, bytes
),
whole AS MATERIALIZED (
  SELECT t.run, sum(r.gpu_ns) AS gpu_ns FROM ran r JOIN trace t ON t.trace_id = r.trace_id
  GROUP BY t.run
),
rated AS (
  SELECT s.*, op_category(op) AS category,
         1.0 * flops / bytes AS intensity,
         1.0 * flops * calls / s.gpu_ns / 1e3 AS tflops,
         1.0 * bytes * calls / s.gpu_ns AS gbps,
         iif(flops IS NULL, NULL, coalesce(:peak_tflops, CASE dtype
           WHEN 'fp64' THEN p.fp64 WHEN 'fp32' THEN p.fp32 WHEN 'tf32' THEN p.tf32
           WHEN 'bf16' THEN p.bf16 WHEN 'fp16' THEN p.fp16 WHEN 'fp8' THEN p.fp8
           WHEN 'fp4' THEN p.fp4 WHEN 'int8' THEN p.int8 END)) AS peak_tflops,
         coalesce(:peak_gbps, p.gbps) AS peak_gbps,
         sum(s.gpu_ns) OVER (PARTITION BY s.run) AS covered_ns
  FROM summed s LEFT JOIN device_peaks p ON p.pattern = s.device
),
shared AS (
  SELECT *, 100.0 * tflops / peak_tflops AS peak_pct, 100.0 * gbps / peak_gbps AS gbps_pct
  FROM rated
),
ordered AS (
  SELECT *, max(ifnull(peak_pct, gbps_pct), ifnull(gbps_pct, peak_pct)) AS roof_pct,
         row_number() OVER (PARTITION BY run
                            ORDER BY gpu_ns DESC, op, shapes, dtype, flops, bytes, gpu_name)
           AS place
  FROM shared WHERE :category IS NULL OR category = :category
)
SELECT
  o.run,
  o.gpu_name AS gpu,
  o.category,
  o.op,
  o.shapes,
  o.dtype,
  o.calls,
  o.gpu_ns / 1e6 AS gpu_ms,
  100.0 * o.gpu_ns / nullif(w.gpu_ns, 0) AS share_pct,
  o.flops / 1e9 AS gflop_per_call,
  o.bytes / 1e6 AS mbyte_per_call,
  o.intensity,
  o.tflops,
  o.peak_tflops,
  o.peak_pct,
  o.gbps,
  o.peak_gbps,
  o.gbps_pct,
  o.roof_pct,
  CASE
    WHEN o.roof_pct > 110 THEN NULL
    WHEN o.flops IS NOT NULL AND o.peak_pct IS NULL THEN NULL
    WHEN o.bytes IS NOT NULL AND o.gbps_pct IS NULL THEN NULL
    WHEN o.roof_pct < coalesce(:bound_pct, 50) AND o.bytes IS NOT NULL THEN 'neither'
    WHEN o.roof_pct < coalesce(:bound_pct, 50) THEN NULL
    WHEN o.gbps_pct IS NULL OR o.peak_pct >= o.gbps_pct THEN 'compute'
    ELSE 'memory'
  END AS bound,
  o.kernel,
  o.kernel_pct,
  100.0 * o.covered_ns / nullif(w.gpu_ns, 0) AS covered_pct
FROM ordered o LEFT JOIN whole w ON w.run = o.run
WHERE o.place <= coalesce(:limit, 40) OR :limit < 0
ORDER BY o.run, o.place;
