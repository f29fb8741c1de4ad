-- title: Which calls wait for the GPU, and did it stall for them
--
-- One row for each place in the code that calls something which returns when the GPU is done
-- (cudaStreamSynchronize, cudaDeviceSynchronize, cudaMemcpy without Async ...): the host's time in
-- it, and the gaps on the GPU that began while the thread was in it, because nothing could be
-- launched meanwhile. A call that waits long and stalls nothing costs nothing: the host was ahead.
--
-- param:  limit  int(rows)   = 30    Rows returned at most, the longest stalls first.
-- param:  rank   int(id)     = null  This rank only; all of them together when null.
-- param:  step   int(count)  = null  Calls that start in this step; all when null.
--
-- column: call         text        The runtime call.
-- column: op           text        The outermost operator around it (aten::item, aten::nonzero).
-- column: function     text        The innermost Python function around it, where there are stacks.
-- column: annotation   text        The innermost annotation around it.
-- column: calls        int(count)  How many calls.
-- column: host_ms      real(ms)    The host was in them.
-- column: stalls       int(count)  Gaps of the GPU that began while in one of them.
-- column: stalled_ms   real(ms)    How long these were.
-- column: stalled_pct  real(pct)   stalled_ms of the spans of the GPUs; of that rank and step.
-- column: ranks        int(count)  Ranks that do it.
--
-- plot:   bar stalled_ms by call, op, function, annotation
-- empty:  No call waits for the GPU, or the trace has no runtime calls.

WITH RECURSIVE use AS MATERIALIZED (
  SELECT t.rank, s.*
  FROM _sync_use s JOIN _trace t ON t.trace_id = s.trace_id
  WHERE (:rank IS NULL OR t.rank = :rank) AND (:step IS NULL OR s.step = :step)
),
way (path_id, depth, id, kind, event_name) AS (  -- from the call outwards
  SELECT c.id, 0, c.parent_id, c.kind, c.event_name
  FROM _call_path c WHERE c.id IN (SELECT path_id FROM use)
  UNION ALL
  SELECT w.path_id, w.depth + 1, c.parent_id, c.kind, c.event_name
  FROM way w CROSS JOIN _call_path c ON c.id = w.id
),
-- With one min() or max(), SQLite takes the other columns from its row.
outer_op AS (SELECT path_id, event_name, max(depth) FROM way WHERE kind = 0 GROUP BY path_id),
inner_function AS (SELECT path_id, event_name, min(depth) FROM way WHERE kind = 2 GROUP BY path_id),
inner_annotation AS (SELECT path_id, event_name, min(depth) FROM way WHERE kind = 1
     GROUP BY path_id),
span AS (
  SELECT sum(u.end_ns - u.start_ns) AS span_ns
  FROM _step_use u JOIN _trace t ON t.trace_id = u.trace_id
  WHERE (:rank IS NULL OR t.rank = :rank) AND (:step IS NULL OR u.step = :step)
)
SELECT
  l.name AS call,
  o.name AS op,
  f.name AS function,
  a.name AS annotation,
  sum(u.calls) AS calls,
  sum(u.total_ns) / 1e6 AS host_ms,
  sum(u.stalls) AS stalls,
  sum(u.stalled_ns) / 1e6 AS stalled_ms,
  100.0 * sum(u.stalled_ns) / nullif(p.span_ns, 0) AS stalled_pct,
  count(DISTINCT u.rank) AS ranks
FROM use u CROSS JOIN span p
LEFT JOIN _event_name l ON l.id = u.event_name
LEFT JOIN outer_op oo ON oo.path_id = u.path_id LEFT JOIN _event_name o ON o.id = oo.event_name
LEFT JOIN inner_function ff ON ff.path_id = u.path_id
     LEFT JOIN _event_name f ON f.id = ff.event_name
LEFT JOIN inner_annotation aa ON aa.path_id = u.path_id
     LEFT JOIN _event_name a ON a.id = aa.event_name
GROUP BY l.name, o.name, f.name, a.name
ORDER BY sum(u.stalled_ns) DESC, sum(u.total_ns) DESC, l.name, o.name, f.name, a.name
LIMIT coalesce(:limit, 30);
