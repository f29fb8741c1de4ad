-- What events are for, as far as they tell: who called a collective, what went to whom in it, and
-- what the tensor cores of a GPU multiply.

CREATE VIEW collective_splits AS
-- What a rank sends to each rank of its group, and receives from it, in an all-to-all; from the
-- split sizes in the kernel's args. No row where these are even, cut short or not there at all.
--   slice_id: of the part, as in collectives
--   trace_id: its file
--   rank: of that file
--   group_id: in process_groups
--   peer_index: place of the other in the group, from 0; the rank itself is one of them
--   peer: its rank; NULL where the trace does not tell the group's
--   in_rows: sent to it, in rows of the tensor (tokens)
--   out_rows: received from it
--   in_bytes: sent to it
--   out_bytes: received from it
WITH text AS MATERIALIZED (  -- written as a list or as the text of one: both come out as text
  SELECT p.id AS slice_id, p.trace_id, p.rank, p.group_id, p.in_bytes, p.out_bytes, g.size, g.ranks,
         replace(trim(a.args ->> '$."In split size"', '[] '), ' ', '') AS in_text,
         replace(trim(a.args ->> '$."Out split size"', '[] '), ' ', '') AS out_text
  FROM _collective_part p JOIN _gpu_slice s ON s.id = p.id
       JOIN args_texts a ON a.args_id = s.args_text
       LEFT JOIN _process_group g ON g.group_id = p.group_id
  WHERE p.collective IN ('all_to_allv', 'all_to_all')
),
list AS MATERIALIZED (
  -- Whole numbers and commas alone: then it is JSON. Of 15 digits and more none is a size, and sums
  -- might overflow.
  SELECT *,
         CASE WHEN NOT (trim(in_text, '0123456789,') <> '' OR ',' || in_text || ',' GLOB '*,,*'
                        OR ',' || in_text GLOB '*,0[0-9]*' OR in_text GLOB large)
              THEN '[' || in_text || ']' END AS in_list,
         CASE WHEN NOT (trim(out_text, '0123456789,') <> '' OR ',' || out_text || ',' GLOB '*,,*'
                        OR ',' || out_text GLOB '*,0[0-9]*' OR out_text GLOB large)
              THEN '[' || out_text || ']' END AS out_list
  FROM text CROSS JOIN
       (SELECT '*' || replace('000000000000000', '0', '[0-9]') || '*' AS large)
),
part AS MATERIALIZED (  -- it counts when it has a number for each rank: the sum is NULL else
  SELECT *,
         (SELECT CASE WHEN count(*) = ifnull(size, count(*)) THEN sum(CAST(value AS BIGINT)) END
          FROM json_each(in_list)) AS in_sum,
         (SELECT CASE WHEN count(*) = ifnull(size, count(*)) THEN sum(CAST(value AS BIGINT)) END
          FROM json_each(out_list)) AS out_sum
  FROM list
),
peer AS (
  SELECT p.*, CAST(e.key AS BIGINT) AS peer_index,
         (SELECT CAST(j.value AS BIGINT) FROM json_each(ranks) j WHERE j.key = e.key) AS peer,
         CASE WHEN in_sum IS NOT NULL THEN CAST(e.value AS BIGINT) END AS in_rows,
         CASE WHEN in_sum IS NULL THEN CAST(e.value AS BIGINT)
              WHEN out_sum IS NOT NULL
              THEN (SELECT CAST(j.value AS BIGINT) FROM json_each(out_list) j
                    WHERE j.key = e.key) END AS out_rows
  FROM part p CROSS JOIN json_each(CASE WHEN in_sum IS NULL THEN out_list ELSE in_list END) e
  WHERE in_sum IS NOT NULL OR out_sum IS NOT NULL
)
SELECT slice_id, trace_id, rank, group_id, peer_index, peer, in_rows, out_rows,
       CASE WHEN in_bytes = 0 AND in_sum = 0 THEN 0
            WHEN in_bytes % in_sum = 0 THEN in_bytes / in_sum * in_rows END AS in_bytes,
       CASE WHEN out_bytes = 0 AND out_sum = 0 THEN 0
            WHEN out_bytes % out_sum = 0 THEN out_bytes / out_sum * out_rows END AS out_bytes
FROM peer;

