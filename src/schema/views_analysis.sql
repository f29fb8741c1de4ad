-- What was worked out from the events, as views: where launches come from, sums of uses,
-- collectives of all ranks together. The narrow views at the end are for sums over millions of
-- rows: they have ids where the others have texts, and cost what their tables cost.

CREATE VIEW origin AS  -- zero_ns: the first event of all traces, from which start_ms counts
SELECT min(start_ns) AS zero_ns FROM _trace;

CREATE VIEW call_paths AS
-- What the host was in when it launched something: a tree. path is the whole way from the outermost
-- to this one ('Model.forward > layer > aten::linear'), of 256 pieces the innermost.
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
-- The pieces of a path that tell where in the code it is: the outermost operator, the innermost
-- Python function and the innermost annotation.
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
-- Calls of one name in one step, and what the GPU did for it (table _host_use). The args are those
-- of an operator, null in place of values that differ from call to call.
SELECT h.trace_id, t.rank, h.step,
       CASE h.kind WHEN 0 THEN 'operator' WHEN 1 THEN 'annotation' WHEN 2 THEN 'function'
                   WHEN 3 THEN 'module' WHEN 4 THEN 'call' END AS kind,
       l.name, @emptied:a.args@ AS args, h.calls, h.total_ns, h.self_ns, h.activities, h.gpu_ns,
       h.self_gpu_ns, h.backward_gpu_ns, h.self_backward_gpu_ns, h.event_name AS name_id,
       h.args_text AS args_id
FROM _host_use h JOIN _trace t ON t.trace_id = h.trace_id
     LEFT JOIN _event_name l ON l.id = h.event_name
     LEFT JOIN _args_text a ON a.id = h.args_text;

CREATE VIEW kernel_uses AS  -- GPU activities of one name by operator (table _kernel_use)
SELECT k.trace_id, t.rank, k.step, o.name AS op, f.name AS forward_op, l.name AS kernel,
       k.activities, k.gpu_ns
FROM _kernel_use k JOIN _trace t ON t.trace_id = k.trace_id
     LEFT JOIN _event_name o ON o.id = k.op LEFT JOIN _event_name f ON f.id = k.forward_op
     LEFT JOIN _event_name l ON l.id = k.kernel;

CREATE VIEW sync_uses AS  -- calls that wait for the GPU, by where they are made (table _sync_use)
SELECT s.trace_id, t.rank, s.step, l.name, s.path_id, s.calls, s.total_ns, s.stalls, s.stalled_ns
FROM _sync_use s JOIN _trace t ON t.trace_id = s.trace_id
     LEFT JOIN _event_name l ON l.id = s.event_name;

CREATE VIEW step_uses AS  -- a GPU's time in one step, shared out (table _step_use)
SELECT u.trace_id, t.rank, u.device, u.step, u.start_ns, u.end_ns, u.compute_ns,
       u.communication_ns, u.overlap_ns, u.exposed_pipeline_ns, u.exposed_data_ns,
       u.exposed_tensor_ns, u.exposed_expert_ns, u.exposed_other_ns, u.exposed_memory_ns,
       u.idle_host_ns, u.idle_sync_ns, u.idle_dependency_ns, u.idle_unknown_ns
FROM _step_use u JOIN _trace t ON t.trace_id = u.trace_id;

CREATE VIEW device_uses AS
-- A GPU's time between its first start and its last end, shared out: compute_ns, exposed_ and
-- idle_ns add up to it (table _device_use).
SELECT rank, device, start_ns, end_ns, compute_ns, communication_ns, overlap_ns,
       exposed_communication_ns, exposed_memory_ns, idle_ns
FROM _device_use;

CREATE VIEW stream_uses AS  -- a stream's busy time, all of it and by kind (table _stream_use)
SELECT rowid AS stream_id, rank, device, stream, activities, start_ns, end_ns, busy_ns, compute_ns,
       communication_ns, memory_ns
