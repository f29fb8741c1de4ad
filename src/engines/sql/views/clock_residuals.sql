-- reads: _clock_pair
SELECT
  row_id AS pair_id, capture_id, host_a AS clock_a, host_b AS clock_b, collectives, residual_p50_ns,
  residual_p95_ns
FROM _clock_pair