CREATE VIEW collective_callers AS
-- What called a collective, where the names around its launch tell.
--   slice_id: of the part, as in collectives
--   trace_id: its file
--   rank: of that file
--   path_id: in call_paths: what the host was in when it launched it
--   caller: FSDP's all-gather of parameters, DDP's all-reduce of gradients, and so on
WITH RECURSIVE rule (place, around, collective, caller) AS (
  -- GLOB of a name around the launch, and of the collective; the first that fits decides.
  VALUES
    (1, 'FSDP::*', '*gather*', 'FSDP''s all-gather of parameters'),
    (2, 'FullyShardedDataParallel._*', '*gather*', 'FSDP''s all-gather of parameters'),
    (3, 'FSDP::*', '*reduce_scatter*', 'FSDP''s reduce-scatter of gradients'),
    (4, 'FullyShardedDataParallel._*', '*reduce_scatter*', 'FSDP''s reduce-scatter of gradients'),
    (5, 'FSDP::*', 'allreduce*', 'FSDP''s all-reduce of gradients'),  -- over replicas
    (6, 'FullyShardedDataParallel._*', 'allreduce*', 'FSDP''s all-reduce of gradients'),
    (7, '*torch::autograd::AccumulateGrad', 'allreduce*', 'The all-reduce of gradients'),
    (8, '*scaled_dot_product*', '*', 'Attention''s exchange of keys and values'),
    (9, 'Redistribute*', '*', 'DTensor''s redistribution'),
    (10, '_FromTorchTensorBackward', '*', 'DTensor''s redistribution'),
    (11, '_ToTorchTensorBackward', '*', 'DTensor''s redistribution')
),
part AS MATERIALIZED (
  SELECT p.id, p.trace_id, p.rank, p.collective, k.path_id
  FROM _collective_part p JOIN _launch k ON k.id = p.id
  WHERE p.collective IS NOT NULL AND k.path_id IS NOT NULL
),
way (path_id, next_id, event_name) AS (  -- from each place of a launch up
  SELECT c.id, c.parent_id, c.event_name
  FROM (SELECT DISTINCT path_id FROM part) p JOIN _call_path c ON c.id = p.path_id
  UNION ALL
  SELECT w.path_id, c.parent_id, c.event_name FROM way w JOIN _call_path c ON c.id = w.next_id
),
around AS MATERIALIZED (  -- each name once
  SELECT n.id, r.place
  FROM _event_name n CROSS JOIN rule r
  WHERE n.id IN (SELECT event_name FROM way) AND n.name GLOB r.around
),
found AS (
  SELECT DISTINCT w.path_id, a.place FROM way w JOIN around a ON a.id = w.event_name
),
reducer AS MATERIALIZED (  -- of DDP: it names what it does
  SELECT t.trace_id FROM _trace t
  WHERE EXISTS (SELECT 1 FROM _event_name n WHERE n.id BETWEEN t.first_text AND t.last_text
                AND n.name IN ('DistributedDataParallel.forward',
                               'torch.distributed.ddp.reducer::copy_bucket_to_grad'))
)
SELECT p.id AS slice_id, p.trace_id, p.rank, p.path_id,
       (SELECT CASE WHEN r.place = 7 AND p.trace_id IN (SELECT trace_id FROM reducer)
                    THEN 'DDP''s all-reduce of gradients' ELSE r.caller END
        FROM found f JOIN rule r ON r.place = f.place
        WHERE f.path_id = p.path_id AND p.collective GLOB r.collective
        ORDER BY r.place LIMIT 1) AS caller
FROM part p
WHERE EXISTS (SELECT 1 FROM found f JOIN rule r ON r.place = f.place
              WHERE f.path_id = p.path_id AND p.collective GLOB r.collective);

