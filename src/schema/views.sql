-- The views that people query. The comment lines at the top of a view are what `tracedb info
-- --schema` says of it: first the view's, then a line for each column.
--
-- What is dear is a scalar subquery, worked out only where its column is asked for (args,
-- op). What nearly every query asks for is a LEFT JOIN on a key, which it leaves out where a query
-- neither sums nor uses it. DECISION-views.md has the figures.

CREATE VIEW runs AS
-- A training job that was recorded: what is matched, compared or summed is within one.
--   run_id: its number in this database
--   run: its name: as --run says, else the end of its path
--   path: the folder that is the run, absolute
--   world_size: ranks of the job, where a trace says it
--   ranks: how many ranks were recorded
--   captures: how many cycles of the profiler
--   traces: how many traces; 0: other files alone tell of it
--   start_ns: first start of an event
--   end_ns: last end of an event
SELECT r.run_id, r.run, r.path, max(t.world_size) AS world_size, count(DISTINCT t.rank) AS ranks,
       count(DISTINCT t.capture_id) AS captures, count(t.trace_id) AS traces,
       min(t.start_ns) AS start_ns, max(t.end_ns) AS end_ns
FROM _run r LEFT JOIN _trace t ON t.run_id = r.run_id AND NOT t.is_graph_capture
GROUP BY r.run_id, r.run, r.path;

CREATE VIEW captures AS
-- A cycle of the profiler in a run: the traces of its ranks whose times overlap. The time between
-- two belongs to nobody.
--   capture_id: its number in this database
--   run_id: in runs
--   run: its name
--   capture: its number in the run, by start, from 1
--   ranks: how many ranks were recorded in it
--   start_ns: first start of an event
--   end_ns: last end of an event
SELECT c.capture_id, c.run_id, r.run, c.capture, count(*) AS ranks, min(t.start_ns) AS start_ns,
       max(t.end_ns) AS end_ns
FROM _capture c JOIN _run r ON r.run_id = c.run_id JOIN _trace t ON t.capture_id = c.capture_id
GROUP BY c.capture_id, c.run_id, r.run, c.capture;

CREATE VIEW traces AS
-- An ingested file: what one rank recorded in one capture. Files that show how CUDA or HIP graphs
-- were captured are not among them: these are in graph_captures.
--   trace_id: its number in this database
--   run: of which it is, a name in runs
--   capture: of which it is, a number within the run
--   path: as it was given to ingest; '-' for standard input
--   rank: of the process that was traced
--   host: the machine's name, where the trace says it
--   bytes: of JSON, unpacked
--   file_bytes: as read, packed
--   events: events stored
--   slices: of those, with a duration
--   skipped_events: events that are in no table, as they could not be read
--   complete: 0 where the file was cut short or damaged
--   base_time_ns: the header's baseTimeNanoseconds
--   start_ns: first start of an event
--   end_ns: last end of an event
--   ingested_at: in UTC
--   header: JSON object of every key beside the events
--   world_size: ranks of the job, where the trace says it
--   gpu_name: of the first GPU in the header
--   gpu_activities: kernels, copies and fills
--   run_id: in runs
--   capture_id: in captures
--   run_start_ns: first start of an event of its run: start_ms counts from it
--   folder: absolute, in which the file was
--   rank_source: what says the rank: header, file name, option, device order, or chosen as the next
SELECT t.trace_id, r.run, c.capture, t.path, t.rank, t.host, t.text_bytes AS bytes, t.file_bytes,
       t.events, t.slices, t.skipped_events, t.complete, t.base_time_ns, t.start_ns, t.end_ns,
       t.ingested_at, t.header, t.world_size, t.gpu_name, t.gpu_activities, t.run_id,
       t.capture_id, t.run_start_ns, t.folder, t.rank_source
FROM _trace t LEFT JOIN _run r ON r.run_id = t.run_id
     LEFT JOIN _capture c ON c.capture_id = t.capture_id
WHERE NOT t.is_graph_capture;

CREATE VIEW ranks AS
-- A rank of a run, over all its traces.
--   run: a name in runs
--   rank: its number in the job
--   world_size: ranks of the job, where a trace says it
--   host: the machine's name, where a trace says it
--   gpu_name: of the first GPU in a header
--   traces: how many of its files were ingested: one a capture
--   slices: in all of them
--   start_ns: first start of an event
--   end_ns: last end of an event
--   run_id: in runs
SELECT r.run, t.rank, max(t.world_size) AS world_size, max(t.host) AS host,
       max(t.gpu_name) AS gpu_name, count(*) AS traces, sum(t.slices) AS slices,
       min(t.start_ns) AS start_ns, max(t.end_ns) AS end_ns, t.run_id
