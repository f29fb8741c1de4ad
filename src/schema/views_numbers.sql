-- Narrow views, for sums over millions of rows: they have ids where the others have texts, and cost
-- what their tables cost. Events with a time that cannot be (impossible_times) are not in those
-- that have times.

CREATE VIEW tracks AS
-- A thread of the host or a stream of a GPU, in one trace.
--   track_id: its number in this database
--   trace_id: its file
--   rank: of that file
--   pid: process
--   tid: thread
--   device: GPU, of streams
--   stream: its number on that device
--   base_ns: to be added to ts
SELECT id AS track_id, trace_id, rank, pid, tid, device, stream, base_ns FROM _track;

CREATE VIEW names AS
-- A name of events; equal ones of several categories or traces have several numbers.
--   name_id: its number in this database
--   name: as the trace has it
--   category: NULL where the events have none
SELECT id AS name_id, name, category FROM _event_name;

CREATE VIEW args_texts AS
-- What is alike in the args of many events.
--   args_id: its number in this database
--   args: JSON, null in place of values that differ from event to event
SELECT a.id AS args_id, @emptied:a.args@ AS args
FROM _args_text a LEFT JOIN _args_mark m ON m.id = 1;

CREATE VIEW activity_times AS
-- The rows of kernels in numbers: what needs no launch.
--   slice_id: as in slices
--   track_id: in tracks
--   name_id: in names
--   kind: 0 compute, 1 communication, 2 memory, 3 waiting
--   ts: start, less base_ns of the track
--   dur_ns: duration
--   aligned_ts_ns: start by the aligned clocks
SELECT id AS slice_id, track AS track_id, event_name AS name_id, kind, ts, dur AS dur_ns,
       @aligned_start:s@ AS aligned_ts_ns
FROM _gpu_slice s WHERE @possible:id@;

CREATE VIEW activities AS
-- The rows of kernels in numbers.
--   slice_id: as in slices
--   track_id: in tracks
--   name_id: in names
--   kind: 0 compute, 1 communication, 2 memory, 3 waiting
--   ts: start, less base_ns of the track
--   dur_ns: duration
--   correlation: number that it shares with its launch
--   bytes: copied or filled
--   launch_slice_id: the runtime call that launched it
--   launch_ts_ns: start of that call
--   step: in which it was launched, else in which it starts
SELECT s.id AS slice_id, s.track AS track_id, s.event_name AS name_id, s.kind, s.ts,
       s.dur AS dur_ns, s.correlation, s.bytes, k.launch_slice_id, k.launch_ts_ns, k.step
FROM _gpu_slice s LEFT JOIN _launch k ON k.id = s.id WHERE @possible:s.id@;

CREATE VIEW launches AS
-- Of a GPU activity: the call that launched it, and where.
--   slice_id: of the activity, as in slices
--   launch_slice_id: the runtime call
--   launch_ts_ns: start of that call
--   step: in which it was launched, else in which it starts
--   path_id: in call_paths
--   forward_path_id: of the backward pass: that of the forward operator
SELECT id AS slice_id, launch_slice_id, launch_ts_ns, step, path_id, forward_path_id FROM _launch;

CREATE VIEW runtime_calls AS
-- Calls of the runtime or driver, in numbers.
--   slice_id: as in slices
--   track_id: in tracks
--   name_id: in names
--   ts: start, less base_ns of the track
--   dur_ns: duration
--   correlation: number that a launch shares with its GPU activity
--   aligned_ts_ns: start by the aligned clocks
SELECT id AS slice_id, track AS track_id, event_name AS name_id, ts, dur AS dur_ns, correlation,
       @aligned_start:s@ AS aligned_ts_ns
FROM _runtime_slice s WHERE @possible:id@;

