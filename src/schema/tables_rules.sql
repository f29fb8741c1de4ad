-- Rules by which names are understood, to which people may add rows before an ingest; and what
-- devices can do at most, of which rooflines are drawn: rows may be added at any time.

CREATE TABLE kind_rules (
  -- Which kernels communicate, by their names. Rows may be added before an ingest.
  --   pattern: in the kernel's name, in any case; the longest that fits decides
  --   kind: communication, compute, memory or waiting
  pattern TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('communication', 'compute', 'memory', 'waiting'))
);
INSERT INTO kind_rules VALUES
  ('nccl', 'communication'), ('rccl', 'communication'), ('msccl', 'communication'),
  ('nvshmem', 'communication'), ('deep_ep', 'communication'),
  ('dpsk::ep', 'communication'),
  ('cross_device_reduce', 'communication'), ('multimem_', 'communication'),
  ('one_shot_all_reduce', 'communication'), ('two_shot_all_reduce', 'communication'),
  ('userbuffers', 'communication'), ('oneccl', 'communication'), ('hccl', 'communication'),
  ('hcom_', 'communication'), ('xccl', 'communication'), ('allreduce_fusion', 'communication'),
  ('twoshotallreduce', 'communication'), ('quickreduce', 'communication'),
  ('__amd_rocclr_copybuffer', 'memory'), ('__amd_rocclr_fillbuffer', 'memory'),
  ('memory_copy_', 'memory'), ('dma_request', 'memory'), ('event_wait', 'waiting');

CREATE TABLE parallelism_rules (
  -- What the ranks of a communicator share out, by its description. Rows may be added before an
  -- ingest.
  --   pattern: in the description, in small letters and with _ in place of all that is neither
  --     letter nor digit, at both ends as well; the longest that fits decides
  --   parallelism: tensor, pipeline, data, expert, context or other
  pattern TEXT PRIMARY KEY,
  parallelism TEXT NOT NULL
    CHECK (parallelism IN ('pipeline', 'data', 'tensor', 'expert', 'context', 'other'))
);
INSERT INTO parallelism_rules VALUES
  ('pipeline', 'pipeline'), ('_pp_', 'pipeline'), ('data', 'data'), ('_dp_', 'data'),
  ('tensor', 'tensor'), ('_tp_', 'tensor'), ('expert', 'expert'), ('_ep_', 'expert'),
  ('context', 'context'), ('_cp_', 'context'), ('sequence', 'context'), ('_sp_', 'context'),
  -- Megatron-LM and NeMo
  ('data_parallel', 'data'), ('expert_data', 'data'), ('expert_model', 'expert'),
  ('expert_tensor', 'tensor'), ('expert_tensor_and_model', 'expert'),
  ('expert_tensor_model_pipeline', 'other'), ('model_parallel', 'other'),
  ('gtp_weight', 'tensor'),
  ('tensor_model_parallel', 'tensor'), ('pipeline_model_parallel', 'pipeline'),
  ('expert_model_parallel', 'expert'), ('tensor_and_data', 'other'),
  ('tensor_and_data_parallel', 'other'), ('tensor_and_context', 'other'),
  ('distributed_optimizer_instance', 'data'),
  -- DeepSpeed, FSDP, and the meshes of DTensor and TorchTitan
  ('zero_param', 'data'), ('fsdp', 'data'), ('_ddp_', 'data'), ('_dp_shard_', 'data'),
  ('_dp_replicate_', 'data'), ('_replicate_', 'data'), ('_shard_', 'data'), ('_dp_cp_', 'data'),
  ('_dp_mod_ep_', 'data'), ('_dp_shard_mod_ep_', 'data'), ('_dp_shard_in_ep_', 'data'),
  ('_etp_', 'tensor'), ('ulysses', 'context');

