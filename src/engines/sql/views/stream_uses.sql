-- reads: _stream_use _trace
SELECT
  u.trace_id AS trace_id, t.rank AS rank, u.device AS device, u.stream AS stream,
  u.activities AS activities, u.start_ns AS start_ns, u.end_ns AS end_ns, u.busy_ns AS busy_ns,
  u.compute_ns AS compute_ns, u.communication_ns AS communication_ns, u.memory_ns AS memory_ns
FROM _stream_use AS u
LEFT JOIN _trace AS t
  ON t.trace_id = u.trace_id
