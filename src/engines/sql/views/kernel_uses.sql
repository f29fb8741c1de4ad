-- reads: _event_name _kernel_use _trace
SELECT
  k.trace_id AS trace_id, t.rank AS rank, k.step AS step, o.name AS op, f.name AS forward_op,
  l.name AS kernel, k.activities AS activities, k.gpu_ns AS gpu_ns
FROM _kernel_use AS k
JOIN _trace AS t
  ON t.trace_id = k.trace_id
LEFT JOIN _event_name AS o
  ON o.id = k.op
LEFT JOIN _event_name AS f
  ON f.id = k.forward_op
LEFT JOIN _event_name AS l
  ON l.id = k.kernel
WHERE
  t.is_graph_capture = 0
