-- Rules by which names are understood. People may add rows before an ingest.

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