CREATE TABLE device_peaks (
  -- A device's peak rates, dense (without structured sparsity), by its vendor's data sheet. Rows
  -- may be added, and changed.
  --   pattern: GLOB of its name in capitals, as traces have it (gpu_name); the longest that fits
  --     decides
  --   gbps: its memory's bandwidth, in 1e9 bytes a second
  --   fp64: what its fastest units for such numbers do, in 1e12 operations a second; NULL, here and
  --     below, where it has none of its own, or the vendor does not say
  --   fp32: without TF32
  --   tf32: likewise
  --   bf16: likewise
  --   fp16: likewise
  --   fp8: likewise
  --   fp4: likewise
  --   int8: likewise
  pattern TEXT PRIMARY KEY,
  gbps REAL,
  fp64 REAL, fp32 REAL, tf32 REAL, bf16 REAL, fp16 REAL, fp8 REAL, fp4 REAL, int8 REAL
) WITHOUT ROWID;
-- Sources are the vendors' data sheets. NVIDIA: V100, T4, A100, A30, A10, A40, L4, L40, L40S,
-- H100 (SXM, PCIe, NVL), H200, GH200, HGX B100 and B200, GB200; where a sheet has figures with
-- sparsity alone, half of them; FP64 of tensor cores. H800 and A800 compute as H100 and A100 do
-- (but for FP64 of H800). AMD: MI210, MI250, MI250X, MI300A, MI300X, MI325X, MI350X, MI355X,
-- matrix units where they are faster. An MI250 and MI250X show as two devices: half of the
-- sheet's figures. What was compared with what: src/cost/DECISION-cost-models.md.
INSERT INTO device_peaks (pattern, gbps, fp64, fp32, tf32, bf16, fp16, fp8, fp4, int8) VALUES
  ('*V100*',             900,    7.8,   15.7,  NULL,   NULL,   125,    NULL,   NULL,  NULL),
  ('*V100-PCIE*',        900,    7,     14,    NULL,   NULL,   112,    NULL,   NULL,  NULL),
  ('*V100S*',            1134,   8.2,   16.4,  NULL,   NULL,   130,    NULL,   NULL,  NULL),
  ('*TESLA T4*',         320,    NULL,  8.1,   NULL,   NULL,   65,     NULL,   NULL,  130),
  ('*A100*',             1555,   19.5,  19.5,  156,    312,    312,    NULL,   NULL,  624),
  ('*A100*80GB*',        2039,   19.5,  19.5,  156,    312,    312,    NULL,   NULL,  624),
  ('*A100 80GB PCIE*',   1935,   19.5,  19.5,  156,    312,    312,    NULL,   NULL,  624),
  ('*A800*80GB*',        2039,   19.5,  19.5,  156,    312,    312,    NULL,   NULL,  624),
  ('*A800 80GB PCIE*',   1935,   19.5,  19.5,  156,    312,    312,    NULL,   NULL,  624),
  ('*NVIDIA A30*',       933,    10.3,  10.3,  82,     165,    165,    NULL,   NULL,  330),
  ('*NVIDIA A10',        600,    NULL,  31.2,  62.5,   125,    125,    NULL,   NULL,  250),
  ('*NVIDIA A40*',       696,    NULL,  37.4,  74.8,   149.7,  149.7,  NULL,   NULL,  299.3),
  ('*NVIDIA L4',         300,    NULL,  30.3,  60,     121,    121,    242.5,  NULL,  242.5),
  ('*NVIDIA L40*',       864,    NULL,  90.5,  90.5,   181,    181,    362,    NULL,  362),
  ('*NVIDIA L40S*',      864,    NULL,  91.6,  183,    362,    362,    733,    NULL,  733),
  ('*H100*',             3350,   67,    67,    494.7,  989.4,  989.4,  1978.9, NULL,  1978.9),
  ('*H100 PCIE*',        2000,   51,    51,    378,    756,    756,    1513,   NULL,  1513),
  ('*H100 NVL*',         3900,   60,    60,    417.5,  835.5,  835.5,  1670.5, NULL,  1670.5),
  ('*H800*',             3350,   1,     67,    494.7,  989.4,  989.4,  1978.9, NULL,  1978.9),
  ('*H20',               4000,   1,     44,    74,     148,    148,    296,    NULL,  296),
  ('*H200*',             4800,   67,    67,    494.7,  989.4,  989.4,  1978.9, NULL,  1978.9),
  ('*H200 NVL*',         4800,   60,    60,    417.5,  835.5,  835.5,  1670.5, NULL,  1670.5),
  ('*GH200*',            4000,   67,    67,    494.7,  989.4,  989.4,  1978.9, NULL,  1978.9),
  ('*GH200 144G*',       4900,   67,    67,    494.7,  989.4,  989.4,  1978.9, NULL,  1978.9),
  ('*B100*',             8000,   30,    60,    900,    1800,   1800,   3500,   7000,  3500),
  ('*B200*',             8000,   37,    75,    1100,   2250,   2250,   4500,   9000,  4500),
  ('*GB200*',            8000,   40,    80,    1250,   2500,   2500,   5000,   10000, 5000),
  ('*MI210*',            1638,   45.3,  45.3,  NULL,   181,    181,    NULL,   NULL,  181),
  ('*MI250*',            1638,   45.3,  45.3,  NULL,   181,    181,    NULL,   NULL,  181),
  ('*MI250X*',           1638,   47.9,  47.9,  NULL,   191.5,  191.5,  NULL,   NULL,  191.5),
  ('*MI300A*',           5300,   122.6, 122.6, 490.3,  980.6,  980.6,  1961.2, NULL,  1961.2),
  ('*MI300X*',           5300,   163.4, 163.4, 653.7,  1307.4, 1307.4, 2614.9, NULL,  2614.9),
  ('*MI325X*',           6000,   163.4, 163.4, 653.7,  1307.4, 1307.4, 2614.9, NULL,  2614.9),
  ('*MI350X*',           8000,   72.1,  144.2, NULL,   2306.9, 2306.9, 4613.7, 9227.5, 4613.7),
  ('*MI355X*',           8000,   78.6,  157.3, NULL,   2516.6, 2516.6, 5033.2, 10066.3, 5033.2);
