-- reads: step_uses traces
SELECT
  t.run AS run, t.capture AS capture, t.rank AS rank, u.device AS device, u.step AS step,
  (
    u.start_ns - t.run_start_ns
  ) / 1e6 AS start_ms,
  (
    u.end_ns - u.start_ns
  ) / 1e6 AS span_ms,
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
  (
    u.idle_host_ns + u.idle_sync_ns + u.idle_dependency_ns + u.idle_unknown_ns
  ) / 1e6 AS all_idle_ms,
  100.0e0 * u.compute_ns / NULLIF(u.end_ns - u.start_ns, 0) AS compute_pct
FROM step_uses AS u
JOIN traces AS t
  ON t.trace_id = u.trace_id
WHERE
  (
    ALL_OF(rank) OR ONE_OF(rank, t.rank)
  )
  AND (
    ALL_OF(step) OR ONE_OF(step, u.step)
  )
  AND (
    ALL_OF(run) OR t.run = GIVEN(run)
  )
  AND (
    ALL_OF(capture) OR t.capture = GIVEN(capture)
  )
ORDER BY
  t.run_id NULLS FIRST, t.capture NULLS FIRST, t.rank NULLS FIRST,
  TEXT_INT(u.device) NULLS FIRST,
  u.device NULLS FIRST, u.start_ns NULLS FIRST, u.step NULLS FIRST