FROM _stream_use;

CREATE VIEW rank_clocks AS
-- How a rank's times are corrected; a rank without a row was compared with none (table _clock).
SELECT rank, host AS clock, reference_rank, offset_ns, drift_ppb, origin_ns, residual_p95_ns
FROM _clock;

CREATE VIEW clock_residuals AS  -- how well two clocks agree once corrected (table _clock_pair)
SELECT rowid AS pair_id, host_a AS clock_a, host_b AS clock_b, collectives, residual_p50_ns,
       residual_p95_ns
FROM _clock_pair;

CREATE VIEW collectives AS
-- One rank's part in a communication kernel. Parts of one collective agree in group_id, pair,
-- by_seq and match_no; aligned_ts_ns is the start by the aligned clocks.
SELECT p.id AS slice_id, p.trace_id, p.rank, p.group_id, p.ordinal, p.seq, p.collective, p.dtype,
       p.in_bytes, p.out_bytes, p.ts_ns, p.dur_ns, p.peer, p.step, p.launch_ts_ns,
       @aligned:p.ts_ns@ AS aligned_ts_ns, p.pair, p.by_seq, p.match_no
FROM _collective_part p LEFT JOIN _clock c ON c.rank = p.rank;

CREATE VIEW matched_collectives AS
-- A collective, of all its ranks in the database; starts by the aligned clocks. A rank waits from
-- its own start to the last one. Of a part without a partner the wait is estimated: what it took
-- longer than the shortest of the same collective, size and group.
WITH part AS (  -- starts are counted from zero_ns: sums of absolute times would overflow
  SELECT slice_id AS id, group_id, pair, by_seq, match_no, rank, dur_ns,
         aligned_ts_ns - zero_ns AS start_ns
  FROM collectives CROSS JOIN origin
),
instance AS (
  SELECT group_id, pair, by_seq, match_no, min(id) AS any_id, count(*) AS ranks_met,
         min(rank) < max(rank) AS is_met, min(start_ns) AS first_ns, max(start_ns) AS last_ns,
         sum(start_ns) AS sum_ns, min(dur_ns) FILTER (WHERE dur_ns >= 0) AS transfer_ns
  FROM part WHERE group_id IS NOT NULL GROUP BY group_id, pair, by_seq, match_no
),
judged AS (
  SELECT i.*,
         (SELECT q.id FROM part q WHERE q.group_id = i.group_id AND q.pair = i.pair
            AND q.by_seq = i.by_seq AND q.match_no = i.match_no
          ORDER BY q.start_ns DESC, q.rank LIMIT 1) AS last_id,
         (SELECT min(q.rank) FROM part q WHERE q.group_id = i.group_id AND q.pair = i.pair
            AND q.by_seq = i.by_seq AND q.match_no = i.match_no AND q.start_ns = i.first_ns)
           AS first_rank
  FROM instance i WHERE i.is_met
),
shortest AS (
  SELECT group_id, coalesce(collective, '') AS collective, coalesce(in_bytes, -1) AS in_bytes,
         coalesce(out_bytes, -1) AS out_bytes,
         min(dur_ns) FILTER (WHERE dur_ns >= 0) AS shortest_ns
  FROM _collective_part WHERE group_id IS NOT NULL
  GROUP BY 1, 2, 3, 4
)
SELECT p.id AS slice_id, p.trace_id, p.group_id, p.collective, p.dtype, p.ordinal, p.seq, p.step,
       CASE WHEN coalesce(p.in_bytes, p.out_bytes) > coalesce(p.out_bytes, p.in_bytes)
            THEN p.in_bytes ELSE coalesce(p.out_bytes, p.in_bytes) END AS bytes,
       i.ranks_met, i.first_rank, p.rank AS last_rank,
       i.first_ns + zero_ns AS first_start_ns, i.last_ns + zero_ns AS last_start_ns,
       i.ranks_met * i.last_ns - i.sum_ns AS wait_ns, i.last_ns - i.first_ns AS max_wait_ns,
       i.transfer_ns, 0 AS is_estimate
