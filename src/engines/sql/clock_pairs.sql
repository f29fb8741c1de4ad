-- reads: captures clock_residuals
SELECT
  c.run AS run, c.capture AS capture, r.clock_a AS clock_a, r.clock_b AS clock_b,
  r.collectives AS collectives,
  r.residual_p50_ns / 1e6 AS residual_p50_ms,
  r.residual_p95_ns / 1e6 AS residual_p95_ms
FROM clock_residuals AS r
JOIN captures AS c
  ON c.capture_id = r.capture_id
WHERE
  (
    ALL_OF(run) OR c.run = GIVEN(run)
  ) AND (
    ALL_OF(capture) OR c.capture = GIVEN(capture)
  )
ORDER BY
  c.run_id NULLS FIRST, c.capture NULLS FIRST, r.pair_id NULLS FIRST