FROM _trace t LEFT JOIN _run r ON r.run_id = t.run_id
WHERE NOT t.is_graph_capture GROUP BY t.run_id, r.run, t.rank;

CREATE VIEW processes AS
-- A process of a trace, as its metadata events name it.
--   trace_id: its file
--   rank: of that file
--   pid: as the trace writes it, a number or a text
--   name: process_name
--   sort_index: where a timeline shows it
--   labels: process_labels
SELECT trace_id, rank, pid, name, sort_index, labels FROM _process;

CREATE VIEW threads AS
-- A thread of a trace, or a GPU's stream, as its metadata events name it.
--   trace_id: its file
--   rank: of that file
--   pid: its process
--   tid: as the trace writes it, a number or a text
--   name: thread_name
--   sort_index: where a timeline shows it
SELECT trace_id, rank, pid, tid, name, sort_index FROM _thread;

CREATE VIEW streams AS
-- A GPU stream of a rank, over all captures of its run.
--   run: a name in runs
--   rank: of the process that used it
--   device: GPU; a text only where the trace has no number
--   stream: its number on that device
--   activities: kernels, copies and fills
--   start_ns: first start of one
--   end_ns: last end of one
--   busy_ns: length of the union of its activities
--   compute_ns: of its compute kernels
--   communication_ns: of its communication kernels
--   memory_ns: of its copies and fills
SELECT r.run, t.rank, u.device, u.stream, sum(u.activities) AS activities,
       min(u.start_ns) AS start_ns, max(u.end_ns) AS end_ns, sum(u.busy_ns) AS busy_ns,
       sum(u.compute_ns) AS compute_ns, sum(u.communication_ns) AS communication_ns,
       sum(u.memory_ns) AS memory_ns
FROM _stream_use u JOIN _trace t ON t.trace_id = u.trace_id
     LEFT JOIN _run r ON r.run_id = t.run_id
WHERE NOT t.is_graph_capture
GROUP BY t.run_id, r.run, t.rank, u.device, u.stream;

CREATE VIEW busy_segments AS
-- A stretch of time in which the same kinds of activity run on a device; where nothing runs there
-- is none. Those of one trace and device are found by time at once. A gathered database has an
-- outline of them: how long what ran between two moments that ranks are compared by, not when.
--   trace_id: the file
--   rank: of that file
--   device: GPU
--   ts_ns: start
--   dur_ns: length
--   kinds: sum of 1 compute, 2 communication, 4 memory
--   end_ns: end
--   start_ms: start since the first event of its run
--   aligned_ts_ns: start by the aligned clocks
SELECT t.trace_id, t.rank, b.device, b.ts_ns, b.dur_ns, b.kinds, b.ts_ns + b.dur_ns AS end_ns,
       @start_ms:b.ts_ns of b.trace_id@ AS start_ms, @aligned:b.ts_ns@ AS aligned_ts_ns
FROM _trace t CROSS JOIN _busy_segment b  -- in this order: a rank's are found by its traces
     LEFT JOIN _clock c ON c.trace_id = b.trace_id
WHERE b.trace_id = t.trace_id;

CREATE VIEW _cpu_slice_args AS
SELECT s.id AS slice_id, @fill:a.args@ AS args, @others@ AS others
FROM _cpu_slice s LEFT JOIN _args_text a ON a.id = s.args_text
     LEFT JOIN _args_mark m ON m.id = 1;

CREATE VIEW _runtime_slice_args AS
SELECT s.id AS slice_id, @fill:a.args@ AS args, @others@ AS others
FROM _runtime_slice s LEFT JOIN _args_text a ON a.id = s.args_text
     LEFT JOIN _args_mark m ON m.id = 1;

CREATE VIEW _python_slice_args AS
SELECT s.id AS slice_id, @fill:a.args@ AS args, @others@ AS others
FROM _python_slice s LEFT JOIN _args_text a ON a.id = s.args_text
     LEFT JOIN _args_mark m ON m.id = 1;

CREATE VIEW _gpu_slice_args AS
SELECT s.id AS slice_id, @fill:a.args@ AS args, @others@ AS others
FROM _gpu_slice s LEFT JOIN _args_text a ON a.id = s.args_text
     LEFT JOIN _args_mark m ON m.id = 1;

