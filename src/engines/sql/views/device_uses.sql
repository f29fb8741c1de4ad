-- reads: _device_use _trace
SELECT
  u.trace_id AS trace_id, t.rank AS rank, u.device AS device, u.start_ns AS start_ns,
  u.end_ns AS end_ns, u.compute_ns AS compute_ns, u.communication_ns AS communication_ns,
  u.overlap_ns AS overlap_ns, u.exposed_communication_ns AS exposed_communication_ns,
  u.exposed_memory_ns AS exposed_memory_ns, u.idle_ns AS idle_ns
FROM _device_use AS u
LEFT JOIN _trace AS t
  ON t.trace_id = u.trace_id
