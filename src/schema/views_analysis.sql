-- What was worked out from the events, as views: where launches come from, sums of uses,
-- collectives of all ranks together.

CREATE VIEW origin AS
-- The first event of all traces: sums of times count from it, those of absolute times would
-- overflow.
--   traces: how many they are
--   zero_ns: its start
SELECT count(*) AS traces, min(start_ns) AS zero_ns FROM _trace WHERE NOT is_graph_capture;

CREATE VIEW process_groups AS
-- A communicator of a run: who takes part in collectives together.
--   group_id: its number in this database
--   run: a name in runs
--   name: as the trace has it; empty where it has none
--   description: as the trace has it: what the program calls it
--   parallelism: tensor, pipeline, data, expert, context or other, by parallelism_rules
--   size: how many ranks
--   ranks: as a JSON array, sorted
--   short_name: for people: the description, how many ranks, and the first of them
--   run_id: in runs
SELECT g.group_id, r.run, g.name, g.description, g.parallelism, g.size, g.ranks,
       coalesce(nullif(g.description, ''), nullif(g.name, ''), 'group') || ' of ' || g.size || ' '
       || CASE WHEN length(g.ranks) <= 24 THEN g.ranks
               ELSE rtrim(substr(g.ranks, 1, 18), '0123456789') || '...]' END AS short_name,
       g.run_id
FROM _process_group g LEFT JOIN _run r ON r.run_id = g.run_id;

CREATE VIEW call_paths AS
-- What the host was in when it launched something: a tree.
--   path_id: its number in this database
--   parent_id: in call_paths; NULL the outermost
--   trace_id: its file
--   rank: of that file
--   kind: operator, annotation, function (of Python) or module (nn.Module)
--   name: as the trace has it
--   op: the nearest operator upwards, itself included
--   args: of operators: JSON, null in place of values that differ from call to call
--   path: from the outermost, 'forward > layer > aten::linear', of 256 pieces the innermost
SELECT c.id AS path_id, c.parent_id, l.trace_id, l.rank,
       CASE c.kind WHEN 0 THEN 'operator' WHEN 1 THEN 'annotation' WHEN 2 THEN 'function'
                   ELSE 'module' END AS kind,
       n.name, o.name AS op, a.args,
       (WITH RECURSIVE way (parent_id, pieces, text) AS (
          SELECT c.parent_id, 1, n.name
          UNION ALL
          SELECT p.parent_id, w.pieces + 1, m.name || ' > ' || w.text
          FROM way w JOIN _call_path p ON p.id = w.parent_id
               JOIN _event_name m ON m.id = p.event_name
          WHERE w.pieces < 256
        )
        SELECT CASE WHEN parent_id IS NULL THEN text ELSE '... > ' || text END
        FROM way ORDER BY pieces DESC LIMIT 1) AS path
FROM _call_path c JOIN _event_name n ON n.id = c.event_name
     LEFT JOIN _event_name o ON o.id = c.op
     LEFT JOIN _args_text a ON a.id = c.args_text
     LEFT JOIN _trace l ON l.trace_id = c.trace_id;

CREATE VIEW call_sites AS
-- The pieces of a path that tell where in the code it is.
--   path_id: in call_paths
--   op: the outermost operator
--   function: the innermost Python function
--   annotation: the innermost annotation
WITH RECURSIVE place (path_id, op, function, annotation) AS (
  SELECT id, CASE WHEN kind = 0 THEN event_name END, CASE WHEN kind = 2 THEN event_name END,
         CASE WHEN kind = 1 THEN event_name END
  FROM _call_path WHERE parent_id IS NULL
  UNION ALL
  SELECT c.id, coalesce(p.op, CASE WHEN c.kind = 0 THEN c.event_name END),
         CASE WHEN c.kind = 2 THEN c.event_name ELSE p.function END,
         CASE WHEN c.kind = 1 THEN c.event_name ELSE p.annotation END
  FROM place p JOIN _call_path c ON c.parent_id = p.path_id
)
SELECT p.path_id, o.name AS op, f.name AS function, a.name AS annotation
FROM place p LEFT JOIN _event_name o ON o.id = p.op LEFT JOIN _event_name f ON f.id = p.function
     LEFT JOIN _event_name a ON a.id = p.annotation;

