-- title: Runs of the database side by side, by parts of a step
--
-- One row for each run, where there are several: its steps on the host, and of a step of a GPU the
-- mean of the parts that `time_partition` tells. Whether a difference is more than noise is not
-- said here: `tracedb compare` tells.
--
-- param:  limit  int(rows)  = 12  Runs at most, the last to begin first.
--
-- column: run                  text        The run: one training job that was recorded.
-- column: ranks                int(count)  Its ranks that were recorded.
-- column: steps                int(count)  Steps of a rank, those of all captures.
-- column: median_step_ms       real(ms)    The middle one of all ranks' steps on the host; the mean
--                                          of the two in the middle of an even number.
-- column: gpu_steps            int(count)  Steps of all GPUs, which the means are of.
-- column: span_ms              real(ms)    A step of a GPU, from its first activity to that of the
--                                          next: the parts add up to it.
-- column: compute_ms           real(ms)    Of it: compute kernels ran.
-- column: exposed_tensor_ms    real(ms)    Communication alone, of tensor parallel groups,
-- column: exposed_pipeline_ms  real(ms)    of pipelines,
-- column: exposed_data_ms      real(ms)    of data parallel groups,
-- column: exposed_expert_ms    real(ms)    of expert parallel groups,
-- column: exposed_context_ms   real(ms)    of context parallel groups
-- column: exposed_other_ms     real(ms)    and of others.
-- column: exposed_memory_ms    real(ms)    Copies and fills alone.
-- column: idle_host_ms         real(ms)    Nothing ran: the host had launched nothing.
-- column: idle_sync_ms         real(ms)    Nothing ran, and the host waited for the GPU.
-- column: idle_dependency_ms   real(ms)    The next one was launched, and waited for others.
-- column: idle_other_ms        real(ms)    The launch of the next one is not in the trace.
--
-- empty:  There is one run in the database.

WITH listed AS MATERIALIZED (
  SELECT run_id, run, ranks, start_ns, row_number() OVER (ORDER BY start_ns DESC, run_id DESC) AS n
  FROM runs
),
shown AS MATERIALIZED (
  SELECT * FROM listed
  WHERE (:limit < 0 OR n <= coalesce(:limit, 12)) AND (SELECT count(*) FROM listed) > 1
),
timed AS (
  SELECT w.run_id, t.rank, s.dur_ns,
         row_number() OVER (PARTITION BY w.run_id ORDER BY s.dur_ns) AS n,
         count(*) OVER (PARTITION BY w.run_id) AS all_steps
  FROM shown w JOIN traces t ON t.run_id = w.run_id JOIN steps s ON s.trace_id = t.trace_id
  WHERE s.dur_ns >= 0
),
stepped AS MATERIALIZED (
  SELECT run_id, count(*) / count(DISTINCT rank) AS steps,
         avg(dur_ns) FILTER (WHERE n BETWEEN (all_steps + 1) / 2 AND (all_steps + 2) / 2)
           AS median_ns
  FROM timed GROUP BY run_id
),
shared AS MATERIALIZED (
  SELECT w.run_id, count(*) AS gpu_steps, avg(u.end_ns - u.start_ns) AS span_ns,
         avg(u.compute_ns) AS compute_ns, avg(u.exposed_tensor_ns) AS tensor_ns,
         avg(u.exposed_pipeline_ns) AS pipeline_ns, avg(u.exposed_data_ns) AS data_ns,
         avg(u.exposed_expert_ns) AS expert_ns, avg(u.exposed_context_ns) AS context_ns,
         avg(u.exposed_other_ns) AS other_ns, avg(u.exposed_memory_ns) AS memory_ns,
         avg(u.idle_host_ns) AS host_ns, avg(u.idle_sync_ns) AS sync_ns,
         avg(u.idle_dependency_ns) AS dependency_ns, avg(u.idle_unknown_ns) AS unknown_ns
  FROM shown w JOIN traces t ON t.run_id = w.run_id JOIN step_uses u ON u.trace_id = t.trace_id
  WHERE u.step IS NOT NULL GROUP BY w.run_id
)
SELECT
  w.run,
  w.ranks,
  s.steps,
  s.median_ns / 1e6 AS median_step_ms,
  u.gpu_steps,
  u.span_ns / 1e6 AS span_ms,
  u.compute_ns / 1e6 AS compute_ms,
  u.tensor_ns / 1e6 AS exposed_tensor_ms,
  u.pipeline_ns / 1e6 AS exposed_pipeline_ms,
  u.data_ns / 1e6 AS exposed_data_ms,
  u.expert_ns / 1e6 AS exposed_expert_ms,
  u.context_ns / 1e6 AS exposed_context_ms,
  u.other_ns / 1e6 AS exposed_other_ms,
  u.memory_ns / 1e6 AS exposed_memory_ms,
  u.host_ns / 1e6 AS idle_host_ms,
  u.sync_ns / 1e6 AS idle_sync_ms,
  u.dependency_ns / 1e6 AS idle_dependency_ms,
  u.unknown_ns / 1e6 AS idle_other_ms
FROM shown w LEFT JOIN stepped s ON s.run_id = w.run_id LEFT JOIN shared u ON u.run_id = w.run_id
ORDER BY w.n;
