-- reads: _args_text _event_name _host_use _trace
SELECT
  h.trace_id AS trace_id, t.rank AS rank, h.step AS step,
  CASE h.kind
    WHEN 0
    THEN 'operator'
    WHEN 1
    THEN 'annotation'
    WHEN 2
    THEN 'function'
    WHEN 3
    THEN 'module'
    WHEN 4
    THEN 'call'
  END AS kind, l.name AS name, a.args AS args, h.calls AS calls, h.total_ns AS total_ns,
  h.self_ns AS self_ns, h.activities AS activities, h.gpu_ns AS gpu_ns,
  h.self_gpu_ns AS self_gpu_ns, h.backward_gpu_ns AS backward_gpu_ns,
  h.self_backward_gpu_ns AS self_backward_gpu_ns, h.event_name AS name_id, h.args_text AS args_id,
  h.graph_calls AS graph_calls
FROM _host_use AS h
JOIN _trace AS t
  ON t.trace_id = h.trace_id
LEFT JOIN _event_name AS l
  ON l.id = h.event_name
LEFT JOIN _args_text AS a
  ON a.id = h.args_text
WHERE
  t.is_graph_capture = 0