CREATE VIEW memory_times AS
-- The rows of memory_events in numbers.
--   instant_id: as in instants
--   track_id: in tracks
--   args_id: in memory_devices
--   ts: when it was, less base_ns of the track
--   bytes: above 0 allocated, below 0 released
--   total_allocated_bytes: on the device after it
--   total_reserved_bytes: on the device after it
SELECT id AS instant_id, track AS track_id, args_text AS args_id, ts, bytes,
       total_allocated AS total_allocated_bytes, total_reserved AS total_reserved_bytes
FROM _instant
WHERE event_name IN (SELECT id FROM _event_name WHERE name = '[memory]') AND @possible:id@;

CREATE VIEW memory_pieces AS
-- A few memory events of one thread and device that come one after the other: every memory event
-- is in one of them. Its events are the rows of memory_times with this track_id and args_id from
-- first_id to last_id; +track_id and +args_id keep SQLite from making an index for them.
--   trace_id: its file
--   track_id: in tracks
--   args_id: in memory_devices
--   first_id: the first of them
--   last_id: the last of them
--   events: how many
--   start_ts: the least ts
--   start_id: the first event at that ts
--   end_ts: the greatest ts
--   end_id: the last event at that ts
--   min_allocated: the least of total_allocated_bytes
--   max_allocated: the greatest
--   min_reserved: the least of total_reserved_bytes
--   max_reserved: the greatest
--   allocations: how many have bytes above 0
--   releases: below 0
--   taken_bytes: sum of bytes above 0
--   sum_bytes: of all
--   largest_bytes: the greatest of them
SELECT trace_id, track AS track_id, args_text AS args_id, first_id, last_id, events, start_ts,
       start_id, end_ts, end_id, min_allocated, max_allocated, min_reserved, max_reserved,
       allocations, releases, taken_bytes, sum_bytes, largest_bytes
FROM _memory_piece WHERE NOT is_odd
UNION ALL
SELECT p.trace_id, m.track_id, m.args_id, m.instant_id, m.instant_id, 1, m.ts, m.instant_id, m.ts,
       m.instant_id, m.total_allocated_bytes, m.total_allocated_bytes, m.total_reserved_bytes,
       m.total_reserved_bytes, m.bytes > 0, m.bytes < 0,
       CASE WHEN m.bytes < 0 THEN 0 ELSE m.bytes END, m.bytes, m.bytes
FROM _memory_piece p CROSS JOIN memory_times m  -- in this order
WHERE p.is_odd AND m.instant_id BETWEEN p.first_id AND p.last_id
      AND +m.track_id = p.track AND coalesce(m.args_id, -1) = coalesce(p.args_text, -1);

CREATE VIEW operator_slices AS
-- Slices of the host that are neither in runtime_calls nor in function_slices, in numbers:
-- operators, annotations and others.
--   slice_id: as in slices
--   track_id: in tracks
--   name_id: in names
--   ts: start, less base_ns of the track
--   dur_ns: duration; those of @long_slice_ns@ and more are found by track and start at once
--   aligned_ts_ns: start by the aligned clocks
SELECT id AS slice_id, track AS track_id, event_name AS name_id, ts, dur AS dur_ns,
       @aligned_start:s@ AS aligned_ts_ns
FROM _cpu_slice s WHERE @possible:id@;

CREATE VIEW function_slices AS
-- Python functions, in numbers.
--   slice_id: as in slices
--   track_id: in tracks
--   name_id: in names
--   ts: start, less base_ns of the track
--   dur_ns: duration; those of @long_slice_ns@ and more are found by track and start at once
--   aligned_ts_ns: start by the aligned clocks
SELECT id AS slice_id, track AS track_id, event_name AS name_id, ts, dur AS dur_ns,
       @aligned_start:s@ AS aligned_ts_ns
FROM _python_slice s WHERE @possible:id@;