CREATE VIEW gpu_tensor_cores AS
-- The number types that the tensor cores of a trace's first GPU multiply (AMD: matrix cores), by
-- NVIDIA's compute capability, else by the name in the header.
--   trace_id: its file
--   rank: of that file
--   gpu_name: as in traces
--   capability: such as 8.0; NULL where the trace does not tell, and of others than NVIDIA's
--   types: such as 'FP16, INT8'; '' it has no tensor cores; NULL not known
WITH gpu AS (
  SELECT trace_id, rank, gpu_name, ' ' || upper(replace(gpu_name, '-', ' ')) || ' ' AS words,
         @json_integer:header, '$.deviceProperties[0].computeMajor'@ AS major,
         @json_integer:header, '$.deviceProperties[0].computeMinor'@ AS minor,
         -- AMD fills in the same keys with numbers of its own.
         gpu_name GLOB '*AMD*' OR gpu_name GLOB '*Instinct*' OR gpu_name GLOB '*Radeon*'
           OR gpu_name GLOB 'gfx*'
           OR @json_integer:header, '$.deviceProperties[0].warpSize'@ = 64
           AS is_amd,
         gpu_name GLOB '*NVIDIA*' OR gpu_name GLOB '*Tesla*' OR gpu_name GLOB '*GeForce*'
           OR gpu_name GLOB '*Quadro*' OR gpu_name GLOB '*TITAN*' OR gpu_name GLOB '*GRID*'
           OR gpu_name GLOB '[ABHGV][0-9B]*[0-9]*' AS is_nvidia
  FROM _trace
),
told AS (
  SELECT *, CASE
    WHEN is_amd OR NOT is_nvidia THEN NULL
    WHEN major IS NOT NULL AND minor IS NOT NULL THEN 10 * major + minor
    WHEN words GLOB '* P100 *' THEN 60
    WHEN words GLOB '* P[46] *' OR words GLOB '* P40 *' OR words GLOB '* GTX 10[0-9]0 *' THEN 61
    WHEN words GLOB '* V100*' OR words GLOB '* TITAN V *' THEN 70
    WHEN words GLOB '* T4 *' OR words GLOB '* RTX 20[0-9]0 *' OR words GLOB '* GTX 16*' THEN 75
    WHEN words GLOB '* A[138]00 *' OR words GLOB '* A800 *' OR words GLOB '* A30 *' THEN 80
    WHEN words GLOB '* A10 *' OR words GLOB '* A10G *' OR words GLOB '* A40 *'
      OR words GLOB '* RTX 30[0-9]0 *' THEN 86
    WHEN words GLOB '* L4 *' OR words GLOB '* L40*' OR words GLOB '* RTX 40[0-9]0 *' THEN 89
    WHEN words GLOB '* H[128]00 *' OR words GLOB '* H20 *' OR words GLOB '* GH200 *' THEN 90
    WHEN words GLOB '* B200 *' OR words GLOB '* GB200 *' OR words GLOB '* B100 *' THEN 100
    WHEN words GLOB '* RTX 50[0-9]0 *' THEN 120 END AS level
  FROM gpu
)
SELECT trace_id, rank, gpu_name,
       CAST((level - level % 10) / 10 AS BIGINT) || '.' || (level % 10) AS capability,
       CASE
         WHEN level < 70 OR words GLOB '* GTX 16*' THEN ''
         WHEN level < 72 THEN 'FP16'
         WHEN level < 75 THEN 'FP16, INT8'
         WHEN level < 80 THEN 'FP16, INT8, INT4'
         WHEN level = 80 THEN 'FP16, BF16, TF32, FP64, INT8, INT4'
         WHEN level < 89 THEN 'FP16, BF16, TF32, INT8, INT4'
         WHEN level = 89 THEN 'FP16, BF16, TF32, FP8, INT8, INT4'
         WHEN level = 90 THEN 'FP16, BF16, TF32, FP64, FP8, INT8'
         WHEN level = 100 THEN 'FP16, BF16, TF32, FP64, FP8, FP4, INT8'
         WHEN level IS NOT NULL THEN 'FP16, BF16, TF32, FP8, FP4, INT8'
         WHEN NOT is_amd THEN NULL
         WHEN words GLOB '* MI100 *' THEN 'FP16, BF16, FP32, INT8'
         WHEN words GLOB '* MI2[0-9]0*' THEN 'FP16, BF16, FP32, FP64, INT8'
         WHEN words GLOB '* MI3[0-2][0-9]*' THEN 'FP16, BF16, TF32, FP32, FP64, FP8, INT8'
         WHEN words GLOB '* MI35[0-9]*' THEN 'FP16, BF16, FP32, FP64, FP8, FP4, INT8'
       END AS types
FROM told;