CREATE VIEW host_uses AS
-- Calls of one name that start in one step, and what the GPU did for them.
--   trace_id: their file
--   rank: of that file
--   step: NULL outside any
--   kind: operator, annotation, function, module or call (of the runtime); NULL all that found no
--     room
--   name: NULL all that found no room
--   args: of operators: JSON, null in place of values that differ from call to call
--   calls: how many
--   total_ns: durations of those that are not within one of the same name
--   self_ns: time in which they are the innermost of their kind on their thread
--   activities: GPU activities launched in them
--   gpu_ns: their durations
--   self_gpu_ns: of those launched while it is the innermost of its kind
--   backward_gpu_ns: of those launched in the backward pass of operators in it
--   self_backward_gpu_ns: of those for which it is the innermost of its kind
--   name_id: in names
--   args_id: in args_texts
--   graph_calls: calls that replays of graphs stand for, less those while a graph was captured:
--     calls + graph_calls had their work on the GPU
SELECT h.trace_id, t.rank, h.step,
       CASE h.kind WHEN 0 THEN 'operator' WHEN 1 THEN 'annotation' WHEN 2 THEN 'function'
                   WHEN 3 THEN 'module' WHEN 4 THEN 'call' END AS kind,
       l.name, @emptied:a.args@ AS args, h.calls, h.total_ns, h.self_ns, h.activities, h.gpu_ns,
       h.self_gpu_ns, h.backward_gpu_ns, h.self_backward_gpu_ns, h.event_name AS name_id,
       h.args_text AS args_id, h.graph_calls
FROM _host_use h JOIN _trace t ON t.trace_id = h.trace_id
     LEFT JOIN _event_name l ON l.id = h.event_name
     LEFT JOIN _args_text a ON a.id = h.args_text LEFT JOIN _args_mark m ON m.id = 1
WHERE NOT t.is_graph_capture;

CREATE VIEW kernel_uses AS
-- GPU activities of one name by the innermost operator that launched them.
--   trace_id: their file
--   rank: of that file
--   step: NULL outside any
--   op: NULL where the trace does not tell
--   forward_op: of a backward pass: the forward operator
--   kernel: name; NULL all that found no room
--   activities: how many
--   gpu_ns: sum of their durations
SELECT k.trace_id, t.rank, k.step, o.name AS op, f.name AS forward_op, l.name AS kernel,
       k.activities, k.gpu_ns
FROM _kernel_use k JOIN _trace t ON t.trace_id = k.trace_id
     LEFT JOIN _event_name o ON o.id = k.op LEFT JOIN _event_name f ON f.id = k.forward_op
     LEFT JOIN _event_name l ON l.id = k.kernel
WHERE NOT t.is_graph_capture;

CREATE VIEW sync_uses AS
-- Calls that return when the GPU is done, by where they are made.
--   trace_id: their file
--   rank: of that file
--   step: NULL outside any
--   name: NULL all that found no room
--   path_id: in call_paths
--   calls: how many
--   total_ns: sum of their durations
--   stalls: gaps of the GPU that began in one of them and outlasted it
--   stalled_ns: of all gaps what lies in one of them, of the thread whose launch ended the gap
--   after_ns: of stalls what comes after it
SELECT s.trace_id, t.rank, s.step, l.name, s.path_id, s.calls, s.total_ns, s.stalls, s.stalled_ns,
       s.after_ns
FROM _sync_use s JOIN _trace t ON t.trace_id = s.trace_id
     LEFT JOIN _event_name l ON l.id = s.event_name;

CREATE VIEW step_uses AS
-- A GPU's time in one step, shared out: compute, exposed and idle add up to it.
--   trace_id: its file
--   rank: of that file
--   device: GPU
--   step: NULL before the first
--   start_ns: first activity of the step
--   end_ns: first activity of the next
--   compute_ns: compute kernels run
--   communication_ns: communication kernels run
--   overlap_ns: both run
--   exposed_pipeline_ns: communication alone, of pipeline groups
--   exposed_data_ns: communication alone, of data parallel groups
--   exposed_tensor_ns: communication alone, of tensor parallel groups
--   exposed_expert_ns: communication alone, of expert parallel groups
--   exposed_context_ns: communication alone, of context or sequence parallel groups
--   exposed_other_ns: communication alone, of other groups
--   exposed_memory_ns: copies and fills alone
--   idle_host_ns: nothing runs: the next was not launched when the gap began
--   idle_sync_ns: nothing runs: its thread is in a call of sync_uses whose work has not ended
--   idle_dependency_ns: nothing runs, though the next was launched before the gap
--   idle_unknown_ns: nothing runs, and the launch of the next is not in the trace
SELECT u.trace_id, t.rank, u.device, u.step, u.start_ns, u.end_ns, u.compute_ns,
       u.communication_ns, u.overlap_ns, u.exposed_pipeline_ns, u.exposed_data_ns,
       u.exposed_tensor_ns, u.exposed_expert_ns, u.exposed_context_ns, u.exposed_other_ns,
       u.exposed_memory_ns,
       u.idle_host_ns, u.idle_sync_ns, u.idle_dependency_ns, u.idle_unknown_ns
