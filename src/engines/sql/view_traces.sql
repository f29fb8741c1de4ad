-- reads: _capture _run _trace
SELECT
  t.trace_id,
  r.run,
  c.capture,
  t.path,
  t.rank,
  t.host,
  t.text_bytes AS bytes,
  t.file_bytes,
  t.events,
  t.slices,
  t.skipped_events,
  t.complete,
  t.base_time_ns,
  t.start_ns,
  t.end_ns,
  t.ingested_at,
  t.header,
  t.world_size,
  t.gpu_name,
  t.gpu_activities,
  t.run_id,
  t.capture_id,
  t.run_start_ns,
  t.folder,
  t.rank_source
FROM _trace AS t
LEFT JOIN _run AS r
  ON r.run_id = t.run_id
LEFT JOIN _capture AS c
  ON c.capture_id = t.capture_id
WHERE
  t.is_graph_capture = 0
