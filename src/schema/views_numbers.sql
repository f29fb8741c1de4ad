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
SELECT id AS slice_id, track AS track_id, event_name AS name_id, kind, ts, dur AS dur_ns
FROM _gpu_slice WHERE @possible:id@;

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
SELECT id AS slice_id, track AS track_id, event_name AS name_id, ts, dur AS dur_ns, correlation
FROM _runtime_slice WHERE @possible:id@;

CREATE VIEW operator_slices AS
-- Slices of the host that are neither in runtime_calls nor in function_slices, in numbers:
-- operators, annotations and others.
--   slice_id: as in slices
--   track_id: in tracks
--   name_id: in names
--   ts: start, less base_ns of the track
--   dur_ns: duration; those of @long_slice_ns@ and more are found by track and start at once
SELECT id AS slice_id, track AS track_id, event_name AS name_id, ts, dur AS dur_ns
FROM _cpu_slice WHERE @possible:id@;

CREATE VIEW function_slices AS
-- Python functions, in numbers.
--   slice_id: as in slices
--   track_id: in tracks
--   name_id: in names
--   ts: start, less base_ns of the track
--   dur_ns: duration; those of @long_slice_ns@ and more are found by track and start at once
SELECT id AS slice_id, track AS track_id, event_name AS name_id, ts, dur AS dur_ns
FROM _python_slice WHERE @possible:id@;

CREATE VIEW memory_devices AS
-- The device that memory_events with these args are of.
--   args_id: in memory_events
--   device_type: 0 host, 1 CUDA
--   device_id: GPU; -1 the host
SELECT id AS args_id, device_type, device_id FROM _args_text;