FROM _step_use u JOIN _trace t ON t.trace_id = u.trace_id;

CREATE VIEW step_activities AS
-- GPU activities by the step in which they were launched: several rows of a step and GPU where
-- there are several streams.
--   trace_id: their file
--   device: GPU
--   step: in which they were launched
--   activities: how many
--   first_ns: first start
--   last_ns: last end
--   is_summed: 1 in a database of summaries, 0 where all activities are there
--   busy_ns: of the time from the step's start to first_ns in which something ran on the GPU; NULL
--     where is_summed is 0 (busy_segments has it), or the number is not that of one step
SELECT t.trace_id, t.device, l.step, l.activities, l.first_ts + t.base_ns AS first_ns,
       l.last_ts + t.base_ns AS last_ns, 0 AS is_summed, NULL AS busy_ns
FROM (SELECT s.track, k.step, count(*) AS activities, min(s.ts) AS first_ts,
             max(s.ts + ifnull(s.dur, 0)) AS last_ts
      FROM _gpu_slice s JOIN _launch k ON k.id = s.id
      WHERE k.step IS NOT NULL AND ifnull(s.dur, 0) >= 0 AND @possible:s.id@
        AND (SELECT count(*) FROM _step_last) = 0
      GROUP BY k.step, s.track) l  -- rows nearly are in this order
     JOIN _track t ON t.id = l.track
UNION ALL
SELECT trace_id, device, step, activities, start_ns, end_ns, 1, busy_ns FROM _step_last
WHERE step IS NOT NULL;

CREATE VIEW device_uses AS
-- A GPU's time in one capture, from its first start to its last end, shared out.
--   trace_id: the file
--   rank: of that file
--   device: GPU
--   start_ns: first start of an activity
--   end_ns: last end of one
--   compute_ns: compute kernels run
--   communication_ns: communication kernels run
--   overlap_ns: both run
--   exposed_communication_ns: communication without compute
--   exposed_memory_ns: copies and fills alone
--   idle_ns: nothing runs
SELECT u.trace_id, t.rank, u.device, u.start_ns, u.end_ns, u.compute_ns, u.communication_ns,
       u.overlap_ns, u.exposed_communication_ns, u.exposed_memory_ns, u.idle_ns
FROM _device_use u LEFT JOIN _trace t ON t.trace_id = u.trace_id;

CREATE VIEW stream_uses AS
-- A stream's busy time in one capture, all of it and by kind.
--   stream_id: its number in this database
--   trace_id: the file
--   rank: of that file
--   device: GPU
--   stream: its number on that device
--   activities: kernels, copies and fills
--   start_ns: first start of one
--   end_ns: last end of one
--   busy_ns: length of the union of all
--   compute_ns: of its compute kernels
--   communication_ns: of its communication kernels
--   memory_ns: of its copies and fills
SELECT u.rowid AS stream_id, u.trace_id, t.rank, u.device, u.stream, u.activities, u.start_ns,
       u.end_ns, u.busy_ns, u.compute_ns, u.communication_ns, u.memory_ns
FROM _stream_use u LEFT JOIN _trace t ON t.trace_id = u.trace_id;

CREATE VIEW rank_clocks AS
-- How the times of a rank in a capture are corrected; without a row it was compared with none.
--   trace_id: the file
--   rank: of that file
--   clock: its name: the host, or the rank where none is known
--   reference_rank: whose clock is the measure
--   offset_ns: to be added
--   drift_ppb: parts in 10^9, to be added from origin_ns on
--   origin_ns: where drift is nothing
--   residual_p95_ns: how well it agrees with those it was compared with
--   refused_ns: a correction longer than the capture, which is not applied; else 0
SELECT c.trace_id, t.rank, c.host AS clock, c.reference_rank, c.offset_ns, c.drift_ppb,
       c.origin_ns, c.residual_p95_ns, c.refused_ns
FROM _clock c LEFT JOIN _trace t ON t.trace_id = c.trace_id;

