-- title: Which matrix kernels use tensor cores, and which could
--
-- One row for each compute kernel of a rank that multiplies matrices: products (gemm),
-- convolutions and attention, by the operator that launched it (`op_cost`: its args say what is
-- multiplied), else by its name. The operator's number type decides first, with what this GPU's
-- tensor cores take (`gpu_tensor_cores`): what they do not take runs without them, FP8 and FP4
-- nowhere else. Then the name does: libraries write into it how they multiply; the rules are in
-- `rule` below, the first that fits decides. What neither tells is unknown, never guessed. Work
-- that only goes with such kernels (reductions of split sums, conversions) is left out. Times are
-- sums of durations. AMD's matrix cores count as tensor cores.
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

WITH rule(place, pattern, tensor_cores, could_use) AS (
  -- Patterns of GLOB, of the name in small letters; NULL: no matrix kernel.
  VALUES
    -- What goes with a matrix kernel.
    (1, '*splitk*reduce*', NULL, NULL),       -- cuBLAS: adds up partial products
    (2, '*dot_do_o*', NULL, NULL),            -- attention, backward: row sums
    (3, '*convert_dq*', NULL, NULL),          -- attention, backward: types
    (4, '*flash_*combine*', NULL, NULL),      -- attention: adds up parts
    (5, '*flash_bwd_preprocess*', NULL, NULL),
    (6, '*nchwtonhwc*', NULL, NULL),          -- cuDNN: layouts
    (7, '*nhwctonchw*', NULL, NULL),
    (8, 'triton_[pr][oe][ird]_*', NULL, NULL),  -- Inductor: pointwise, reductions; what they were
                                                -- fused from is in the name
    (9, '*subtensorop*', NULL, NULL),         -- MIOpen: element by element
    (10, '*flashattnbwdpreprocess*', NULL, NULL),   -- FlashAttention 3: row sums, types, parts
    (11, '*flashattnbwdpostprocess*', NULL, NULL),
    (12, '*flashattnfwdcombine*', NULL, NULL),
    (13, '*paged_attention*reduce*', NULL, NULL),   -- vLLM: adds up parts
    (14, '_finalize_matmul*', NULL, NULL),    -- Triton's matmul_ogs: sends rows back
    (15, '*winograd_nonfused*', NULL, NULL),  -- cuDNN: what goes before and after the product
    (16, '*generatewinogradtiles*', NULL, NULL),
    (17, '*cudnn*compute*offsetskernel*', NULL, NULL),
    (18, '*reduce_wgrad*', NULL, NULL),
    -- The multiplying instruction is CUDA cores' own.
    (20, '*simt*', 'no', 1),                  -- CUTLASS
    (21, '*_ffma*', 'no', 1),                 -- xmma, FP32
    (22, '*fmha_cutlass*_sm[56][0-9]*', 'no', 1),
    -- The tensor cores' instruction, or its shape.
    (30, '*tensorop*', 'yes', 1),             -- CUTLASS, cuBLAS
    (31, '*gmma*', 'yes', 1),                 -- wgmma: Hopper
    (32, '*tcgen05*', 'yes', 1),              -- Blackwell
    (33, '*::umma*', 'yes', 1),
    (34, '*wmma*', 'yes', 1),
    (35, '*[hibd]mma_*', 'yes', 1),
    (36, '*xmma*tensor[0-9]*', 'yes', 1),     -- ..._tensor16x8x16_...
    (37, '*xmma*warpgroup*', 'yes', 1),       -- warp groups are how Hopper's are fed
    (38, '*[hsd]884*', 'yes', 1),             -- m8n8k4: Volta, FP64 of Ampere
    (39, '*[hscd]1688*', 'yes', 1),           -- m16n8k8
    (40, '*[hs]16816*', 'yes', 1),            -- m16n8k16
    (41, '*[is]16832*', 'yes', 1),
    (42, '*i8816*', 'yes', 1),
    (43, '*[hsi]64x[0-9]*x[0-9]*gemm*', 'yes', 1),  -- m64nNkK: Hopper
    (44, '*nvjet*', 'yes', 1),                -- cuBLAS of Hopper and later
    (45, '*deep_gemm::*gemm*', 'yes', 1),
    (46, '*flash_fwd*', 'yes', 1),            -- FlashAttention: FP16, BF16 and FP8 only
    (47, '*flash_bwd*', 'yes', 1),
    (48, '*fmha_cutlass*f16*_sm[789][0-9]*', 'yes', 1),  -- also bf16
    (49, '*fmha_cutlass*f32*_sm8[0-9]*', 'yes', 1),      -- PyTorch: TF32, three times
    (50, '*cijk_*_mi[0-9]*x[0-9]*', 'yes', 1),  -- hipBLASLt, rocBLAS: MFMA
    (51, '*mfma*', 'yes', 1),
    (52, '*igemm_*_gtcx*', 'yes', 1),         -- MIOpen: MFMA
    (53, '*flash::flashattn[fb]wd*', 'yes', 1),  -- FlashAttention 3: the same types
    (54, '*matmul_ogs_*x[bf][fp]16x*', 'yes', 1),  -- Triton: types of the result and both sides;
    (55, '*matmul_ogs_*xfp8e[0-9]x*', 'yes', 1),   -- where the left one has 16 or 8 bits, it is
    (56, '*matmul_ogs_*xfp8e[0-9][a-z]?x*', 'yes', 1),  -- multiplied there
    (57, 'bmm_*_sm1[0-9][0-9]*', 'yes', 1),   -- TensorRT-LLM's for Blackwell
    (58, 'fmhasm1[0-9][0-9]*', 'yes', 1),
    -- Kernels of types and shapes for which the library has none.
    (60, '*gemmsn_*', 'no', 1),               -- cuBLAS, narrow
    (61, '*[^s]gemv*', 'no', 0),              -- matrix by vector: bound by memory; cublasGemvTensor
    (62, 'gemv*', 'no', 0),                   -- is an argument of others
    (63, '*depthwise*', 'no', 0),             -- one channel each
    (64, '*[^a-z]sgemm*', 'no', 1),           -- FP32 without TF32
    (65, 'sgemm*', 'no', 1),
    (66, '*[^a-z]hgemm*', 'no', 1),           -- FP16 of before Volta
    (67, '*[^a-z][dcz]gemm*', 'no', NULL),    -- FP64 and complex: some GPUs
    (68, '*scudnn*', 'no', 1),                -- cuDNN, FP32
    -- Matrices, and no word of how.
    (80, '*fbgemm*[^b]gemm*', 'unknown', NULL),
    (81, '*fbgemm*', NULL, NULL),             -- a library's name, of embeddings for the most part
    (82, '*gemm::*utils::*', NULL, NULL),     -- layouts and descriptors
    (90, '*gemm*', 'unknown', NULL),
    (91, '*cijk_*', 'unknown', NULL),
    (92, '*cutlass*', 'unknown', NULL),
    (93, '*xmma*', 'unknown', NULL),
    (94, '*conv[123]d*', 'unknown', NULL),
    (95, '*convol*', 'unknown', NULL),
    (96, '*fprop*', 'unknown', NULL),
    (97, '*[dw]grad*', 'unknown', NULL),
    (98, '*winograd*', 'unknown', NULL),
    (99, '*fmha*', 'unknown', NULL),
    (100, '*sdpa*', 'unknown', NULL),
    (101, '*attention*', 'unknown', NULL),
    (102, '*attn_fwd*', 'unknown', NULL),
    (103, '*attn_bwd*', 'unknown', NULL),
    (104, 'triton_tem_*', 'unknown', NULL),   -- Inductor's templates
    (105, 'triton_mm*', 'unknown', NULL),
    (106, 'triton_bmm*', 'unknown', NULL),
    (107, '*matmul*', 'unknown', NULL),
    (108, 'bmm_*', 'unknown', NULL),
    (109, '*fused_moe_kernel*', 'unknown', NULL)  -- vLLM and SGLang, in Triton
),
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
