CREATE VIEW traces AS  -- an ingested file
SELECT trace_id, path, rank, host, text_bytes AS bytes, file_bytes, events, slices,
       skipped_events, complete, base_time_ns, start_ns, end_ns, ingested_at, header
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
       CASE s.kind WHEN 0 THEN 'compute' WHEN 1 THEN 'communication' ELSE 'memory' END AS kind,
       s.ts + t.base_ns AS ts_ns, s.dur AS dur_ns, s.correlation, s.external_id,
       k.launch_slice_id, k.launch_ts_ns, k.step, s.bytes, a.grid, a.block, a.registers,
       a.shared_memory_bytes, a.occupancy_pct, o.name AS op, k.path_id, k.forward_path_id
FROM _gpu_slice s JOIN _track t ON t.id = s.track JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text LEFT JOIN _launch k ON k.id = s.id
     LEFT JOIN _call_path c ON c.id = k.path_id LEFT JOIN _event_name o ON o.id = c.op;

CREATE VIEW call_paths AS  -- what the host was in when it launched something: a tree
SELECT c.id AS path_id, c.parent_id, l.trace_id, l.rank,
       CASE c.kind WHEN 0 THEN 'operator' WHEN 1 THEN 'annotation' WHEN 2 THEN 'function'
                   ELSE 'module' END AS kind,
       n.name, o.name AS op, a.args
FROM _call_path c CROSS JOIN _event_name n ON n.id = c.event_name
     LEFT JOIN _event_name o ON o.id = c.op
     LEFT JOIN _args_text a ON a.id = c.args_text
     LEFT JOIN _trace l ON l.trace_id = c.trace_id;

CREATE VIEW host_uses AS
-- Calls of one name in one step, and what the GPU did for it (table host_use). The args are those
-- of an operator, null in place of values that differ from call to call.
SELECT h.trace_id, t.rank, h.step,
       CASE h.kind WHEN 0 THEN 'operator' WHEN 1 THEN 'annotation' WHEN 2 THEN 'function'
                   WHEN 3 THEN 'module' WHEN 4 THEN 'call' END AS kind,
       l.name, @emptied:a.args@ AS args, h.calls, h.total_ns, h.self_ns, h.activities, h.gpu_ns,
       h.self_gpu_ns, h.backward_gpu_ns, h.self_backward_gpu_ns
FROM _host_use h CROSS JOIN _trace t ON t.trace_id = h.trace_id
     LEFT JOIN _event_name l ON l.id = h.event_name
     LEFT JOIN _args_text a ON a.id = h.args_text;

CREATE VIEW kernel_uses AS  -- GPU activities of one name by operator (table kernel_use)
SELECT k.trace_id, t.rank, k.step, o.name AS op, f.name AS forward_op, l.name AS kernel,
       k.activities, k.gpu_ns
FROM _kernel_use k CROSS JOIN _trace t ON t.trace_id = k.trace_id
     LEFT JOIN _event_name o ON o.id = k.op LEFT JOIN _event_name f ON f.id = k.forward_op
     LEFT JOIN _event_name l ON l.id = k.kernel;

CREATE VIEW sync_uses AS  -- calls that wait for the GPU, by where they are made (table sync_use)
SELECT s.trace_id, t.rank, s.step, l.name, s.path_id, s.calls, s.total_ns, s.stalls, s.stalled_ns
FROM _sync_use s CROSS JOIN _trace t ON t.trace_id = s.trace_id
     LEFT JOIN _event_name l ON l.id = s.event_name;

CREATE VIEW step_uses AS  -- a GPU's time in one step, shared out (table step_use)
SELECT u.trace_id, t.rank, u.device, u.step, u.start_ns, u.end_ns, u.compute_ns,
       u.communication_ns, u.overlap_ns, u.exposed_pipeline_ns, u.exposed_data_ns,
       u.exposed_tensor_ns, u.exposed_expert_ns, u.exposed_other_ns, u.exposed_memory_ns,
       u.idle_host_ns, u.idle_sync_ns, u.idle_dependency_ns, u.idle_unknown_ns
FROM _step_use u CROSS JOIN _trace t ON t.trace_id = u.trace_id;

CREATE VIEW collectives AS  -- one rank's part in a communication kernel
SELECT p.id AS slice_id, p.trace_id, p.rank, p.group_id, p.ordinal, p.seq, p.collective, p.dtype,
       p.in_bytes, p.out_bytes, p.ts_ns, p.dur_ns, p.peer, p.step, p.launch_ts_ns,
       @aligned:p.ts_ns@ AS aligned_ts_ns
FROM _collective_part p LEFT JOIN _clock c ON c.rank = p.rank;

CREATE VIEW matched_collectives AS
-- A collective, of all its ranks in the database; starts by the aligned clocks (table clock). A
-- rank waits from its own start to the last one. Of a part without a partner the wait is estimated:
-- what it took longer than the shortest of the same collective, size and group.
WITH origin AS (
  SELECT min(start_ns) AS zero_ns FROM _trace
),
part AS (  -- starts are counted from zero_ns: sums of absolute times would overflow
  SELECT p.id, p.group_id, p.pair, p.by_seq, p.match_no, p.rank, p.dur_ns,
         @aligned:p.ts_ns@ - zero_ns AS start_ns
  FROM _collective_part p CROSS JOIN origin LEFT JOIN _clock c ON c.rank = p.rank
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
  SELECT group_id, collective, in_bytes, out_bytes,
         min(dur_ns) FILTER (WHERE dur_ns >= 0) AS shortest_ns
  FROM _collective_part WHERE group_id IS NOT NULL
  GROUP BY group_id, collective, in_bytes, out_bytes
)
SELECT p.id AS slice_id, p.trace_id, p.group_id, p.collective, p.dtype, p.ordinal, p.seq, p.step,
       max(coalesce(p.in_bytes, p.out_bytes), coalesce(p.out_bytes, p.in_bytes)) AS bytes,
       i.ranks_met, i.first_rank, p.rank AS last_rank, i.first_ns + zero_ns AS first_start_ns,
       i.last_ns + zero_ns AS last_start_ns, i.ranks_met * i.last_ns - i.sum_ns AS wait_ns,
       i.last_ns - i.first_ns AS max_wait_ns, i.transfer_ns, 0 AS is_estimate
FROM judged i CROSS JOIN origin CROSS JOIN _collective_part p ON p.id = i.last_id
UNION ALL
SELECT p.id, p.trace_id, p.group_id, p.collective, p.dtype, p.ordinal, p.seq, p.step,
       max(coalesce(p.in_bytes, p.out_bytes), coalesce(p.out_bytes, p.in_bytes)),
       1, p.rank, NULL, i.first_ns + zero_ns, NULL, p.dur_ns - s.shortest_ns,
       p.dur_ns - s.shortest_ns, s.shortest_ns, 1
FROM instance i CROSS JOIN origin CROSS JOIN _collective_part p ON p.id = i.any_id
     CROSS JOIN _process_group g ON g.group_id = p.group_id AND g.size > 1
     CROSS JOIN shortest s ON s.group_id = p.group_id AND s.collective IS p.collective
       AND s.in_bytes IS p.in_bytes AND s.out_bytes IS p.out_bytes
WHERE NOT i.is_met AND p.dur_ns >= 0;

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
       s.total_reserved AS total_reserved_bytes, t.pid, t.tid
FROM _instant s CROSS JOIN _track t ON t.id = s.track
     CROSS JOIN _event_name l ON l.id = s.event_name
     LEFT JOIN _args_text a ON a.id = s.args_text
WHERE l.name = '[memory]';

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
