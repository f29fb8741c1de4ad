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

WITH use AS MATERIALIZED (
  SELECT * FROM sync_uses
  WHERE (:rank IS NULL OR rank = :rank) AND (:step IS NULL OR step = :step)
),
span AS (
  SELECT sum(end_ns - start_ns) AS span_ns FROM step_uses
  WHERE (:rank IS NULL OR rank = :rank) AND (:step IS NULL OR step = :step)
)
SELECT
  u.name AS call,
  s.op,
  s.function,
  s.annotation,
  sum(u.calls) AS calls,
  sum(u.total_ns) / 1e6 AS host_ms,
  sum(u.stalls) AS stalls,
  sum(u.stalled_ns) / 1e6 AS stalled_ms,
  100.0 * sum(u.stalled_ns) / nullif(p.span_ns, 0) AS stalled_pct,
  count(DISTINCT u.rank) AS ranks
FROM use u CROSS JOIN span p
LEFT JOIN call_sites s ON s.path_id = u.path_id
GROUP BY u.name, s.op, s.function, s.annotation
ORDER BY sum(u.stalled_ns) DESC, sum(u.total_ns) DESC, u.name, s.op, s.function,
         s.annotation
LIMIT coalesce(:limit, 30);