CREATE VIEW tensor_core_rules AS
-- What a kernel's name tells of how it multiplies matrices: libraries write it there. The first
-- rule whose pattern fits the name decides.
--   place: the order of the rules
--   pattern: of GLOB, for the name in small letters
--   tensor_cores: yes, no or unknown (AMD's matrix cores count), NULL: it multiplies no matrices
--   could_use: 1 such work can run on tensor cores, if need be in another number type, 0 it has
--     none to gain, NULL not told
WITH rule(place, pattern, tensor_cores, could_use) AS (
  VALUES
    -- What goes with a matrix kernel.
    (1, '*splitk*reduce*', NULL, NULL),       -- cuBLAS: adds up partial products
    (2, '*dot_do_o*', NULL, NULL),            -- attention, backward: row sums
    (3, '*convert_dq*', NULL, NULL),          -- attention, backward: types
    (4, '*flash_*combine*', NULL, NULL),      -- attention: adds up parts
    (5, '*flash_bwd_preprocess*', NULL, NULL),
    (6, '*nchwtonhwc*', NULL, NULL),          -- cuDNN: layouts
    (7, '*nhwctonchw*', NULL, NULL),
    (8, 'triton_[pr][oe][ird]_*', NULL, NULL),  -- Inductor: pointwise, reductions, what they were
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
    -- The tensor cores' instruction, or its sizes.
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
    (54, '*matmul_ogs_*x[bf][fp]16x*', 'yes', 1),  -- Triton: types of the result and both sides,
    (55, '*matmul_ogs_*xfp8e[0-9]x*', 'yes', 1),   -- where the left one has 16 or 8 bits, it is
    (56, '*matmul_ogs_*xfp8e[0-9][a-z]?x*', 'yes', 1),  -- multiplied there
    (57, 'bmm_*_sm1[0-9][0-9]*', 'yes', 1),   -- TensorRT-LLM's for Blackwell
    (58, 'fmhasm1[0-9][0-9]*', 'yes', 1),
    -- Kernels of types and sizes for which the library has none.
    (60, '*gemmsn_*', 'no', 1),               -- cuBLAS, narrow
    (61, '*[^s]gemv*', 'no', 0),              -- matrix by vector: bound by memory, cublasGemvTensor
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
)
SELECT place, pattern, tensor_cores, could_use FROM rule;

CREATE VIEW rank_places AS
-- What part each rank that was recorded has in its job: its number in its tensor, context,
-- pipeline, data or expert parallel group, counted from 0 in the order in which the trace's header
-- has the group's ranks, else by rank; of several groups of one kind that in the largest. A trace
-- that does not say its rank tells no place.
--   run_id: in runs
--   rank: of that run
--   tensor: in its tensor parallel group; NULL: in none that has two ranks or more. So are the next
--   context: in its context parallel group
--   pipeline: in its pipeline: the stage
--   data: in its data parallel group
--   expert: in its expert parallel group
WITH recorded AS MATERIALIZED (
  SELECT run_id, rank, header, rank_source IN ('chosen', 'device order') AS is_guess
  FROM traces
),
kin AS MATERIALIZED (
  SELECT group_id, run_id, name, description, parallelism, size, ranks FROM process_groups
  WHERE size > 1 AND parallelism IN ('tensor', 'context', 'pipeline', 'data', 'expert')
),
told AS MATERIALIZED (  -- a rank's own groups, as its header has them
  SELECT r.run_id, r.rank, (p.value ->> '$.pg_name') AS name,
         json_array_length(p.value, '$.ranks') AS size,
         (SELECT CAST(e.key AS BIGINT) FROM json_each(p.value, '$.ranks') e
          WHERE e.value = r.rank) AS place
  FROM recorded r CROSS JOIN json_each(r.header, '$.distributedInfo.pg_config') p
  WHERE json_valid(r.header) AND lower(p.type) = 'object'
    AND (p.value ->> '$.pg_name') IN (SELECT name FROM kin)
),
member AS (
  SELECT k.run_id, CAST(j.value AS INTEGER) AS rank, k.parallelism, k.name, k.size,
         CAST(j.key AS BIGINT) AS by_rank,
         row_number() OVER (PARTITION BY k.run_id, j.value, k.parallelism
                            ORDER BY k.size DESC, k.description, k.group_id) AS choice
  FROM kin k CROSS JOIN json_each(k.ranks) j
  WHERE k.run_id IN (SELECT run_id FROM recorded)
),
placed AS MATERIALIZED (
  SELECT m.run_id, m.rank, m.parallelism, max(coalesce(t.place, m.by_rank)) AS place
  FROM member m LEFT JOIN told t ON t.run_id = m.run_id AND t.rank = m.rank AND t.name = m.name
    AND t.size = m.size
  WHERE m.choice = 1 GROUP BY m.run_id, m.rank, m.parallelism
)
SELECT
  r.run_id,
  r.rank,
  max(p.place) FILTER (WHERE p.parallelism = 'tensor') AS tensor,
  max(p.place) FILTER (WHERE p.parallelism = 'context') AS context,
  max(p.place) FILTER (WHERE p.parallelism = 'pipeline') AS pipeline,
  max(p.place) FILTER (WHERE p.parallelism = 'data') AS data,
  max(p.place) FILTER (WHERE p.parallelism = 'expert') AS expert
FROM (SELECT run_id, rank, max(is_guess) AS is_guess FROM recorded GROUP BY run_id, rank) r
  LEFT JOIN placed p ON p.run_id = r.run_id AND p.rank = r.rank AND NOT r.is_guess
GROUP BY r.run_id, r.rank;
