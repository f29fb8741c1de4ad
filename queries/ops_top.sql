-- title: Which operators take the time, of the host and of the GPU
--
-- One row for each operator of PyTorch, all its calls together. Its own time leaves out operators
-- that it calls; the GPU's time is that of what was launched in it, on any stream, summed. What
-- the backward pass of a forward operator launched stands in backward_gpu_ms of that one (and in
-- gpu_ms of the operator of the backward pass).
--
-- param:  limit  int(rows)   = 30    Rows returned at most, the most GPU and own host time first.
-- param:  rank   int(id)     = null  This rank only; all of them together when null.
-- param:  step   int(count)  = null  Calls that start in this step, and what was launched in it.
--
-- column: name             text        The operator.
-- column: calls            int(count)  How often it was called.
-- column: host_ms          real(ms)    In it; calls of itself by itself count once.
-- column: self_host_ms     real(ms)    In it and in no operator that it calls.
-- column: gpu_ms           real(ms)    What was launched in it ran as long on the GPU.
-- column: self_gpu_ms      real(ms)    What was launched in it and in no operator that it calls.
-- column: self_share_pct   real(pct)   self_gpu_ms of all GPU time of this rank and step.
-- column: backward_gpu_ms  real(ms)    What its backward pass launched.
-- column: activities       int(count)  Kernels, copies and fills launched in it.
-- column: shapes           int(count)  Different args (shapes, types) of its calls; addresses and
--                                      other numbers that differ from call to call left out.
-- column: ranks            int(count)  Ranks that call it.
--
-- plot:   bar self_gpu_ms by name
-- empty:  No operator is in the database: record with ProfilerActivity.CPU.

WITH use AS (
  SELECT rank, name, args_id, calls, total_ns, self_ns, gpu_ns, self_gpu_ns, backward_gpu_ns,
         activities
  FROM host_uses
  WHERE kind = 'operator' AND (:rank IS NULL OR rank = :rank) AND (:step IS NULL OR step = :step)
),
shape AS MATERIALIZED (  -- one number for a text: what is counted below is numbers
  SELECT a.args_id, min(a.args_id) OVER (PARTITION BY a.args) AS shape
  FROM (SELECT DISTINCT args_id FROM use) u CROSS JOIN args_texts a ON a.args_id = u.args_id
  WHERE a.args IS NOT NULL
),
whole AS (
  SELECT sum(gpu_ns) AS gpu_ns FROM kernel_uses
  WHERE (:rank IS NULL OR rank = :rank) AND (:step IS NULL OR step = :step)
)
SELECT
  u.name,
  sum(u.calls) AS calls,
  sum(u.total_ns) / 1e6 AS host_ms,
  sum(u.self_ns) / 1e6 AS self_host_ms,
  sum(u.gpu_ns) / 1e6 AS gpu_ms,
  sum(u.self_gpu_ns) / 1e6 AS self_gpu_ms,
  100.0 * sum(u.self_gpu_ns) / nullif(w.gpu_ns, 0) AS self_share_pct,
  sum(u.backward_gpu_ns) / 1e6 AS backward_gpu_ms,
  sum(u.activities) AS activities,
  count(DISTINCT s.shape) FILTER (WHERE u.calls > 0) AS shapes,
  count(DISTINCT u.rank) FILTER (WHERE u.calls > 0) AS ranks
FROM use u LEFT JOIN shape s ON s.args_id = u.args_id CROSS JOIN whole w
GROUP BY u.name
ORDER BY sum(u.self_gpu_ns) + sum(u.self_ns) DESC, u.name
LIMIT coalesce(:limit, 30);
