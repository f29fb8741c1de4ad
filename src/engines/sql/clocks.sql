-- reads: rank_clocks traces
SELECT
  t.run AS run, t.capture AS capture, t.rank AS rank, c.clock AS clock,
  c.reference_rank AS reference_rank,
  COALESCE(
    CASE
      WHEN c.offset_ns <> 0 OR c.drift_ppb <> 0
      THEN 1
      WHEN NOT (
        c.offset_ns <> 0 OR c.drift_ppb <> 0
      )
      THEN 0
    END, 0
  ) AS is_corrected,
  c.offset_ns / 1e6 AS offset_ms,
  c.drift_ppb / 1e3 AS drift_ppm,
  (
    c.origin_ns - t.start_ns
  ) / 1e6 AS middle_ms,
  c.residual_p95_ns / 1e6 AS residual_p95_ms,
  c.refused_ns / 1e6 AS refused_ms
FROM traces AS t
LEFT JOIN rank_clocks AS c
  ON c.trace_id = t.trace_id
WHERE
  (
    ALL_OF(run) OR t.run = GIVEN(run)
  ) AND (
    ALL_OF(capture) OR t.capture = GIVEN(capture)
  )
ORDER BY
  t.run_id NULLS FIRST, t.capture NULLS FIRST, t.rank NULLS FIRST, t.trace_id NULLS FIRST
