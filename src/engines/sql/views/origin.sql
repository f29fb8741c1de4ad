-- reads: _trace
SELECT
  COUNT(*) AS traces,
  MIN(start_ns) AS zero_ns
FROM _trace
WHERE
  is_graph_capture = 0
