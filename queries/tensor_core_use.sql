-- title: Which matrix kernels use tensor cores, and which could
--
-- One row for each compute kernel of a rank that multiplies matrices: products (gemm),
-- convolutions and attention, by the operator that launched it (`op_cost`: its args say what is
-- multiplied), else by its name. The operator's number type decides first, with what this GPU's
-- tensor cores take (`gpu_tensor_cores`): what they do not take runs without them, FP8 and FP4
-- nowhere else. Then the name does: libraries write into it how they multiply; of the rules in
-- the view tensor_core_rules the first that fits decides. What neither tells is unknown, never
-- guessed. Work that only goes with such kernels (reductions of split sums, conversions) is left
-- out. Times are sums of durations. AMD's matrix cores count as tensor cores.
--
-- What neither tells: how kernels multiply that Triton, torch.compile or CUTLASS templates are the
-- makers of, unless their authors wrote it into the name (they are unknown); and products in
-- kernels that are called after something else, of operators without a model or
-- without recorded inputs.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
--
-- column: run            text        The run: one training job that was recorded.
-- column: rank           int(id)     The rank.
-- column: name           text        The kernel.
-- column: work           text        product, convolution or attention.
-- column: tensor_cores   text        yes, no or unknown.
-- column: could_use      bool        1: such work can run on tensor cores, if need be in another
--                                    number type (FP32 as TF32, on V100 and T4 as FP16); 0: it has
--                                    none to gain (a matrix by a vector), or the GPU has none for
--                                    its number type; NULL: not told.
-- column: rule           text        The rule that decided: a pattern of the name, or operator.
-- column: activities     int(count)  How often it ran.
-- column: total_ms       real(ms)    Sum of its durations.
-- column: matrix_pct     real(pct)   Of the matrix kernels of its rank.
-- column: gpu_pct        real(pct)   Of all GPU activities of its rank.
-- column: rank_yes_pct   real(pct)   All matrix kernels of the rank that use tensor cores, of these
--                                    and those that do not; NULL: all are unknown.
-- column: dtype          text        What its operators multiply (as in roofline); several: not
--                                    the same; NULL: not known of any.
--
-- about:  kernels and operators
-- empty:  No kernel in the database multiplies matrices by its name.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown
-- lead:   rank, name, tensor_cores, could_use, total_ms, matrix_pct