CREATE VIEW clock_residuals AS
-- How well two clocks agree once corrected, by the ends of collectives of a capture.
--   pair_id: its number in this database
--   capture_id: in captures
--   clock_a: one
--   clock_b: the other
--   collectives: how many
--   residual_p50_ns: median of the differences
--   residual_p95_ns: 95 of 100 are below
SELECT rowid AS pair_id, capture_id, host_a AS clock_a, host_b AS clock_b, collectives,
       residual_p50_ns, residual_p95_ns
FROM _clock_pair;

CREATE VIEW collectives AS
-- One rank's part in a collective. Its parts agree in capture_id, group_id, pair, by_seq and
-- match_no.
--   slice_id: its kernel in kernels
--   trace_id: its file
--   rank: of that file
--   group_id: in process_groups; NULL where the trace does not tell
--   ordinal: from 1, by start, in its group in this file
--   seq: args.Seq where there is one
--   collective: such as allreduce
--   dtype: of its elements
--   in_bytes: sent
--   out_bytes: received
--   ts_ns: start
--   dur_ns: duration
--   peer: the other rank of a send or receive
--   step: in which it was launched
--   launch_ts_ns: start of the call that launched it
--   aligned_ts_ns: start by the aligned clocks
--   pair: send and receive: '0>4'; in a batch '0>4*', both ways '0<>4*'; else empty
--   by_seq: 1 where match_no is the Seq
--   match_no: number by which parts are matched
--   end_ns: end
--   start_ms: start since the first event of its run
--   capture_id: in captures
SELECT p.id AS slice_id, p.trace_id, p.rank, p.group_id, p.ordinal, p.seq, p.collective, p.dtype,
       p.in_bytes, p.out_bytes, p.ts_ns, p.dur_ns, p.peer, p.step, p.launch_ts_ns,
       @aligned:p.ts_ns@ AS aligned_ts_ns, p.pair, p.by_seq, p.match_no,
       p.ts_ns + p.dur_ns AS end_ns, @start_ms:p.ts_ns of p.trace_id@ AS start_ms, p.capture_id
FROM _collective_part p LEFT JOIN _clock c ON c.trace_id = p.trace_id;

CREATE VIEW matched_collectives AS
-- A collective of all its ranks, by the aligned clocks. A rank waits from its own start to the
-- last.
--   slice_id: kernel of the last to start, in kernels
--   trace_id: of that kernel
--   capture_id: in captures
--   group_id: in process_groups
--   collective: such as allreduce
--   dtype: of its elements
--   ordinal: of that kernel in its group
--   seq: args.Seq where there is one
--   step: in which that kernel was launched
--   bytes: the larger of sent and received
--   ranks_met: ranks whose part is in the database
--   first_rank: first to start
--   last_rank: last to start, of several the lowest; NULL where nobody waited, and where estimated
--   first_start_ns: when the first started
--   last_start_ns: when the last started
--   wait_ns: of all ranks, summed
--   max_wait_ns: of the first
--   transfer_ns: the shortest part
--   is_estimate: 1 without a partner: wait is what it took longer than the shortest alike. Only
--     where the partners were never recorded: a rank that is missing in one capture is no guess
-- The parts are read in the order of the index, each time: nothing is sorted. Sums count from
-- zero_ns: those of absolute times would overflow.
WITH instance AS (
  SELECT capture_id, group_id, pair, by_seq, match_no, min(slice_id) AS any_id,
         count(*) AS ranks_met, min(rank) < max(rank) AS is_met, min(aligned_ts_ns) AS first_ns,
         max(aligned_ts_ns) AS last_ns, sum(aligned_ts_ns - zero_ns) AS sum_ns,
         min(dur_ns) FILTER (WHERE dur_ns >= 0) AS transfer_ns
  FROM collectives CROSS JOIN origin WHERE group_id IS NOT NULL
  GROUP BY capture_id, group_id, pair, by_seq, match_no
),
judged AS (
  SELECT i.*,
         (SELECT q.slice_id FROM collectives q WHERE q.capture_id = i.capture_id
            AND q.group_id = i.group_id AND q.pair = i.pair AND q.by_seq = i.by_seq
            AND q.match_no = i.match_no
          ORDER BY q.aligned_ts_ns DESC, q.rank LIMIT 1) AS last_id,
         (SELECT min(q.rank) FROM collectives q WHERE q.capture_id = i.capture_id
            AND q.group_id = i.group_id AND q.pair = i.pair AND q.by_seq = i.by_seq
            AND q.match_no = i.match_no AND q.aligned_ts_ns = i.first_ns) AS first_rank
  FROM instance i WHERE i.is_met
),
shortest AS (
  SELECT group_id, coalesce(collective, '') AS collective, coalesce(in_bytes, -1) AS in_bytes,
         coalesce(out_bytes, -1) AS out_bytes,
         min(dur_ns) FILTER (WHERE dur_ns >= 0) AS shortest_ns
  FROM _collective_part WHERE group_id IS NOT NULL
  GROUP BY 1, 2, 3, 4
)
SELECT p.id AS slice_id, p.trace_id, p.capture_id, p.group_id, p.collective, p.dtype, p.ordinal,
       p.seq, p.step,
       CASE WHEN coalesce(p.in_bytes, p.out_bytes) > coalesce(p.out_bytes, p.in_bytes)
            THEN p.in_bytes ELSE coalesce(p.out_bytes, p.in_bytes) END AS bytes,
       i.ranks_met, i.first_rank, CASE WHEN i.last_ns > i.first_ns THEN p.rank END AS last_rank,
       i.first_ns AS first_start_ns, i.last_ns AS last_start_ns,
       i.ranks_met * (i.last_ns - zero_ns) - i.sum_ns AS wait_ns,
       i.last_ns - i.first_ns AS max_wait_ns, i.transfer_ns, 0 AS is_estimate
