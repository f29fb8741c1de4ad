-- title: Where each step's time went on the GPU
--
-- One row for each step of a GPU: its time from the first activity launched in the step to the
-- first of the next one, shared out so that compute_ms, the exposed_ columns and the idle_ columns
-- add up to span_ms, to the nanosecond. Exposed is what runs while no compute kernel does;
-- where groups of several kinds communicate then, the kind that ends last counts. Idle is told
-- piece by piece, by what the thread did that launched the activity which ended the gap, as in
-- `gpu_gaps`: what the host does after a synchronising call, or after the call's work has ended,
-- is the host's.
--
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  step     ints(count) = null  These steps only; all when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run                  text        The run: one training job that was recorded.
-- column: capture              int(count)  The capture: its number in the run.
-- column: rank                 int(id)     The rank.
-- column: device               text        The GPU, as the trace calls it.
-- column: step                 int(count)  The step; NULL: before the first one's activities.
-- column: start_ms             real(ms)    Where it begins, since the first event of the run.
-- column: span_ms              real(ms)    How long it is.
-- column: compute_ms           real(ms)    Compute kernels ran.
-- column: exposed_tensor_ms    real(ms)    Communication alone, of tensor parallel groups.
-- column: exposed_pipeline_ms  real(ms)    Of pipeline parallel groups.
-- column: exposed_data_ms      real(ms)    Of data parallel groups.
-- column: exposed_expert_ms    real(ms)    Of expert parallel groups.
-- column: exposed_context_ms   real(ms)    Of context or sequence parallel groups.
-- column: exposed_other_ms     real(ms)    Of other groups, and of none that the trace tells.
-- column: exposed_memory_ms    real(ms)    Copies and fills alone.
-- column: idle_host_ms         real(ms)    Nothing ran: the next activity was launched after the
--                                          gap had begun.
-- column: idle_sync_ms         real(ms)    Nothing ran, and the thread was in a call that waits for
--                                          the GPU, whose work had not ended.
-- column: idle_dependency_ms   real(ms)    The next one was launched before, and waited for others.
-- column: idle_other_ms        real(ms)    The launch of the next one is not in the trace.
-- column: all_idle_ms          real(ms)    The idle_ columns together.
-- column: compute_pct          real(pct)   compute_ms of span_ms.
--
-- about:  steps and GPU time
-- lead:   rank, step, span_ms, compute_ms, idle_host_ms, exposed_tensor_ms, exposed_pipeline_ms,
--         exposed_data_ms, exposed_expert_ms, exposed_context_ms, exposed_other_ms, device
-- plot:   stacked compute_ms, exposed_tensor_ms, exposed_pipeline_ms, exposed_data_ms,
--         exposed_expert_ms, exposed_context_ms, exposed_other_ms, exposed_memory_ms, all_idle_ms
--         by run, capture, rank, device, step
-- empty:  No GPU activity is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

SELECT
  t.run,
  t.capture,
  t.rank,
  u.device,
  u.step,
  (u.start_ns - t.run_start_ns) / 1e6 AS start_ms,
  (u.end_ns - u.start_ns) / 1e6 AS span_ms,
  u.compute_ns / 1e6 AS compute_ms,
  u.exposed_tensor_ns / 1e6 AS exposed_tensor_ms,
  u.exposed_pipeline_ns / 1e6 AS exposed_pipeline_ms,
  u.exposed_data_ns / 1e6 AS exposed_data_ms,
  u.exposed_expert_ns / 1e6 AS exposed_expert_ms,
  u.exposed_context_ns / 1e6 AS exposed_context_ms,
  u.exposed_other_ns / 1e6 AS exposed_other_ms,
  u.exposed_memory_ns / 1e6 AS exposed_memory_ms,
  u.idle_host_ns / 1e6 AS idle_host_ms,
  u.idle_sync_ns / 1e6 AS idle_sync_ms,
  u.idle_dependency_ns / 1e6 AS idle_dependency_ms,
  u.idle_unknown_ns / 1e6 AS idle_other_ms,
  (u.idle_host_ns + u.idle_sync_ns + u.idle_dependency_ns + u.idle_unknown_ns) / 1e6
    AS all_idle_ms,
  100.0 * u.compute_ns / nullif(u.end_ns - u.start_ns, 0) AS compute_pct
FROM step_uses u JOIN traces t ON t.trace_id = u.trace_id
WHERE (:rank IS NULL OR t.rank IN (SELECT value FROM json_each(:rank)))
  AND (:step IS NULL OR u.step IN (SELECT value FROM json_each(:step)))
  AND (:run IS NULL OR t.run = :run) AND (:capture IS NULL OR t.capture = :capture)
ORDER BY t.run_id, t.capture, t.rank, CAST(u.device AS INTEGER), u.device, u.start_ns, u.step;
