-- reads: _capture _run _trace
SELECT
  t.trace_id AS trace_id, r.run AS run, c.capture AS capture, t.path AS path, t.rank AS rank,
  t.host AS host, t.text_bytes AS bytes, t.file_bytes AS file_bytes, t.events AS events,
  t.slices AS slices, t.skipped_events AS skipped_events, t.complete AS complete,
  t.base_time_ns AS base_time_ns, t.start_ns AS start_ns, t.end_ns AS end_ns,
  t.ingested_at AS ingested_at, t.header AS header, t.world_size AS world_size,
  t.gpu_name AS gpu_name, t.gpu_activities AS gpu_activities, t.run_id AS run_id,
  t.capture_id AS capture_id, t.run_start_ns AS run_start_ns, t.folder AS folder,
  t.rank_source AS rank_source
FROM _trace AS t
LEFT JOIN _run AS r
  ON r.run_id = t.run_id
LEFT JOIN _capture AS c
  ON c.capture_id = t.capture_id
WHERE
  t.is_graph_capture = 0
