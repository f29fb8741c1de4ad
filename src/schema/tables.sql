-- The database of tracedb. People query the views with plural names; the tables with singular
-- names that begin with _ are how the rows are stored, and may change between versions.
--
-- An event's row carries numbers only: its texts are in event_name (name and category), track (pid,
-- tid, device, stream) and args_text (args). Numbers that differ from event to event were taken out
-- of the args into columns; a control character marks where each was, and the views put them
-- back. ts is in ns since an instant that track.base_ns says: absolute time is ts + base_ns.

CREATE TABLE _trace (
  trace_id INTEGER PRIMARY KEY,
  path TEXT NOT NULL,             -- as it was given to ingest; '-' for standard input
  rank INTEGER NOT NULL,
  folder TEXT NOT NULL,           -- absolute, in which the file is; of standard input: from which
  input_folder TEXT,              -- absolute, when a folder was given; NULL: the file itself was
  named_run TEXT,                 -- as --run says
  run_id INTEGER,                 -- in _run and _capture: decided each time that a trace lands
  capture_id INTEGER,
  run_start_ns INTEGER,           -- first start of an event of its run
  is_graph_capture INTEGER NOT NULL DEFAULT 0,  -- 1: it shows how graphs were captured, and is no
                                  -- rank of the job: as its name or its folder says
  rank_source TEXT NOT NULL,      -- header, file name, option, communicator, device order or chosen
  world_size INTEGER,
  host TEXT,
  gpu_name TEXT,
  file_bytes INTEGER NOT NULL,    -- as read, packed
  text_bytes INTEGER NOT NULL,    -- JSON, unpacked
  events INTEGER NOT NULL,        -- events stored
  slices INTEGER NOT NULL,
  gpu_activities INTEGER NOT NULL,  -- rows of gpu_slice
  skipped_events INTEGER NOT NULL,
  complete INTEGER NOT NULL,      -- 0: the file was cut short or damaged
  base_time_ns INTEGER,           -- header's baseTimeNanoseconds
  start_ns INTEGER,               -- first start of an event
  end_ns INTEGER,                 -- last end of an event
  first_row INTEGER NOT NULL,     -- row ids in the event tables, names, tracks and args texts
  last_row INTEGER NOT NULL,
  first_text INTEGER NOT NULL,
  last_text INTEGER NOT NULL,
  text_hash TEXT NOT NULL,        -- XXH3-128 of the unpacked JSON
  file_hash TEXT,                 -- XXH3-128 of the file as it is; NULL for standard input
  ingested_at TEXT NOT NULL,      -- UTC
  header TEXT                     -- JSON object of every header key
);

CREATE TABLE _run (
  run_id INTEGER PRIMARY KEY,     -- the lowest of its traces; where there are none, of its sources
                                  -- with a minus
  run TEXT NOT NULL,              -- its name: as --run says, else the end of its path
  path TEXT NOT NULL              -- the folder that is the run; of a named one: of its first trace
);

CREATE TABLE _capture (
  capture_id INTEGER PRIMARY KEY,  -- the lowest of its traces
  run_id INTEGER NOT NULL,
  capture INTEGER NOT NULL        -- its number in the run, by start, from 1
);

CREATE TABLE _event_name (
  id INTEGER PRIMARY KEY,
  name TEXT,
  category TEXT,                  -- NULL when the event has none
  kind INTEGER                    -- by its name: 1 when kind_rules says communication
);

CREATE TABLE _track (
  id INTEGER PRIMARY KEY,
  trace_id INTEGER NOT NULL,
  pid TEXT,
  tid TEXT,
  device INTEGER,                 -- GPU activities: args.device, else the pid; a text where
  stream INTEGER,                 -- it is no number. GPU activities: args.stream, else the tid
  rank INTEGER,
  base_ns INTEGER                 -- what to add to a row's ts
);

CREATE TABLE _args_text (
  id INTEGER PRIMARY KEY,
  args TEXT,                      -- JSON with marks; NULL when the event has no args
  others TEXT,                    -- the event's other keys, as "key":value,...
  collective TEXT,                -- from here on: what the args say, as columns
  dtype TEXT,
  in_nelems INTEGER,
  out_nelems INTEGER,
  group_name TEXT,
  group_description TEXT,
  group_ranks TEXT,               -- sorted, as [0,1]; NULL when missing or shortened
  group_size INTEGER,
  src_rank INTEGER,
  dst_rank INTEGER,
  grid TEXT,
  block TEXT,
  registers INTEGER,
  shared_memory_bytes INTEGER,
  occupancy_pct REAL,
  device_type INTEGER,
  device_id INTEGER
);

CREATE TABLE _args_mark (
  -- One row: the character that stands in the args for each column of the event tables.
  id INTEGER PRIMARY KEY, @args_marks@
);
INSERT INTO _args_mark VALUES (1, @args_mark_values@);

