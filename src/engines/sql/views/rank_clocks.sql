-- reads: _clock _trace
SELECT
  c.trace_id AS trace_id, t.rank AS rank, c.host AS clock, c.reference_rank AS reference_rank,
  c.offset_ns AS offset_ns, c.drift_ppb AS drift_ppb, c.origin_ns AS origin_ns,
  c.residual_p95_ns AS residual_p95_ns, c.refused_ns AS refused_ns
FROM _clock AS c
LEFT JOIN _trace AS t
  ON t.trace_id = c.trace_id