CREATE VIEW _slice_args AS
-- The args of slices, put together again: in views of their own as it takes long.
SELECT slice_id, args, others FROM _cpu_slice_args
UNION ALL SELECT slice_id, args, others FROM _runtime_slice_args
UNION ALL SELECT slice_id, args, others FROM _python_slice_args
UNION ALL SELECT slice_id, args, others FROM _gpu_slice_args;

CREATE VIEW slices AS
-- An event with a duration, of the host or of a GPU.
--   slice_id: its number in this database
--   trace_id: its file
--   rank: of that file
--   category: such as cpu_op, cuda_runtime, python_function, kernel
--   name: as the trace has it
--   ts_ns: start, since 1970 where the trace tells it
--   dur_ns: duration; NULL where the file has none
--   pid: process
--   tid: thread
--   device: GPU, of GPU activities
--   stream: of GPU activities
--   correlation: number that a launch shares with its GPU activity
--   external_id: number of the operator that caused it
--   args: JSON, key for key as in the trace
--   others: JSON of the event's other keys
--   end_ns: end
--   start_ms: start since the first event of its run
SELECT u.id AS slice_id, t.trace_id, t.rank, l.category, l.name, u.ts + t.base_ns AS ts_ns,
       u.dur AS dur_ns, t.pid, t.tid, t.device, t.stream, u.correlation, u.external_id,
       (SELECT g.args FROM _slice_args g WHERE g.slice_id = u.id) AS args,
       (SELECT g.others FROM _slice_args g WHERE g.slice_id = u.id) AS others,
       u.ts + t.base_ns + u.dur AS end_ns, @start_ms:u.ts + t.base_ns of t.trace_id@ AS start_ms
FROM (SELECT id, track, event_name, ts, dur, correlation, external_id FROM _cpu_slice
      UNION ALL
      SELECT id, track, event_name, ts, dur, correlation, external_id FROM _runtime_slice
      UNION ALL
      SELECT id, track, event_name, ts, dur, correlation, external_id FROM _python_slice
      UNION ALL
      SELECT id, track, event_name, ts, dur, correlation, external_id FROM _gpu_slice) u
     LEFT JOIN _track t ON t.id = +u.track
     LEFT JOIN _event_name l ON l.id = +u.event_name;

CREATE VIEW slice_tree AS
-- Slices of the host as they are nested on their threads. Worked out when it is asked: ask for a
-- rank, as in WHERE rank = 0, to have that rank's alone worked out.
--   slice_id: as in slices
--   trace_id: its file
--   rank: of that file
--   step: in which it starts; NULL outside any
--   depth: how many slices it is within; 0 the outermost
--   parent_id: the innermost slice that is open on its thread when it starts; NULL the outermost
--   category: such as cpu_op, cuda_runtime, python_function
--   name: as the trace has it
--   ts_ns: start
--   dur_ns: duration; NULL where the file has none
--   pid: process
--   tid: thread
--   end_ns: end
--   start_ms: start since the first event of its run
SELECT f.id AS slice_id, t.trace_id, f.rank,
       (SELECT p.step FROM _step p JOIN _track q ON q.id = p.track
        WHERE q.trace_id = t.trace_id AND p.ts <= f.ts AND f.ts < p.ts + p.dur LIMIT 1) AS step,
       f.depth, f.id + ((f.opener - f.id + 1073741824) & 2147483647) - 1073741824 AS parent_id,
       l.category, l.name, f.ts + t.base_ns AS ts_ns, f.dur AS dur_ns, t.pid, t.tid,
       f.ts + t.base_ns + f.dur AS end_ns, @start_ms:f.ts + t.base_ns of t.trace_id@ AS start_ms
