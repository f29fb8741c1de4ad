-- reads: _step_use _trace
SELECT
  u.trace_id AS trace_id, t.rank AS rank, u.device AS device, u.step AS step,
  u.start_ns AS start_ns, u.end_ns AS end_ns, u.compute_ns AS compute_ns,
  u.communication_ns AS communication_ns, u.overlap_ns AS overlap_ns,
  u.exposed_pipeline_ns AS exposed_pipeline_ns, u.exposed_data_ns AS exposed_data_ns,
  u.exposed_tensor_ns AS exposed_tensor_ns, u.exposed_expert_ns AS exposed_expert_ns,
  u.exposed_context_ns AS exposed_context_ns, u.exposed_other_ns AS exposed_other_ns,
  u.exposed_memory_ns AS exposed_memory_ns, u.idle_host_ns AS idle_host_ns,
  u.idle_sync_ns AS idle_sync_ns, u.idle_dependency_ns AS idle_dependency_ns,
  u.idle_unknown_ns AS idle_unknown_ns
FROM _step_use AS u
JOIN _trace AS t
  ON t.trace_id = u.trace_id
