-- title: GPU time of each nn.Module and Python function
--
-- One row for each module and each function of Python, all its calls together: what was launched
-- in it (on its thread, at any depth), and what the backward pass of its operators launched, which
-- runs on another thread. A kernel counts once for a name, however often that is on the stack; its
-- own (self_) for the innermost module and for the innermost function. Wants a trace recorded
-- with with_stack=True (modules: with_modules or with_stack).
--
-- param:  kind   text        = null  module or function; both when null.
-- param:  limit  int(rows)   = 40    Rows returned at most, the most GPU time first.
-- param:  rank   int(id)     = null  This rank only; all of them together when null.
-- param:  step   int(count)  = null  Calls that start in this step, and what was launched in it.
--
-- column: kind                  text        module or function.
-- column: name                  text        The module (class and number) or the function (file,
--                                           line, name).
-- column: calls                 int(count)  How often it was called.
-- column: gpu_ms                real(ms)    What was launched in it ran as long, summed.
-- column: backward_gpu_ms       real(ms)    What the backward pass of its operators launched.
-- column: share_pct             real(pct)   Both, of all GPU time of this rank and step.
-- column: self_gpu_ms           real(ms)    Of gpu_ms, in no other of its kind that it calls.
-- column: self_backward_gpu_ms  real(ms)    Of backward_gpu_ms, as well.
-- column: host_ms               real(ms)    In it; calls of itself by itself count once.
-- column: self_host_ms          real(ms)    In it and in no other of its kind that it calls.
-- column: activities            int(count)  Kernels, copies and fills launched in it.
-- column: ranks                 int(count)  Ranks that call it.
--
-- plot:   bar gpu_ms by kind, name
-- empty:  No Python function is in the database: record with with_stack=True.

WITH use AS (
  SELECT * FROM host_uses
  WHERE kind IN ('function', 'module') AND (:rank IS NULL OR rank = :rank)
    AND (:step IS NULL OR step = :step) AND (:kind IS NULL OR kind = :kind)
),
whole AS (
  SELECT sum(gpu_ns) AS gpu_ns FROM kernel_uses
  WHERE (:rank IS NULL OR rank = :rank) AND (:step IS NULL OR step = :step)
)
SELECT
  u.kind,
  iif(u.kind = 'module', substr(u.name, 12), u.name) AS name,
  sum(u.calls) AS calls,
  sum(u.gpu_ns) / 1e6 AS gpu_ms,
  sum(u.backward_gpu_ns) / 1e6 AS backward_gpu_ms,
  100.0 * (sum(u.gpu_ns) + sum(u.backward_gpu_ns)) / nullif(w.gpu_ns, 0) AS share_pct,
  sum(u.self_gpu_ns) / 1e6 AS self_gpu_ms,
  sum(u.self_backward_gpu_ns) / 1e6 AS self_backward_gpu_ms,
  sum(u.total_ns) / 1e6 AS host_ms,
  sum(u.self_ns) / 1e6 AS self_host_ms,
  sum(u.activities) AS activities,
  count(DISTINCT u.rank) FILTER (WHERE u.calls > 0) AS ranks
FROM use u CROSS JOIN whole w
GROUP BY u.kind, u.name
ORDER BY sum(u.gpu_ns) + sum(u.backward_gpu_ns) DESC, sum(u.self_ns) DESC, u.kind DESC, u.name
LIMIT coalesce(:limit, 40);