FROM (
  -- Two rows a slice, by depth: itself, and with is_child = 0 as one within which others may be.
  -- Its parent is the last of those before it: the highest place, and with it the last 31 bits of
  -- the id, which are enough among the ids of a trace.
  SELECT rank, track, event_name, id, ts, dur, depth, is_child,
         max(CASE WHEN is_child = 0 THEN place * 2147483648 + (id & 2147483647) END)
           OVER (PARTITION BY rank, track, depth ORDER BY place, is_child
                 ROWS UNBOUNDED PRECEDING) AS opener
  FROM (
    SELECT rank, track, event_name, id, ts, dur, place, is_child, depth + 1 - is_child AS depth
    FROM (
      -- Starts and ends in the order of time: those that are open are the starts less the ends.
      SELECT rank, track, event_name, id, edge AS ts, dur, is_start,
             sum(CASE WHEN is_start = 0 THEN -1 WHEN dur > 0 THEN 1 ELSE 0 END) OVER w
               - CASE WHEN dur > 0 THEN 1 ELSE 0 END AS depth,
             row_number() OVER w AS place
      FROM (
        SELECT t.rank, s.track, s.event_name, s.id, s.dur, e.is_start,
               CASE WHEN e.is_start = 1 THEN s.ts ELSE s.ts + s.dur END AS edge,
               CASE WHEN s.dur > 0 THEN s.dur ELSE 0 END AS length
        FROM (SELECT id, track, event_name, ts, dur FROM _cpu_slice
              UNION ALL
              SELECT id, track, event_name, ts, dur FROM _runtime_slice
              UNION ALL
              SELECT id, track, event_name, ts, dur FROM _python_slice) s
             LEFT JOIN _track t ON t.id = +s.track
             JOIN (SELECT 1 AS is_start UNION ALL SELECT 0) e ON e.is_start = 1 OR s.dur > 0
        WHERE @possible:s.id@
      )
      WINDOW w AS (PARTITION BY rank, track ORDER BY edge, is_start, length DESC, id
                   ROWS UNBOUNDED PRECEDING)
    ) n JOIN (SELECT 1 AS is_child UNION ALL SELECT 0) c ON c.is_child = 1 OR n.dur > 0
    WHERE n.is_start = 1
  ) b
) f LEFT JOIN _track t ON t.id = +f.track LEFT JOIN _event_name l ON l.id = +f.event_name
WHERE f.is_child = 1;

CREATE VIEW kernels AS
-- A GPU activity: kernel, copy or fill.
--   slice_id: as in slices
--   trace_id: its file
--   rank: of that file
--   device: GPU; a text only where the trace has no number
--   stream: its number on that device
--   category: kernel, gpu_memcpy or gpu_memset
--   name: as the trace has it
--   kind: compute, communication, memory or waiting (for an event of another stream)
--   ts_ns: start
--   dur_ns: duration
--   correlation: number that it shares with its launch
--   external_id: number of the operator that caused it
--   launch_slice_id: the runtime call that launched it
--   launch_ts_ns: start of that call
--   step: in which it was launched, else in which it starts
--   bytes: copied or filled
--   grid: blocks, as [x,y,z]
--   block: threads of a block, as [x,y,z]
--   registers: of a thread
--   shared_memory_bytes: of a block
--   occupancy_pct: the profiler's estimate
--   op: innermost operator in which it was launched
--   path_id: in call_paths: what the host was in when it launched it
--   forward_path_id: of the backward pass: that of the forward operator
--   direction: of a copy: HtoD, DtoH, DtoD, HtoH or PtoP (host, device, peer)
--   end_ns: end
--   start_ms: start since the first event of its run
SELECT s.id AS slice_id, t.trace_id, t.rank, t.device, t.stream, l.category, l.name,
       CASE s.kind WHEN 0 THEN 'compute' WHEN 1 THEN 'communication'
                   WHEN 2 THEN 'memory' ELSE 'waiting' END AS kind,
       s.ts + t.base_ns AS ts_ns, s.dur AS dur_ns, s.correlation, s.external_id,
       k.launch_slice_id, k.launch_ts_ns, k.step, s.bytes, a.grid, a.block, a.registers,
       a.shared_memory_bytes, a.occupancy_pct,
       (SELECT o.name FROM _call_path c JOIN _event_name o ON o.id = c.op
        WHERE c.id = k.path_id) AS op,
       k.path_id, k.forward_path_id,
       CASE WHEN s.kind <> 2 THEN NULL
            WHEN instr(l.name, 'HtoD') OR instr(l.name, 'HostToDevice') THEN 'HtoD'
            WHEN instr(l.name, 'DtoH') OR instr(l.name, 'DeviceToHost') THEN 'DtoH'
            WHEN instr(l.name, 'DtoD') OR instr(l.name, 'DeviceToDevice') THEN 'DtoD'
            WHEN instr(l.name, 'HtoH') OR instr(l.name, 'HostToHost') THEN 'HtoH'
            WHEN instr(l.name, 'PtoP') OR instr(l.name, 'PeerToPeer') THEN 'PtoP'
       END AS direction,
       s.ts + t.base_ns + s.dur AS end_ns, @start_ms:s.ts + t.base_ns of t.trace_id@ AS start_ms
FROM _gpu_slice s LEFT JOIN _track t ON t.id = s.track
     LEFT JOIN _event_name l ON l.id = +s.event_name
     LEFT JOIN _args_text a ON a.id = +s.args_text LEFT JOIN _launch k ON k.id = s.id;
