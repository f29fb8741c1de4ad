-- reads: issues traces
SELECT
  f.run AS run, f.capture AS capture, f.rank AS rank, f.path AS path, i.kind AS kind,
  i.count AS count, i.first_offset AS first_offset, i.first_excerpt AS first_excerpt
FROM issues AS i
LEFT JOIN (
  SELECT
    trace_id,
    NO_INT() AS source_id,
    run, capture, rank, path
  FROM traces
) AS f
  ON f.trace_id = i.trace_id
WHERE
  (
    NOT f.path IS NULL OR (
      i.trace_id IS NULL AND i.source_id IS NULL
    )
  )
  AND (
    ALL_OF(run) OR f.run = GIVEN(run)
  )
  AND (
    ALL_OF(capture) OR f.capture = GIVEN(capture)
  )
ORDER BY
  f.run NULLS FIRST, f.capture NULLS FIRST, f.rank NULLS FIRST, f.trace_id NULLS FIRST,
  f.source_id NULLS FIRST, i.first_offset NULLS FIRST, i.kind NULLS FIRST
