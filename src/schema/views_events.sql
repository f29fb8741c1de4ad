-- The other events of a trace as they stand in it: steps, instants, counters, arrows, memory,
-- metadata; and what was wrong in a file.

CREATE VIEW steps AS
-- A training step of a rank: the slice ProfilerStep#N of a file in traces.
--   rank: of the process
--   step: N
--   ts_ns: start
--   dur_ns: duration
--   trace_id: its file
--   slice_id: as in slices
--   end_ns: end
--   start_ms: start since the first event of its run
--   track_id: its thread, as in tracks
SELECT t.rank, s.step, s.ts + t.base_ns AS ts_ns, s.dur AS dur_ns, t.trace_id, s.id AS slice_id,
       s.ts + t.base_ns + s.dur AS end_ns, @start_ms:s.ts + t.base_ns of t.trace_id@ AS start_ms,
       s.track AS track_id
FROM _step s LEFT JOIN _track t ON t.id = +s.track
WHERE t.trace_id NOT IN (SELECT trace_id FROM _trace WHERE is_graph_capture);

CREATE VIEW instants AS
-- An event without a duration, and every phase without a table of its own.
--   instant_id: its number in this database
--   trace_id: its file
--   rank: of that file
--   category: as the trace has it
--   name: as the trace has it
--   phase: its letter in the trace
--   ts_ns: when it was
--   pid: process
--   tid: thread
--   args: JSON, key for key as in the trace
--   others: JSON of the event's other keys
--   end_ns: as ts_ns
--   start_ms: when, since the first event of its run
SELECT s.id AS instant_id, t.trace_id, t.rank, l.category, l.name, s.phase,
       s.ts + t.base_ns AS ts_ns, t.pid, t.tid, @fill:a.args@ AS args, @others@ AS others,
       s.ts + t.base_ns AS end_ns, @start_ms:s.ts + t.base_ns of t.trace_id@ AS start_ms
FROM _instant s LEFT JOIN _track t ON t.id = +s.track
     LEFT JOIN _event_name l ON l.id = +s.event_name
     LEFT JOIN _args_text a ON a.id = +s.args_text
     LEFT JOIN _args_mark m ON m.id = 1;

CREATE VIEW counters AS
-- One value of a counter event.
--   counter_id: the event's number in this database
--   trace_id: its file
--   rank: of that file
--   category: as the trace has it
--   name: of the counter
--   series: key of the value
--   value: the value
--   ts_ns: when it was counted
--   pid: process
--   tid: thread
--   others: JSON of the event's other keys
--   end_ns: as ts_ns
--   start_ms: when, since the first event of its run
SELECT s.id AS counter_id, t.trace_id, t.rank, l.category, l.name, j.key AS series,
       j.value AS value, s.ts + t.base_ns AS ts_ns, t.pid, t.tid, @others@ AS others,
       s.ts + t.base_ns AS end_ns, @start_ms:s.ts + t.base_ns of t.trace_id@ AS start_ms
FROM _counter_event s LEFT JOIN _track t ON t.id = +s.track
     LEFT JOIN _event_name l ON l.id = +s.event_name
     LEFT JOIN _args_text a ON a.id = +s.args_text
     LEFT JOIN _args_mark m ON m.id = 1
     LEFT JOIN json_each(coalesce(@fill:a.args@, '{}')) j ON TRUE;

CREATE VIEW flows AS
-- One end of an arrow; those of one category and flow_id belong together.
--   flow_event_id: its number in this database
--   trace_id: its file
--   rank: of that file
--   category: such as ac2g (launch to GPU activity) or fwdbwd (forward to backward)
--   name: as the trace has it
--   phase: s start, t step, f end
--   flow_id: number of the arrow
--   ts_ns: when
--   pid: process
--   tid: thread
--   args: JSON, key for key as in the trace
--   others: JSON of the event's other keys
--   end_ns: as ts_ns
--   start_ms: when, since the first event of its run
SELECT s.id AS flow_event_id, t.trace_id, t.rank, l.category, l.name, s.phase,
       s.event_id AS flow_id, s.ts + t.base_ns AS ts_ns, t.pid, t.tid, @fill:a.args@ AS args,
       @others@ AS others, s.ts + t.base_ns AS end_ns,
       @start_ms:s.ts + t.base_ns of t.trace_id@ AS start_ms
FROM _flow s LEFT JOIN _track t ON t.id = +s.track
     LEFT JOIN _event_name l ON l.id = +s.event_name
     LEFT JOIN _args_text a ON a.id = +s.args_text
     LEFT JOIN _args_mark m ON m.id = 1;

