-- title: Time of the host and of the GPU under each annotation
--
-- One row for each name that the job gave a stretch of its code (record_function, Megatron's
-- timers, nccl:all_reduce, Optimizer.step), all its calls together. The GPU's time is that of what
-- was launched in it, summed; it may run long after the annotation has ended. Steps are in
-- `step_times`.
--
-- param:  limit    int(rows)   = 50    Rows returned at most for a run, the most time of the host
--                                      first.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them together when null.
-- param:  step     ints(count) = null  Calls started in these steps, and what was launched in them.
--
-- column: run              text        The run: one training job that was recorded.
-- column: name             text        The annotation.
-- column: calls            int(count)  How often it was entered.
-- column: host_ms          real(ms)    In it; calls of itself by itself count once.
-- column: mean_ms          real(ms)    host_ms of one call.
-- column: self_host_ms     real(ms)    In it and in no annotation within it.
-- column: gpu_ms           real(ms)    What was launched in it ran as long on the GPU.
-- column: self_gpu_ms      real(ms)    What was launched in it and in no annotation within it.
-- column: backward_gpu_ms  real(ms)    What the backward pass of its operators launched.
-- column: activities       int(count)  Kernels, copies and fills launched in it.
-- column: ranks            int(count)  Ranks that have it.
-- column: most_rank        int(id)     The rank with the most host_ms, the first of several.
-- column: most_rank_ms     real(ms)    host_ms there.
-- column: least_rank       int(id)     That with the least, of those that have it.
-- column: least_rank_ms    real(ms)    host_ms there.
--
-- about:  the host
-- lead:   name, calls, host_ms, gpu_ms, self_gpu_ms
-- plot:   bar host_ms by run, name
-- empty:  No annotation is in the database: mark code with torch.profiler.record_function.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
by_rank AS (
  SELECT t.run, h.rank, h.name, sum(h.calls) AS calls, sum(h.total_ns) AS total_ns,
         sum(h.self_ns) AS self_ns, sum(h.gpu_ns) AS gpu_ns, sum(h.self_gpu_ns) AS self_gpu_ns,
         sum(h.backward_gpu_ns) AS backward_gpu_ns, sum(h.activities) AS activities
  FROM host_uses h JOIN trace t ON t.trace_id = h.trace_id
  WHERE h.kind = 'annotation' AND (:step IS NULL OR h.step IN (SELECT value FROM json_each(:step)))
  GROUP BY t.run, h.rank, h.name
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY run, name ORDER BY total_ns DESC, rank) AS from_most,
         row_number() OVER (PARTITION BY run, name ORDER BY total_ns, rank) AS from_least
  FROM by_rank
),
summed AS (
  SELECT run, name, sum(calls) AS calls, sum(total_ns) AS total_ns, sum(self_ns) AS self_ns,
         sum(gpu_ns) AS gpu_ns, sum(self_gpu_ns) AS self_gpu_ns,
         sum(backward_gpu_ns) AS backward_gpu_ns, sum(activities) AS activities,
         count(*) AS ranks, max(rank) FILTER (WHERE from_most = 1) AS most_rank,
         max(total_ns) AS most_ns, max(rank) FILTER (WHERE from_least = 1) AS least_rank,
         min(total_ns) AS least_ns,
         row_number() OVER (PARTITION BY run ORDER BY sum(total_ns) DESC, name) AS place
  FROM placed GROUP BY run, name
)
SELECT
  run,
  name,
  calls,
  total_ns / 1e6 AS host_ms,
  1.0 * total_ns / calls / 1e6 AS mean_ms,
  self_ns / 1e6 AS self_host_ms,
  gpu_ns / 1e6 AS gpu_ms,
  self_gpu_ns / 1e6 AS self_gpu_ms,
  backward_gpu_ns / 1e6 AS backward_gpu_ms,
  activities,
  ranks,
  most_rank,
  most_ns / 1e6 AS most_rank_ms,
  least_rank,
  least_ns / 1e6 AS least_rank_ms
FROM summed
WHERE place <= coalesce(:limit, 50) OR :limit < 0
ORDER BY run, place;
