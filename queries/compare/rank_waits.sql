-- title: Waits of each step by the rank they begin at
--
-- One row for each rank at which waits of a step have their root (see `nccl_stall_roots`): how long
-- all ranks together waited in collectives because of it. A step is that in which the last rank to
-- start launched the collective.
--
-- param:  run    text       = null  This run only; all of them when null.
-- param:  whole  int(0..1)  = 0     1: what is in no step, too.
--
-- column: run             text        The run: one training job that was recorded.
-- column: capture         int(count)  The capture: its number in the run.
-- column: step            int(count)  The step.
-- column: rank            int(id)     The rank that was late.
-- column: caused_wait_ms  real(ms)    Waits of all ranks because of it, summed.
--
-- empty:  Nobody waited: no collective has two of its ranks in a capture, or all started together.

SELECT
  t.run,
  t.capture,
  m.step,
  c.root_rank AS rank,
  sum(m.wait_ns) / 1e6 AS caused_wait_ms
FROM matched_collectives m JOIN collective_causes c ON c.slice_id = m.slice_id
     JOIN traces t ON t.trace_id = m.trace_id
WHERE NOT m.is_estimate AND m.wait_ns > 0 AND c.root_rank IS NOT NULL
  AND (m.step IS NOT NULL OR :whole) AND (:run IS NULL OR t.run = :run)
GROUP BY t.run_id, t.capture, m.step, c.root_rank
ORDER BY t.run_id, t.capture, m.step, c.root_rank;
