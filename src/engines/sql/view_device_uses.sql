-- reads: _device_use _trace
SELECT
  u.trace_id,
  t.rank,
  u.device,
  u.start_ns,
  u.end_ns,
  u.compute_ns,
  u.communication_ns,
  u.overlap_ns,
  u.exposed_communication_ns,
  u.exposed_memory_ns,
  u.idle_ns
FROM _device_use AS u
LEFT JOIN _trace AS t
  ON t.trace_id = u.trace_id