CREATE TABLE _cpu_slice (
  id INTEGER PRIMARY KEY, track INTEGER, event_name INTEGER, ts INTEGER, dur INTEGER,
    args_text INTEGER, @args_columns:_cpu_slice@
);
CREATE TABLE _runtime_slice (
  id INTEGER PRIMARY KEY, track INTEGER, event_name INTEGER, ts INTEGER, dur INTEGER,
    args_text INTEGER, @args_columns:_runtime_slice@
);
CREATE TABLE _python_slice (
  id INTEGER PRIMARY KEY, track INTEGER, event_name INTEGER, ts INTEGER, dur INTEGER,
    args_text INTEGER, @args_columns:_python_slice@
);
CREATE TABLE _gpu_slice (
  id INTEGER PRIMARY KEY, track INTEGER, event_name INTEGER, ts INTEGER, dur INTEGER,
    args_text INTEGER,
  kind INTEGER,                   -- 0 compute, 1 communication, 2 memory, 3 waiting
  @args_columns:_gpu_slice@
);
CREATE TABLE _instant (
  id INTEGER PRIMARY KEY, track INTEGER, event_name INTEGER, ts INTEGER, phase TEXT,
    args_text INTEGER, @args_columns:_instant@
);
CREATE TABLE _flow (
  id INTEGER PRIMARY KEY, track INTEGER, event_name INTEGER, ts INTEGER, phase TEXT,
    args_text INTEGER, @args_columns:_flow@
);
CREATE TABLE _counter_event (
  id INTEGER PRIMARY KEY, track INTEGER, event_name INTEGER, ts INTEGER, phase TEXT,
    args_text INTEGER, @args_columns:_counter_event@
);
CREATE TABLE _metadata_event (
  id INTEGER PRIMARY KEY, track INTEGER, event_name INTEGER, ts INTEGER, phase TEXT,
    args_text INTEGER, @args_columns:_metadata_event@
);

CREATE TABLE _step (
  id INTEGER PRIMARY KEY,         -- the slice ProfilerStep#N
  track INTEGER,
  step INTEGER,
  ts INTEGER, dur INTEGER
);

CREATE TABLE _row_times (
  -- When each thousand rows of a trace's events are, and the rest: `cut` reads what it must.
  id INTEGER PRIMARY KEY,         -- the first of them
  last_id INTEGER,
  start_ts INTEGER,               -- least ts; NULL where all are metadata
  end_ts INTEGER                  -- greatest end, of points the greatest ts
);

-- Worked out at the end of ingest; first, events of which the view impossible_times says more.

CREATE TABLE _impossible_time (id INTEGER PRIMARY KEY);
CREATE TABLE _launch (
  id INTEGER PRIMARY KEY,         -- the GPU activity's slice
  launch_slice_id INTEGER,        -- the runtime call with its correlation
  launch_ts_ns INTEGER,
  step INTEGER,                   -- in which it was launched, else in which it starts
  path_id INTEGER,                -- in call_path: on which it was launched
  forward_path_id INTEGER         -- of a backward pass: that of the forward operator, when it is
                                  -- among the last of its thread (60,000 with --memory 128M)
);

CREATE TABLE _call_path (
  -- What the host was in, as a tree: an operator, an annotation, a Python function or a module
  -- below the one in which it was called.
  id INTEGER PRIMARY KEY,
  trace_id INTEGER,
  parent_id INTEGER,              -- NULL: the outermost
  kind INTEGER,                   -- as in host_use
  event_name INTEGER,
  args_text INTEGER,                  -- operators: of their args
  op INTEGER                      -- event_name of the nearest operator upwards, itself included
);

CREATE TABLE _host_use (
  -- Calls of one name that start in one step, and what the GPU did for it; operators also by their
  -- args. One that runs within another of its name adds to calls and to the columns with self
  -- alone. A pair of B and E has the args of B. GPU times are sums over activities by the step of
  -- `launch`, copies and fills as well.
  trace_id INTEGER,
  step INTEGER,                   -- NULL: outside any
  kind INTEGER,                   -- 0 operator, 1 annotation, 2 Python function, 3 nn.Module,
                                  -- 4 runtime or driver call
  event_name INTEGER,                  -- NULL, as kind: all that did not fit in memory
  args_text INTEGER,
  calls INTEGER,
  total_ns INTEGER,               -- of calls that are not within one of the same name
  self_ns INTEGER,                -- in which it is the innermost of its kind on its thread
  activities INTEGER,             -- GPU activities that were launched in it
  gpu_ns INTEGER,                 -- their durations
  self_gpu_ns INTEGER,            -- of those for which it is the innermost of its kind
  backward_gpu_ns INTEGER,        -- launched in the backward pass of an operator in it, outside it
  self_backward_gpu_ns INTEGER,
  graph_calls INTEGER             -- calls that replays of graphs stand for, less those while one
                                  -- was captured: calls + graph_calls had their work on the GPU
);

