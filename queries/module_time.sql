-- title: GPU time of each nn.Module and Python function
--
-- One row for each module and each function of Python, all its calls together: what was launched
-- in it (on its thread, at any depth), and what the backward pass of its operators launched, which
-- runs on another thread. A kernel counts once for a name, however often that is on the stack; its
-- own (self_) for the innermost module and for the innermost function. Wants a trace recorded
-- with with_stack=True (modules: with_modules or with_stack).
--
-- param:  kind     text        = null  module or function; both when null.
-- param:  limit    int(rows)   = 40    Rows returned at most for a run, the most GPU time first.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them together when null.
-- param:  step     ints(count) = null  Calls started in these steps, and what was launched in them.
--
-- column: run                   text        The run: one training job that was recorded.
-- column: kind                  text        module or function.
-- column: name                  text        The module (class and number) or the function (file,
--                                           line, name).
-- column: calls                 int(count)  How often it was called.
-- column: gpu_ms                real(ms)    What was launched in it ran as long, summed.
-- column: backward_gpu_ms       real(ms)    What the backward pass of its operators launched.
-- column: share_pct             real(pct)   Both, of all GPU time of the run, this rank and step.
-- column: self_gpu_ms           real(ms)    Of gpu_ms, in no other of its kind that it calls.
-- column: self_backward_gpu_ms  real(ms)    Of backward_gpu_ms, as well.
-- column: host_ms               real(ms)    In it; calls of itself by itself count once.
-- column: self_host_ms          real(ms)    In it and in no other of its kind that it calls.
-- column: activities            int(count)  Kernels, copies and fills launched in it.
-- column: ranks                 int(count)  Ranks that call it.
--
-- about:  kernels and operators
-- lead:   name, calls, gpu_ms, share_pct, self_gpu_ms, host_ms
-- plot:   bar gpu_ms by run, kind, name
-- empty:  No Python function is in the database: record with with_stack=True.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
whole AS MATERIALIZED (
  SELECT t.run, sum(k.gpu_ns) AS gpu_ns
  FROM kernel_uses k JOIN trace t ON t.trace_id = k.trace_id
  WHERE :step IS NULL OR k.step IN (SELECT value FROM json_each(:step))
  GROUP BY t.run
),
summed AS (
  SELECT t.run, u.kind, u.name, sum(u.calls) AS calls, sum(u.gpu_ns) AS gpu_ns,
         sum(u.backward_gpu_ns) AS backward_gpu_ns, sum(u.self_gpu_ns) AS self_gpu_ns,
         sum(u.self_backward_gpu_ns) AS self_backward_gpu_ns, sum(u.total_ns) AS total_ns,
         sum(u.self_ns) AS self_ns, sum(u.activities) AS activities,
         count(DISTINCT u.rank) FILTER (WHERE u.calls > 0) AS ranks
  FROM host_uses u JOIN trace t ON t.trace_id = u.trace_id
  WHERE u.kind IN ('function', 'module')
    AND (:step IS NULL OR u.step IN (SELECT value FROM json_each(:step)))
    AND (:kind IS NULL OR u.kind = :kind)
  GROUP BY t.run, u.kind, u.name
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY run ORDER BY gpu_ns + backward_gpu_ns DESC,
                               self_ns DESC, kind DESC, name) AS place
  FROM summed
)
SELECT
  u.run,
  u.kind,
  iif(u.kind = 'module', substr(u.name, 12), u.name) AS name,
  u.calls,
  u.gpu_ns / 1e6 AS gpu_ms,
  u.backward_gpu_ns / 1e6 AS backward_gpu_ms,
  100.0 * (u.gpu_ns + u.backward_gpu_ns) / nullif(w.gpu_ns, 0) AS share_pct,
  u.self_gpu_ns / 1e6 AS self_gpu_ms,
  u.self_backward_gpu_ns / 1e6 AS self_backward_gpu_ms,
  u.total_ns / 1e6 AS host_ms,
  u.self_ns / 1e6 AS self_host_ms,
  u.activities,
  u.ranks
FROM placed u LEFT JOIN whole w ON w.run = u.run
WHERE u.place <= coalesce(:limit, 40) OR :limit < 0
ORDER BY u.run, u.place;