WITH rule AS MATERIALIZED (SELECT place, pattern, tensor_cores, could_use FROM tensor_core_rules),
lane AS MATERIALIZED (
  SELECT k.track_id, t.run, t.rank
  FROM tracks k JOIN traces t ON t.trace_id = k.trace_id
  WHERE (:run IS NULL OR t.run = :run) AND (:capture IS NULL OR t.capture = :capture)
    AND (:rank IS NULL OR t.rank IN (SELECT value FROM json_each(:rank)))
),
ran AS MATERIALIZED (
  SELECT track_id, name_id, kind, count(*) AS activities, sum(ifnull(dur_ns, 0)) AS total_ns
  FROM activity_times
  WHERE ifnull(dur_ns, 0) >= 0
    AND (coalesce(:run, :capture, :rank) IS NULL OR track_id IN (SELECT track_id FROM lane))
  GROUP BY track_id, name_id, kind
),
judged AS MATERIALIZED (
  SELECT l.name_id, l.name,
         (SELECT r.place FROM rule r WHERE lower(l.name) GLOB r.pattern
          ORDER BY r.place LIMIT 1) AS place
  FROM names l WHERE l.name_id IN (SELECT name_id FROM ran WHERE kind = 0)
),
of_rank AS (
  SELECT t.run, t.rank, sum(r.total_ns) AS all_ns
  FROM ran r JOIN lane t ON t.track_id = r.track_id
  GROUP BY t.run, t.rank
),
gpu AS MATERIALIZED (
  SELECT t.run, g.rank, min(g.types IS NOT NULL AND g.types = '') AS has_none,
         CASE WHEN count(g.types) = count(*) AND min(g.types) = max(g.types)
              THEN max(g.types) END AS types
  FROM gpu_tensor_cores g JOIN traces t ON t.trace_id = g.trace_id
  GROUP BY t.run, g.rank
),
worked AS MATERIALIZED (  -- of each operator and its args the kernel that took longest
  SELECT trace_id, op_id, args_id, max(gpu_ns), kernel_id
  FROM (SELECT trace_id, op_id, args_id, kernel_id, sum(gpu_ns) AS gpu_ns FROM op_kernels
        WHERE kind = 0 AND op_id IS NOT NULL GROUP BY trace_id, op_id, args_id, kernel_id)
  GROUP BY trace_id, op_id, args_id
),
costed AS MATERIALIZED (
  SELECT t.run, t.rank, k.name, op_category(n.name) AS category,
         op_cost(n.name, a.args, k.name) AS cost
  FROM worked w JOIN traces t ON t.trace_id = w.trace_id
       JOIN names n ON n.name_id = w.op_id JOIN names k ON k.name_id = w.kernel_id
       JOIN args_texts a ON a.args_id = w.args_id
  WHERE (:run IS NULL OR t.run = :run) AND (:capture IS NULL OR t.capture = :capture)
    AND (:rank IS NULL OR t.rank IN (SELECT value FROM json_each(:rank)))
),
typed AS (
  SELECT c.run, c.rank, c.name, c.category, c.cost ->> 'dtype' AS dtype,
         c.cost ->> 'narrow' AS narrow,
         CASE WHEN g.types IS NULL THEN NULL
              WHEN c.cost ->> 'dtype' IN ('fp32', 'tf32') THEN g.types <> ''
              ELSE instr(', ' || g.types || ',', ', ' || upper(c.cost ->> 'dtype') || ',') > 0
         END AS taken
  FROM costed c JOIN gpu g ON g.run = c.run AND g.rank = c.rank
  WHERE c.cost ->> 'flops' IS NOT NULL AND c.cost ->> 'dtype' IS NOT NULL
),
of_op AS MATERIALIZED (
  SELECT run, rank, name, max(category) AS category,
         iif(min(dtype) = max(dtype), min(dtype), 'several') AS dtype,
         min(dtype IN ('fp8', 'fp4')) AS is_theirs_alone,
         CASE WHEN count(taken) = count(*) AND min(taken) = max(taken) THEN min(taken) END AS taken,
         CASE WHEN max(ifnull(narrow, 2)) = 1 THEN 0
              WHEN min(ifnull(narrow, 2)) > 1 THEN 1 END AS gains
  FROM typed GROUP BY run, rank, name
),
of_name AS MATERIALIZED (
  SELECT t.run, t.rank, j.name, u.place,
         CASE WHEN o.taken = 0 THEN 'no'
              WHEN o.taken = 1 AND o.is_theirs_alone THEN 'yes'
              ELSE ifnull(u.tensor_cores, 'unknown') END AS tensor_cores,
         CASE WHEN o.taken = 0 OR o.gains = 0 THEN 0
              WHEN o.taken = 1 AND o.gains = 1 THEN 1
              ELSE u.could_use END AS could_use,
         iif(o.taken = 0 OR (o.taken = 1 AND o.is_theirs_alone), 'operator', u.pattern) AS decided,
         o.dtype, o.category,
         sum(r.activities) AS activities, sum(r.total_ns) AS total_ns
  FROM ran r JOIN lane t ON t.track_id = r.track_id JOIN judged j ON j.name_id = r.name_id
       LEFT JOIN rule u ON u.place = j.place
       LEFT JOIN of_op o ON o.run = t.run AND o.rank = t.rank AND o.name = j.name
  WHERE r.kind = 0 AND (u.tensor_cores IS NOT NULL OR (j.place IS NULL AND o.name IS NOT NULL))
  GROUP BY t.run, t.rank, j.name
)
SELECT
  n.run,
  n.rank,
  n.name,
  CASE
    WHEN n.category IN ('attention', 'convolution') THEN n.category
    WHEN n.category IS NOT NULL THEN 'product'
    WHEN lower(n.name) GLOB '*sdpa*' OR lower(n.name) GLOB '*fmha*' OR lower(n.name) GLOB '*flash*'
      OR lower(n.name) GLOB '*attention*' OR lower(n.name) GLOB '*attn_*' THEN 'attention'
    WHEN lower(n.name) GLOB '*fprop*' OR lower(n.name) GLOB '*[dw]grad*'
      OR lower(n.name) GLOB '*conv[123]d*' OR lower(n.name) GLOB '*convol*'
      OR lower(n.name) GLOB '*cudnn*' OR lower(n.name) GLOB '*depthwise*'
      OR lower(n.name) GLOB '*igemm_*_gtc*'
      OR lower(n.name) GLOB '*winograd*' THEN 'convolution'
    ELSE 'product'
  END AS work,
  n.tensor_cores,
  iif(g.has_none, 0, n.could_use) AS could_use,
  n.decided AS rule,
  n.activities,
  n.total_ns / 1e6 AS total_ms,
  100.0 * n.total_ns / nullif(sum(n.total_ns) OVER (PARTITION BY n.run, n.rank), 0) AS matrix_pct,
  100.0 * n.total_ns / nullif(o.all_ns, 0) AS gpu_pct,
  100.0 * ifnull(sum(n.total_ns) FILTER (WHERE n.tensor_cores = 'yes')
                   OVER (PARTITION BY n.run, n.rank), 0)
    / nullif(sum(n.total_ns) FILTER (WHERE n.tensor_cores <> 'unknown')
               OVER (PARTITION BY n.run, n.rank), 0) AS rank_yes_pct,
  n.dtype
FROM of_name n JOIN of_rank o ON o.run = n.run AND o.rank = n.rank
JOIN gpu g ON g.run = n.run AND g.rank = n.rank
ORDER BY n.run, n.rank, n.total_ns DESC, n.name;