CREATE TABLE _kernel_use (
  -- GPU activities of one name by the innermost operator that launched them.
  trace_id INTEGER,
  step INTEGER,
  op INTEGER,                     -- event_name; NULL: the trace does not tell
  forward_op INTEGER,             -- event_name; of a backward pass: the forward operator
  kernel INTEGER,                 -- event_name; NULL, as op: all that did not fit in memory
  activities INTEGER,
  gpu_ns INTEGER                  -- sum of their durations
);

CREATE TABLE _sync_use (
  -- Runtime calls that return when the GPU is done, by where they were made.
  trace_id INTEGER,
  step INTEGER,
  event_name INTEGER,                  -- NULL: all that did not fit in memory
  path_id INTEGER,                -- in call_path
  calls INTEGER,
  total_ns INTEGER,               -- sum of their durations
  stalls INTEGER,                 -- gaps of step_use that began in one of them and outlasted it
  stalled_ns INTEGER, after_ns INTEGER  -- of all gaps what lies in one; of stalls what comes after
);

CREATE TABLE _step_use (
  -- A GPU's time in one trace, cut where the GPU comes to the first activity of a step. A trace of
  -- thousands of GPU streams, or tens of thousands of threads, has no rows here. The columns
  -- compute_ns, exposed_ and idle_ add up to end_ns - start_ns.
  trace_id INTEGER,
  device INTEGER,
  step INTEGER,                   -- NULL: before the first step's
  start_ns INTEGER,
  end_ns INTEGER,
  compute_ns INTEGER,
  communication_ns INTEGER,
  overlap_ns INTEGER,             -- in which both run
  exposed_pipeline_ns INTEGER,    -- communication without compute, by process_groups.parallelism;
  exposed_data_ns INTEGER,        -- where several kinds run, of the one that ends last
  exposed_tensor_ns INTEGER,
  exposed_expert_ns INTEGER,
  exposed_context_ns INTEGER,
  exposed_other_ns INTEGER,
  exposed_memory_ns INTEGER,
  idle_host_ns INTEGER,           -- the activity that ended it was launched after it had begun
  idle_sync_ns INTEGER,           -- its thread was in a call of sync_use, the work not yet done
  idle_dependency_ns INTEGER,     -- it had been launched before
  idle_unknown_ns INTEGER         -- its launch is not in the trace
);

CREATE TABLE _busy_segment (
  -- A stretch of time in which the same kinds of activity run on a device. Stretches without any
  -- have no row.
  trace_id INTEGER,
  device INTEGER,
  ts_ns INTEGER,
  dur_ns INTEGER,
  kinds INTEGER,                  -- sum of 1 compute, 2 communication, 4 memory
  PRIMARY KEY (trace_id, device, ts_ns)
) WITHOUT ROWID;

CREATE TABLE _device_use (
  trace_id INTEGER,
  device INTEGER,
  start_ns INTEGER,               -- first start of a GPU activity
  end_ns INTEGER,                 -- last end: the span is the time between the two
  compute_ns INTEGER,             -- length of the union of the compute kernels
  communication_ns INTEGER,       -- of the communication kernels
  overlap_ns INTEGER,             -- in which both run
  exposed_communication_ns INTEGER,  -- communication without compute
  exposed_memory_ns INTEGER,      -- copies and fills without either
  idle_ns INTEGER                 -- the rest of the span
);

CREATE TABLE _stream_use (
  trace_id INTEGER,
  device INTEGER,
  stream INTEGER,
  activities INTEGER,
  start_ns INTEGER,
  end_ns INTEGER,
  busy_ns INTEGER,                -- length of the union of its activities
  compute_ns INTEGER,             -- of those of one kind
  communication_ns INTEGER,
  memory_ns INTEGER
);

CREATE TABLE _process_group (
  -- A communicator: Megatron-LM makes a dozen of the same ranks, so its name tells it too.
  group_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,        -- its traces agree in it
  name TEXT NOT NULL,             -- empty where the trace has none
  ranks TEXT NOT NULL,            -- JSON, sorted
  description TEXT,               -- the first that a trace has
  size INTEGER,
  parallelism TEXT,               -- by parallelism_rules
  UNIQUE (run_id, name, ranks)
);

CREATE TABLE _trace_group (
  -- Which communicators a trace tells of.
  trace_id INTEGER,
  group_id INTEGER,
  PRIMARY KEY (trace_id, group_id)
) WITHOUT ROWID;

