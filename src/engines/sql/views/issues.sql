-- reads: _issue
SELECT
  trace_id,
  NO_INT() AS source_id,
  kind, count, first_offset, first_excerpt
FROM _issue
