-- title: What the host did in each step, as compare takes it
--
-- One row for each name of an operator, annotation, module or runtime call in each step of a rank:
-- how often, for how long, and the GPU time of what was launched while it was the innermost. Steps
-- themselves are left out, and what is in none.
--
-- param:  run    text       = null  This run only; all of them when null.
-- param:  whole  int(0..1)  = 0     1: what is in no step, too.
--
-- column: run          text        The run: one training job that was recorded.
-- column: capture      int(count)  The capture: its number in the run.
-- column: rank         int(id)     The rank.
-- column: step         int(count)  The step.
-- column: kind         text        operator, annotation, module or call (of the runtime).
-- column: name         text        Its name.
-- column: calls        int(count)  How often.
-- column: total_ms     real(ms)    Of those that are not within one of the same name.
-- column: self_ms      real(ms)    In which it is the innermost of its kind.
-- column: self_gpu_ms  real(ms)    Of GPU activities launched while it is that.
--
-- empty:  No step with operators is in the database.

SELECT
  t.run,
  t.capture,
  h.rank,
  h.step,
  h.kind,
  h.name,
  sum(h.calls) AS calls,
  sum(h.total_ns) / 1e6 AS total_ms,
  sum(h.self_ns) / 1e6 AS self_ms,
  sum(h.self_gpu_ns) / 1e6 AS self_gpu_ms
FROM host_uses h JOIN traces t ON t.trace_id = h.trace_id
WHERE (h.step IS NOT NULL OR :whole) AND h.name IS NOT NULL
  AND h.kind IN ('operator', 'annotation', 'module', 'call')
  AND NOT (h.kind = 'annotation' AND h.name GLOB 'ProfilerStep#*')
  AND (:run IS NULL OR t.run = :run)
GROUP BY t.run_id, t.capture, h.rank, h.step, h.kind, h.name
ORDER BY t.run_id, t.capture, h.step, h.kind, h.name, h.rank;