FROM judged i CROSS JOIN origin JOIN _collective_part p ON p.id = i.last_id
UNION ALL
SELECT p.id, p.trace_id, p.capture_id, p.group_id, p.collective, p.dtype, p.ordinal,
       p.seq, p.step,
       CASE WHEN coalesce(p.in_bytes, p.out_bytes) > coalesce(p.out_bytes, p.in_bytes)
            THEN p.in_bytes ELSE coalesce(p.out_bytes, p.in_bytes) END,
       1, p.rank, NULL, i.first_ns, NULL, p.dur_ns - s.shortest_ns,
       p.dur_ns - s.shortest_ns, s.shortest_ns, 1
FROM instance i JOIN _collective_part p ON p.id = i.any_id
     JOIN _process_group g ON g.group_id = p.group_id AND g.size > 1
     JOIN (SELECT c.capture_id FROM captures c JOIN runs r ON r.run_id = c.run_id
           WHERE c.ranks = r.ranks) whole ON whole.capture_id = i.capture_id
     JOIN shortest s ON s.group_id = p.group_id
       AND s.collective = coalesce(p.collective, '') AND s.in_bytes = coalesce(p.in_bytes, -1)
       AND s.out_bytes = coalesce(p.out_bytes, -1)
WHERE NOT i.is_met AND p.dur_ns >= 0;

CREATE VIEW collective_causes AS
-- Why the last rank to start a collective was late, where that kept a rank waiting.
--   slice_id: the last part, as in matched_collectives
--   trace_id: of that part
--   rank: of that part
--   group_id: in process_groups
--   step: in which it was launched
--   first_start_ns: when the first started, by the aligned clocks
--   start_ns: when this one started
--   wait_ns: of all ranks, summed
--   cause: host, device, schedule (a stage of a pipeline at its work, no slower than others) or
--     upstream (it waited in another collective, or may have for ranks that were not recorded),
--     NULL where the trace does not tell
--   cause_slice_id: slice of the host, kernel, or communication kernel
--   cause_name: its name
--   cause_short: its name, cut to 80 characters
--   upstream_id: of cause upstream: the part for which it waited; NULL: it was not recorded
--   carried_id: an earlier part of the rank for which it was late already
--   root_id: where the chain of those ends
--   root_rank: rank of that part; NULL of schedule, as nobody was late, and where ranks that were
--     not recorded may have been
--   root_cause: host, device or schedule; NULL where the trace does not tell
--   root_name: what it was
--   root_short: the same, cut to 80 characters
SELECT id AS slice_id, trace_id, rank, group_id, step, first_start_ns, start_ns, wait_ns, cause,
       cause_slice_id, cause_name,
       CASE WHEN length(cause_name) > 80 THEN substr(cause_name, 1, 77) || '...'
            ELSE cause_name END AS cause_short,
       upstream_id, carried_id, root_id, root_rank, root_cause, root_name,
       CASE WHEN length(root_name) > 80 THEN substr(root_name, 1, 77) || '...'
            ELSE root_name END AS root_short
FROM _collective_cause;