CREATE VIEW aligned_slices AS
-- All slices in numbers, by the aligned clocks: for a timeline of several ranks.
--   slice_id: as in slices
--   track_id: in tracks
--   name_id: in names
--   kind: of GPU activities as in activity_times; NULL of the host's
--   ts: start, less base_ns of the track
--   dur_ns: duration
--   aligned_ts_ns: start by the aligned clocks
SELECT s.id AS slice_id, s.track AS track_id, s.event_name AS name_id, s.kind, s.ts,
       s.dur AS dur_ns, @aligned:(s.ts + t.base_ns)@ AS aligned_ts_ns
FROM (SELECT id, track, event_name, kind, ts, dur FROM _gpu_slice
      UNION ALL SELECT id, track, event_name, NULL, ts, dur FROM _cpu_slice
      UNION ALL SELECT id, track, event_name, NULL, ts, dur FROM _runtime_slice
      UNION ALL SELECT id, track, event_name, NULL, ts, dur FROM _python_slice) s
     LEFT JOIN _track t ON t.id = s.track LEFT JOIN _clock c ON c.trace_id = t.trace_id
WHERE @possible:s.id@;

CREATE VIEW slice_parts AS
-- The slices of a trace by number, a thousand or so at a time: those of a window of time are found
-- by the parts that it touches.
--   trace_id: their file
--   first_id: least slice_id
--   last_id: greatest
--   start_ts: least ts of them; NULL where it is not known
--   end_ts: greatest end, less base_ns as ts
SELECT t.trace_id, r.id AS first_id, r.last_id, r.start_ts, r.end_ts
FROM _trace t CROSS JOIN _row_times r  -- in this order
WHERE r.id BETWEEN t.first_row AND t.last_row
UNION ALL
SELECT trace_id, first_row, last_row, NULL, NULL FROM _trace
WHERE NOT EXISTS (SELECT 1 FROM _row_times WHERE id BETWEEN first_row AND last_row);

CREATE VIEW memory_devices AS
-- The device that memory_events with these args are of.
--   args_id: in memory_events
--   device_type: 0 host, 1 CUDA
--   device_id: GPU; -1 the host
SELECT id AS args_id, device_type, device_id FROM _args_text;

CREATE VIEW op_kernels AS
-- GPU activities of one name by the innermost operator that launched them, and by its args.
--   trace_id: their file
--   step: in which they were launched; NULL outside any
--   op_id: the operator, in names; NULL where the trace does not tell
--   args_id: its args, in args_texts; as in host_uses
--   kernel_id: in names
--   kind: as in activities: 0 compute, 1 communication, 2 memory, 3 waiting
--   activities: how many
--   gpu_ns: sum of their durations
WITH RECURSIVE ran AS MATERIALIZED (
  SELECT s.track, s.event_name, s.kind, k.step, k.path_id, count(*) AS activities,
         sum(s.dur) AS gpu_ns
  FROM _gpu_slice s LEFT JOIN _launch k ON k.id = s.id
  WHERE @possible:s.id@ AND ifnull(s.dur, 0) >= 0
  GROUP BY k.step, k.path_id, s.event_name, s.track, s.kind  -- rows nearly are in this order
),
climb (path_id, place) AS (  -- from where a launch was made up to an operator
  SELECT DISTINCT path_id, path_id FROM ran WHERE path_id IS NOT NULL
  UNION ALL
  SELECT c.path_id, p.parent_id FROM climb c JOIN _call_path p ON p.id = c.place
  WHERE p.kind <> 0 AND p.parent_id IS NOT NULL
),
operator AS MATERIALIZED (
  SELECT c.path_id, p.event_name, p.args_text
  FROM climb c JOIN _call_path p ON p.id = c.place WHERE p.kind = 0
)
SELECT t.trace_id, r.step, o.event_name AS op_id, o.args_text AS args_id,
       r.event_name AS kernel_id, r.kind, sum(r.activities) AS activities,
       sum(r.gpu_ns) AS gpu_ns
FROM ran r JOIN _track t ON t.id = r.track LEFT JOIN operator o ON o.path_id = r.path_id
GROUP BY t.trace_id, r.step, o.event_name, o.args_text, r.event_name, r.kind;
