CREATE VIEW traces AS  -- an ingested file
SELECT trace_id, path, rank, host, text_bytes AS bytes, file_bytes, events, slices,
       skipped_events, complete, base_time_ns, start_ns, end_ns, ingested_at, header, world_size,
       gpu_name, gpu_activities
FROM _trace;

CREATE VIEW ranks AS  -- a rank, over all its traces
SELECT rank, max(world_size) AS world_size, max(host) AS host, max(gpu_name) AS gpu_name,
       count(*) AS traces, sum(slices) AS slices, min(start_ns) AS start_ns,
       max(end_ns) AS end_ns
FROM _trace GROUP BY rank;

CREATE VIEW processes AS SELECT trace_id, rank, pid, name, sort_index, labels FROM _process;

CREATE VIEW threads AS SELECT trace_id, rank, pid, tid, name, sort_index FROM _thread;

CREATE VIEW streams AS  -- a GPU stream of a rank
SELECT rank, device, stream, activities, start_ns, end_ns, busy_ns FROM _stream_use;

CREATE VIEW slices AS  -- a duration event; dur_ns is NULL where the file has none
SELECT s.id AS slice_id, t.trace_id, t.rank, l.category, l.name, s.ts + t.base_ns AS ts_ns,
       s.dur AS dur_ns, t.pid, t.tid, t.device, t.stream, s.correlation, s.external_id,
       @fill:a.args@ AS args, @others@ AS others
FROM _cpu_slice s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
UNION ALL
SELECT s.id, t.trace_id, t.rank, l.category, l.name, s.ts + t.base_ns, s.dur, t.pid, t.tid,
       t.device, t.stream, s.correlation, s.external_id, @fill:a.args@, @others@
FROM _runtime_slice s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
UNION ALL
SELECT s.id, t.trace_id, t.rank, l.category, l.name, s.ts + t.base_ns, s.dur, t.pid, t.tid,
       t.device, t.stream, s.correlation, s.external_id, @fill:a.args@, @others@
FROM _python_slice s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
UNION ALL
SELECT s.id, t.trace_id, t.rank, l.category, l.name, s.ts + t.base_ns, s.dur, t.pid, t.tid,
       t.device, t.stream, s.correlation, s.external_id, @fill:a.args@, @others@
FROM _gpu_slice s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text;

CREATE VIEW kernels AS  -- a GPU activity: kernel, memcpy or memset
SELECT s.id AS slice_id, t.trace_id, t.rank, t.device, t.stream, l.category, l.name,
       CASE s.kind WHEN 0 THEN 'compute' WHEN 1 THEN 'communication'
                   WHEN 2 THEN 'memory' ELSE 'waiting' END AS kind,
       s.ts + t.base_ns AS ts_ns, s.dur AS dur_ns, s.correlation, s.external_id,
       k.launch_slice_id, k.launch_ts_ns, k.step, s.bytes, a.grid, a.block, a.registers,
       a.shared_memory_bytes, a.occupancy_pct, o.name AS op, k.path_id, k.forward_path_id
FROM _gpu_slice s JOIN _track t ON t.id = s.track JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text LEFT JOIN _launch k ON k.id = s.id
     LEFT JOIN _call_path c ON c.id = k.path_id LEFT JOIN _event_name o ON o.id = c.op;

CREATE VIEW steps AS  -- a ProfilerStep of a rank
SELECT t.rank, s.step, s.ts + t.base_ns AS ts_ns, s.dur AS dur_ns, t.trace_id, s.id AS slice_id
FROM _step s JOIN _track t ON t.id = s.track;

CREATE VIEW instants AS  -- an event without a duration, and every phase without a table
SELECT s.id AS instant_id, t.trace_id, t.rank, l.category, l.name, s.phase,
       s.ts + t.base_ns AS ts_ns, t.pid, t.tid, @fill:a.args@ AS args, @others@ AS others
FROM _instant s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text;

CREATE VIEW counters AS  -- one value of a counter event
SELECT s.id AS counter_id, t.trace_id, t.rank, l.category, l.name, j.key AS series,
       j.value AS value, s.ts + t.base_ns AS ts_ns, t.pid, t.tid, @others@ AS others
FROM _counter_event s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
     LEFT JOIN json_each(coalesce(@fill:a.args@, '{}')) j;

CREATE VIEW flows AS  -- one end of an arrow; those of one category and flow_id belong together
SELECT s.id AS flow_event_id, t.trace_id, t.rank, l.category, l.name, s.phase,
       s.event_id AS flow_id, s.ts + t.base_ns AS ts_ns, t.pid, t.tid, @fill:a.args@ AS args,
       @others@ AS others
FROM _flow s CROSS JOIN _track t ON t.id = s.track CROSS JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text;

CREATE VIEW memory_events AS  -- an allocation (bytes > 0) or a release (bytes < 0)
SELECT s.id AS instant_id, t.trace_id, t.rank, s.ts + t.base_ns AS ts_ns, a.device_type,
       a.device_id, s.addr, s.bytes, s.total_allocated AS total_allocated_bytes,
       s.total_reserved AS total_reserved_bytes, t.pid, t.tid, s.track AS track_id,
       s.args_text AS args_id
FROM _instant s LEFT JOIN _track t ON t.id = s.track LEFT JOIN _args_text a ON a.id = s.args_text
WHERE s.event_name IN (SELECT id FROM _event_name WHERE name = '[memory]');

CREATE VIEW metadata AS  -- a metadata event as it stands in the file
SELECT s.id AS metadata_id, t.trace_id, t.rank, l.name,
       s.ts + ifnull(r.base_time_ns, 0) AS ts_ns, t.pid, t.tid, @fill:a.args@ AS args,
       @others@ AS others
FROM _metadata_event s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN _event_name l ON l.id = s.event_name
     CROSS JOIN _trace r ON r.trace_id = t.trace_id
     LEFT JOIN _args_text a ON a.id = s.args_text;

CREATE VIEW issues AS  -- what was wrong in a file
SELECT trace_id, kind, count, first_offset, first_excerpt FROM _issue;
