-- CUDA and HIP graphs: what was called while one was captured, and where graphs were launched; then
-- which capture belongs to which graph, worked out when the traces of an ingest have landed.

CREATE TABLE _graph_capture (
  id INTEGER PRIMARY KEY,         -- the call that began it (cudaStreamBeginCapture)
  trace_id INTEGER,
  path_id INTEGER                 -- in call_path: on which it was made
);

CREATE TABLE _captured_launch (
  -- A call that launched nothing, as it went into a graph.
  id INTEGER PRIMARY KEY,         -- its slice
  trace_id INTEGER,
  capture_id INTEGER,             -- in _graph_capture
  kind INTEGER,                   -- 1 kernel, 2 copy, 3 fill, 4 a graph, 7 a part under a condition
  path_id INTEGER,                -- as in _launch
  forward_path_id INTEGER
);
CREATE INDEX _captured_launch_by_capture ON _captured_launch (capture_id);

CREATE TABLE _captured_call (
  trace_id INTEGER,
  capture_id INTEGER,
  path_id INTEGER,                -- of an operator: the first of its name and args in the capture
  calls INTEGER,                  -- entered so often, on whatever path
  PRIMARY KEY (capture_id, path_id)
) WITHOUT ROWID;

CREATE TABLE _graph_launch (
  id INTEGER PRIMARY KEY,         -- the call that launched a graph (cudaGraphLaunch)
  trace_id INTEGER,
  correlation INTEGER,
  path_id INTEGER,                -- on which it was made, whatever its kernels were found to be of
  forward_path_id INTEGER
);

CREATE TABLE _graph (
  -- Replays of one trace that run the same kernels.
  graph_id INTEGER PRIMARY KEY,
  trace_id INTEGER,
  number INTEGER,                 -- in its trace, by its first replay, from 1
  nodes INTEGER,                  -- kernels, copies and fills of a replay
  source TEXT,                    -- where their operators are known from; NULL: they are not
  capture_id INTEGER,             -- in _graph_capture; NULL: eager
  reason TEXT                     -- why they are not known
);

CREATE TABLE _graph_replay (
  id INTEGER PRIMARY KEY,         -- in _graph_launch
  graph_id INTEGER,
  activities INTEGER,
  attributed INTEGER,             -- 1: their rows of _launch name operators of the capture
  gpu_ns INTEGER,                 -- durations
  span_ns INTEGER,                -- from its first start to its last end
  idle_ns INTEGER                 -- of it nothing of the replay runs
);

CREATE TABLE _graph_change (
  -- What the replays added to _host_use (kernel NULL) and to _kernel_use, to be taken back when
  -- graphs are looked at anew.
  trace_id INTEGER,
  step INTEGER,
  kind INTEGER,                   -- NULL: of _kernel_use
  name INTEGER,                   -- event_name; of _kernel_use: op
  detail INTEGER,                 -- args_text; of _kernel_use: forward_op
  kernel INTEGER,
  activities INTEGER,
  gpu_ns INTEGER,
  self_gpu_ns INTEGER,
  backward_gpu_ns INTEGER,
  self_backward_gpu_ns INTEGER,
  calls INTEGER                   -- graph_calls
);

CREATE TABLE _graph_trace (
  -- Traces that all this takes into account; another one makes it be worked out again.
  trace_id INTEGER PRIMARY KEY
);
