-- reads: _step_use _trace
SELECT
  u.trace_id,
  t.rank,
  u.device,
  u.step,
  u.start_ns,
  u.end_ns,
  u.compute_ns,
  u.communication_ns,
  u.overlap_ns,
  u.exposed_pipeline_ns,
  u.exposed_data_ns,
  u.exposed_tensor_ns,
  u.exposed_expert_ns,
  u.exposed_context_ns,
  u.exposed_other_ns,
  u.exposed_memory_ns,
  u.idle_host_ns,
  u.idle_sync_ns,
  u.idle_dependency_ns,
  u.idle_unknown_ns
FROM _step_use AS u
JOIN _trace AS t
  ON t.trace_id = u.trace_id