CREATE TABLE _collective_part (
  id INTEGER PRIMARY KEY,         -- the communication kernel's slice
  rank INTEGER,
  trace_id INTEGER,
  capture_id INTEGER,
  group_id INTEGER,               -- NULL: the trace does not say
  ordinal INTEGER,                -- from 1, by start, in its group in this trace
  seq INTEGER,                    -- args.Seq where there is one
  collective TEXT,
  dtype TEXT,
  in_bytes INTEGER,
  out_bytes INTEGER,
  ts_ns INTEGER,
  dur_ns INTEGER,
  peer INTEGER,
  step INTEGER,
  launch_ts_ns INTEGER,
  -- Parts of one collective agree in group_id, capture_id and in these three.
  pair TEXT,                      -- send and recv: '0>4'; in a batch '0>4*', both ways '0<>4*'
                                  -- (message_batches.h); else ''; of several parts of a rank with
                                  -- one Seq the second has '#2' at the end, and so on
  by_seq INTEGER,                 -- 1: match_no is the Seq
  match_no INTEGER                -- Seq (not of pairs in a group of more than two), else ordinal:
                                  -- of the pair's parts, of a batch its first message's in the
                                  -- pair, or of the group's parts that are of no pair
);

CREATE TABLE _collective_cause (
  -- Why the last rank to start a collective was late; one row for each collective that kept a rank
  -- waiting. Made when the traces of an ingest have landed.
  id INTEGER PRIMARY KEY,         -- its part: the last to start
  trace_id INTEGER,               -- of that part
  rank INTEGER,
  group_id INTEGER,
  step INTEGER,                   -- in which this part was launched
  first_start_ns INTEGER,         -- of any part, by the aligned clocks; earlier is no cause
  start_ns INTEGER,               -- of this part, by the aligned clocks
  wait_ns INTEGER,                -- of all its ranks, summed
  cause TEXT,                     -- host, device, schedule, upstream; NULL: the trace does not tell
  cause_slice_id INTEGER,         -- the host slice, the kernel, or the communication kernel
  cause_name TEXT,
  upstream_id INTEGER,            -- cause upstream: the part that was last to start that collective
  carried_id INTEGER,             -- the rank's part in an earlier collective for which it was late
                                  -- already, and has not made up for it: the cause is that one's
  root_id INTEGER,                -- the end of the chain of carried_id, else upstream_id
  root_rank INTEGER,              -- NULL of schedule: nobody was late
  root_cause TEXT,                -- host, device, schedule; NULL: the trace does not tell
  root_name TEXT
);

CREATE TABLE _explained_trace (
  -- Traces that collective_cause takes into account, and the capture that each was in; another one
  -- makes it be worked out again.
  trace_id INTEGER PRIMARY KEY,
  capture_id INTEGER
);

CREATE TABLE _clock (
  -- How the times of a rank in a capture compare with the others': aligned = ts_ns + offset_ns
  -- + (ts_ns - origin_ns) * drift_ppb / 1000000000, rounded towards 0. A trace without a row was
  -- compared with none: its times are as they are.
  trace_id INTEGER PRIMARY KEY,
  host TEXT,                      -- the clock's name: the host, or the rank where none is known
  offset_ns INTEGER NOT NULL,
  drift_ppb INTEGER NOT NULL,     -- parts in 10^9
  origin_ns INTEGER NOT NULL,
  reference_rank INTEGER NOT NULL,  -- whose clock is the measure: the lowest rank it compares with
  residual_p95_ns INTEGER NOT NULL, -- how well it agrees with those that it was compared with
  refused_ns INTEGER NOT NULL     -- a correction longer than the capture, which is not applied
);

CREATE TABLE _clock_pair (
  -- How well two hosts' clocks agree after that, in a capture: differences of the ends of
  -- collectives.
  capture_id INTEGER,
  host_a TEXT,
  host_b TEXT,
  collectives INTEGER,
  residual_p50_ns INTEGER,
  residual_p95_ns INTEGER
);

-- Tracks rise from trace to trace, so the entries of a further trace go to the end of an index.
CREATE INDEX _gpu_slice_by_track ON _gpu_slice (track, ts);
CREATE INDEX _gpu_slice_by_correlation ON _gpu_slice (track, correlation);
-- What can hold a thread: few enough to cost nothing.
CREATE INDEX _cpu_slice_long ON _cpu_slice (track, ts) WHERE dur >= @long_slice_ns@;
CREATE INDEX _runtime_slice_long ON _runtime_slice (track, ts) WHERE dur >= @long_slice_ns@;
CREATE INDEX _python_slice_long ON _python_slice (track, ts) WHERE dur >= @long_slice_ns@;
-- All that is asked of the parts of one collective: no part itself is looked up.
CREATE INDEX _collective_part_by_group
  ON _collective_part (capture_id, group_id, pair, by_seq, match_no, ts_ns DESC, rank, dur_ns,
                       step, trace_id);