FROM judged i CROSS JOIN origin JOIN _collective_part p ON p.id = i.last_id
UNION ALL
SELECT p.id, p.trace_id, p.group_id, p.collective, p.dtype, p.ordinal, p.seq, p.step,
       CASE WHEN coalesce(p.in_bytes, p.out_bytes) > coalesce(p.out_bytes, p.in_bytes)
            THEN p.in_bytes ELSE coalesce(p.out_bytes, p.in_bytes) END,
       1, p.rank, NULL, i.first_ns + zero_ns, NULL, p.dur_ns - s.shortest_ns,
       p.dur_ns - s.shortest_ns, s.shortest_ns, 1
FROM instance i CROSS JOIN origin JOIN _collective_part p ON p.id = i.any_id
     JOIN _process_group g ON g.group_id = p.group_id AND g.size > 1
     JOIN shortest s ON s.group_id = p.group_id
       AND s.collective = coalesce(p.collective, '') AND s.in_bytes = coalesce(p.in_bytes, -1)
       AND s.out_bytes = coalesce(p.out_bytes, -1)
WHERE NOT i.is_met AND p.dur_ns >= 0;

CREATE VIEW collective_causes AS
-- Why the last rank to start a collective was late; one row for each that kept a rank waiting
-- (table _collective_cause). cause_short and root_short are the names cut to 80 characters.
SELECT id AS slice_id, rank, group_id, step, first_start_ns, start_ns, wait_ns, cause,
       cause_slice_id, cause_name,
       CASE WHEN length(cause_name) > 80 THEN substr(cause_name, 1, 77) || '...'
            ELSE cause_name END AS cause_short,
       upstream_id, carried_id, root_id, root_rank, root_cause, root_name,
       CASE WHEN length(root_name) > 80 THEN substr(root_name, 1, 77) || '...'
            ELSE root_name END AS root_short
FROM _collective_cause;

-- Narrow views.

CREATE VIEW tracks AS  -- a thread of the host or a stream of a GPU, in one trace
SELECT id AS track_id, trace_id, rank, pid, tid, device, stream, base_ns FROM _track;

CREATE VIEW names AS  -- a name of events; equal names of several categories or traces have several
SELECT id AS name_id, name, category FROM _event_name;

CREATE VIEW args_texts AS  -- args, null in place of values that differ from event to event
SELECT a.id AS args_id, @emptied:a.args@ AS args FROM _args_text a;

CREATE VIEW activity_times AS  -- of activities what needs no launch
SELECT id AS slice_id, track AS track_id, event_name AS name_id, kind, ts, dur AS dur_ns
FROM _gpu_slice;

CREATE VIEW activities AS
-- The rows of `kernels` in numbers. kind: 0 compute, 1 communication, 2 memory; ts counts from
-- base_ns of the track.
SELECT s.id AS slice_id, s.track AS track_id, s.event_name AS name_id, s.kind, s.ts,
       s.dur AS dur_ns, s.correlation, s.bytes, k.launch_slice_id, k.launch_ts_ns, k.step
FROM _gpu_slice s LEFT JOIN _launch k ON k.id = s.id;

CREATE VIEW launches AS  -- of a GPU activity, by its slice_id: the call that launched it, and where
SELECT id AS slice_id, launch_slice_id, launch_ts_ns, step, path_id, forward_path_id FROM _launch;

CREATE VIEW runtime_calls AS  -- calls of the runtime or driver; ts counts from base_ns of the track
SELECT id AS slice_id, track AS track_id, event_name AS name_id, ts, dur AS dur_ns, correlation
FROM _runtime_slice;

CREATE VIEW memory_devices AS  -- the device that memory_events with these args are of
SELECT id AS args_id, device_type, device_id FROM _args_text;
