-- CUDA and HIP graphs: what each ran, and where its operators are known from.

CREATE VIEW graphs AS
-- Replays of a CUDA or HIP graph that run the same kernels: "CUDA graph N" of its trace.
--   graph_id: its number in this database
--   trace_id: the file in which it was replayed
--   rank: of that file
--   number: in that file, by its first replay, from 1
--   nodes: kernels, copies and fills of a replay
--   source: where their operators are known from: capture (in the same file), capture file, eager
--     (the same kernels launched one by one), trace (they name them); NULL: they are not known
--   capture_id: slice of the call that began the capture; NULL: none, or eager
--   reason: why their operators are not known
SELECT g.graph_id, g.trace_id, t.rank, g.number, g.nodes, g.source, g.capture_id, g.reason
FROM _graph g JOIN _trace t ON t.trace_id = g.trace_id;

CREATE VIEW graph_replays AS
-- A launch of a graph, with what it ran.
--   launch_slice_id: the call that launched it, in slices
--   graph_id: in graphs
--   activities: kernels, copies and fills
--   gpu_ns: their durations, summed
--   span_ns: from the first start to the last end
--   idle_ns: of it nothing of the replay runs
SELECT id AS launch_slice_id, graph_id, activities, gpu_ns, span_ns, idle_ns FROM _graph_replay;

CREATE VIEW graph_captures AS
-- A capture of a graph: calls between cudaStreamBeginCapture and cudaStreamEndCapture.
--   capture_id: slice of the call that began it
--   trace_id: its file
--   rank: of that file
--   launches: calls that went into the graph
--   path: of the file, as it was given to ingest
--   is_own_file: 1 where the file shows captures of graphs alone, and is not in traces
SELECT c.id AS capture_id, c.trace_id, t.rank,
       (SELECT count(*) FROM _captured_launch l WHERE l.capture_id = c.id) AS launches,
       t.path, t.is_graph_capture AS is_own_file
FROM _graph_capture c JOIN _trace t ON t.trace_id = c.trace_id;