CREATE VIEW memory_events AS
-- An allocation or a release of memory by PyTorch.
--   instant_id: as in instants
--   trace_id: its file
--   rank: of that file
--   ts_ns: when it was
--   device_type: 0 host, 1 CUDA
--   device_id: GPU; -1 the host
--   addr: address
--   bytes: above 0 allocated, below 0 released
--   total_allocated_bytes: on the device after it
--   total_reserved_bytes: on the device after it
--   pid: process
--   tid: thread
--   end_ns: as ts_ns
--   start_ms: when, since the first event of its run
--   track_id: in tracks
--   args_id: in memory_devices
SELECT s.id AS instant_id, t.trace_id, t.rank, s.ts + t.base_ns AS ts_ns, a.device_type,
       a.device_id, s.addr, s.bytes, s.total_allocated AS total_allocated_bytes,
       s.total_reserved AS total_reserved_bytes, t.pid, t.tid, s.ts + t.base_ns AS end_ns,
       @start_ms:s.ts + t.base_ns of t.trace_id@ AS start_ms, s.track AS track_id,
       s.args_text AS args_id
FROM _instant s LEFT JOIN _track t ON t.id = +s.track
     LEFT JOIN _args_text a ON a.id = +s.args_text
WHERE s.event_name IN (SELECT id FROM _event_name WHERE name = '[memory]')
      AND @possible:s.id@;

CREATE VIEW metadata AS
-- A metadata event as it stands in the file.
--   metadata_id: its number in this database
--   trace_id: its file
--   rank: of that file
--   name: such as process_name, thread_name
--   ts_ns: where it has a time
--   pid: process
--   tid: thread
--   args: JSON, key for key as in the trace
--   others: JSON of the event's other keys
--   end_ns: as ts_ns
--   start_ms: when, since the first event of its run
SELECT s.id AS metadata_id, t.trace_id, t.rank, l.name,
       s.ts + ifnull(r.base_time_ns, 0) AS ts_ns, t.pid, t.tid, @fill:a.args@ AS args,
       @others@ AS others, s.ts + ifnull(r.base_time_ns, 0) AS end_ns,
       @start_ms:s.ts + ifnull(r.base_time_ns, 0) of t.trace_id@ AS start_ms
FROM _metadata_event s LEFT JOIN _track t ON t.id = +s.track
     LEFT JOIN _event_name l ON l.id = +s.event_name
     LEFT JOIN _trace r ON r.trace_id = t.trace_id
     LEFT JOIN _args_text a ON a.id = +s.args_text
     LEFT JOIN _args_mark m ON m.id = 1;

CREATE VIEW impossible_times AS
-- An event with a time that cannot be: more than a year from where the bulk of its trace is, longer
-- than 100 days, or a GPU activity at ts 0 hours before all else. It is in slices and kernels, or
-- instants, flows and counters, as it was read, and in nothing that is worked out. For example a
-- kernel with "ts": 0, "dur": 9223372036854775 in a trace of 2026.
--   event_id: its number in this database
--   trace_id: its file
--   rank: of that file
--   category: as the trace has it
--   name: as the trace has it
--   ts_ns: start
--   dur_ns: duration, of slices
--   device: GPU, of GPU activities
--   end_ns: end; a REAL where it does not fit 64 bits
--   start_ms: start since the first event of its run
SELECT i.id AS event_id, t.trace_id, t.rank, l.category, l.name, u.ts + t.base_ns AS ts_ns,
       u.dur AS dur_ns, t.device, u.ts + t.base_ns + u.dur AS end_ns,
       @start_ms:u.ts + t.base_ns of t.trace_id@ AS start_ms
FROM _impossible_time i
     CROSS JOIN (SELECT id, track, event_name, ts, dur FROM _cpu_slice
                 UNION ALL SELECT id, track, event_name, ts, dur FROM _runtime_slice
                 UNION ALL SELECT id, track, event_name, ts, dur FROM _python_slice
                 UNION ALL SELECT id, track, event_name, ts, dur FROM _gpu_slice
                 UNION ALL SELECT id, track, event_name, ts, NULL FROM _instant
                 UNION ALL SELECT id, track, event_name, ts, NULL FROM _flow
                 UNION ALL SELECT id, track, event_name, ts, NULL FROM _counter_event) u
     LEFT JOIN _track t ON t.id = +u.track
     LEFT JOIN _event_name l ON l.id = +u.event_name
WHERE u.id = i.id;

CREATE VIEW issues AS
-- What was wrong in a file.
--   trace_id: the file; NULL: it is no trace, or a rank that is missing in a gathered database
--   source_id: the file, when it is no trace
--   kind: such as malformed_event; tracedb doctor says what each means
--   count: how often
--   first_offset: where first: bytes from the start of the unpacked text
--   first_excerpt: what stands there
SELECT trace_id, NULL AS source_id, kind, count, first_offset, first_excerpt FROM _issue
UNION ALL SELECT NULL, source_id, kind, count, first_offset, first_excerpt FROM _source_issue;
