-- title: Which matrix kernels use tensor cores
--
-- One row for each compute kernel of a rank that multiplies matrices by its name: products (gemm),
-- convolutions and attention. Libraries write into the name how they multiply; the rules are in
-- `rule` below, the first that fits decides. A name that does not say it is unknown, never guessed.
-- Work that only goes with such kernels (reductions of split sums, conversions) is left out.
-- Times are sums of durations. AMD's matrix cores count as tensor cores.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     int(id)     = null  This rank only; all of them when null.
--
-- column: run            text        The run: one training job that was recorded.
-- column: rank           int(id)     The rank.
-- column: name           text        The kernel.
-- column: work           text        product, convolution or attention.
-- column: tensor_cores   text        yes, no or unknown.
-- column: could_use      bool        1: such work can run on tensor cores (FP32 as TF32); 0: it
--                                    has none to gain; NULL: the name does not tell.
-- column: rule           text        The rule that decided.
-- column: activities     int(count)  How often it ran.
-- column: total_ms       real(ms)    Sum of its durations.
-- column: matrix_pct     real(pct)   Of the matrix kernels of its rank.
-- column: gpu_pct        real(pct)   Of all GPU activities of its rank.
-- column: rank_yes_pct   real(pct)   All matrix kernels of the rank that use tensor cores, of these
--                                    and those that do not; NULL: all are unknown.
--
-- empty:  No kernel in the database multiplies matrices by its name.

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
    -- The multiplying instruction is CUDA cores' own.
    (10, '*simt*', 'no', 1),                  -- CUTLASS
    (11, '*_ffma*', 'no', 1),                 -- xmma, FP32
    (12, '*fmha_cutlass*_sm[56][0-9]*', 'no', 1),
    -- The tensor cores' instruction, or its shape.
    (20, '*tensorop*', 'yes', 1),             -- CUTLASS, cuBLAS
    (21, '*gmma*', 'yes', 1),                 -- wgmma: Hopper
    (22, '*tcgen05*', 'yes', 1),              -- Blackwell
    (23, '*::umma*', 'yes', 1),
    (24, '*wmma*', 'yes', 1),
    (25, '*[hibd]mma_*', 'yes', 1),
    (26, '*xmma*tensor[0-9]*', 'yes', 1),     -- ..._tensor16x8x16_...
    (27, '*xmma*warpgroup*', 'yes', 1),       -- warp groups are how Hopper's are fed
    (28, '*[hsd]884*', 'yes', 1),             -- m8n8k4: Volta, FP64 of Ampere
    (29, '*[hscd]1688*', 'yes', 1),           -- m16n8k8
    (30, '*[hs]16816*', 'yes', 1),            -- m16n8k16
    (31, '*[is]16832*', 'yes', 1),
    (32, '*i8816*', 'yes', 1),
    (33, '*[hsi]64x[0-9]*x[0-9]*gemm*', 'yes', 1),  -- m64nNkK: Hopper
    (34, '*nvjet*', 'yes', 1),                -- cuBLAS of Hopper and later
    (35, '*deep_gemm::*gemm*', 'yes', 1),
    (36, '*flash_fwd*', 'yes', 1),            -- FlashAttention: FP16, BF16 and FP8 only
    (37, '*flash_bwd*', 'yes', 1),
    (38, '*fmha_cutlass*f16*_sm[789][0-9]*', 'yes', 1),  -- also bf16
    (39, '*fmha_cutlass*f32*_sm8[0-9]*', 'yes', 1),      -- PyTorch: TF32, three times
    (40, '*cijk_*_mi[0-9]*x[0-9]*', 'yes', 1),  -- hipBLASLt, rocBLAS: MFMA
    (41, '*mfma*', 'yes', 1),
    -- Kernels of types and shapes for which the library has none.
    (50, '*gemmsn_*', 'no', 1),               -- cuBLAS, narrow
    (51, '*[^s]gemv*', 'no', 0),              -- matrix by vector: bound by memory; cublasGemvTensor
    (52, 'gemv*', 'no', 0),                   -- is an argument of others
    (53, '*depthwise*', 'no', 0),             -- one channel each
    (54, '*[^a-z]sgemm*', 'no', 1),           -- FP32 without TF32
    (55, 'sgemm*', 'no', 1),
    (56, '*[^a-z]hgemm*', 'no', 1),           -- FP16 of before Volta
    (57, '*[^a-z][dcz]gemm*', 'no', NULL),    -- FP64 and complex: some GPUs
    (58, '*scudnn*', 'no', 1),                -- cuDNN, FP32
    -- Matrices, and no word of how.
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
    (106, 'triton_bmm*', 'unknown', NULL)
),
lane AS MATERIALIZED (
  SELECT k.track_id, t.run, t.rank
  FROM tracks k JOIN traces t ON t.trace_id = k.trace_id
  WHERE (:run IS NULL OR t.run = :run) AND (:capture IS NULL OR t.capture = :capture)
    AND (:rank IS NULL OR t.rank = :rank)
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
of_name AS MATERIALIZED (
  SELECT t.run, t.rank, j.name, u.place, u.pattern, u.tensor_cores, u.could_use,
         sum(r.activities) AS activities, sum(r.total_ns) AS total_ns
  FROM ran r JOIN lane t ON t.track_id = r.track_id JOIN judged j ON j.name_id = r.name_id
  JOIN rule u ON u.place = j.place
  WHERE r.kind = 0 AND u.tensor_cores IS NOT NULL
  GROUP BY t.run, t.rank, j.name
)
SELECT
  n.run,
  n.rank,
  n.name,
  CASE
    WHEN lower(n.name) GLOB '*sdpa*' OR lower(n.name) GLOB '*fmha*' OR lower(n.name) GLOB '*flash*'
      OR lower(n.name) GLOB '*attention*' OR lower(n.name) GLOB '*attn_*' THEN 'attention'
    WHEN lower(n.name) GLOB '*fprop*' OR lower(n.name) GLOB '*[dw]grad*'
      OR lower(n.name) GLOB '*conv[123]d*' OR lower(n.name) GLOB '*convol*'
      OR lower(n.name) GLOB '*cudnn*' OR lower(n.name) GLOB '*depthwise*'
      OR lower(n.name) GLOB '*winograd*' THEN 'convolution'
    ELSE 'product'
  END AS work,
  n.tensor_cores,
  n.could_use,
  n.pattern AS rule,
  n.activities,
  n.total_ns / 1e6 AS total_ms,
  100.0 * n.total_ns / nullif(sum(n.total_ns) OVER (PARTITION BY n.run, n.rank), 0) AS matrix_pct,
  100.0 * n.total_ns / nullif(o.all_ns, 0) AS gpu_pct,
  100.0 * ifnull(sum(n.total_ns) FILTER (WHERE n.tensor_cores = 'yes')
                   OVER (PARTITION BY n.run, n.rank), 0)
    / nullif(sum(n.total_ns) FILTER (WHERE n.tensor_cores <> 'unknown')
               OVER (PARTITION BY n.run, n.rank), 0) AS rank_yes_pct
FROM of_name n JOIN of_rank o ON o.run = n.run AND o.rank = n.rank
ORDER BY n.run, n.rank, n.total_ns DESC, n.name;
