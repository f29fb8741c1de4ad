-- reads: _stream_use _trace
SELECT
  u.trace_id,
  t.rank,
  u.device,
  u.stream,
  u.activities,
  u.start_ns,
  u.end_ns,
  u.busy_ns,
  u.compute_ns,
  u.communication_ns,
  u.memory_ns
FROM _stream_use AS u
LEFT JOIN _trace AS t
  ON t.trace_id = u.trace_id
