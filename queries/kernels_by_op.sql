-- title: Which operators launch which kernels
--
-- One row for each kernel and the innermost operator that launched it: the operator that the
-- launching thread was in, else the one with the kernel's External id. Kernels of a backward pass
-- name the forward operator too that they belong to, by its Sequence number. All rows add up to
-- the GPU's time summed over activities.
--
-- param:  limit    int(rows)   = 30    Rows returned at most for a run, the most GPU time first.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them together when null.
-- param:  step     ints(count) = null  Only what was launched in these steps; all when null.
--
-- column: run         text        The run: one training job that was recorded.
-- column: op          text        The operator; NULL: the trace does not tell.
-- column: forward_op  text        Of a backward pass: the operator of the forward pass.
-- column: kernel      text        The kernel, copy or fill.
-- column: activities  int(count)  How many.
-- column: gpu_ms      real(ms)    Their durations, summed.
-- column: share_pct   real(pct)   gpu_ms of all GPU time of the run, this rank and step.
-- column: mean_ms     real(ms)    gpu_ms of one.
-- column: ranks       int(count)  Ranks on which it ran.
--
-- about:  kernels and operators
-- lead:   op, kernel, activities, gpu_ms, share_pct
-- plot:   bar gpu_ms by run, op, forward_op, kernel
-- empty:  No GPU activity is in the database, or none of that rank and step.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH trace AS MATERIALIZED (
  SELECT trace_id, run FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
summed AS (
  SELECT t.run, u.op, u.forward_op, u.kernel, sum(u.activities) AS activities,
         sum(u.gpu_ns) AS gpu_ns, count(DISTINCT u.rank) AS ranks
  FROM kernel_uses u JOIN trace t ON t.trace_id = u.trace_id
  WHERE :step IS NULL OR u.step IN (SELECT value FROM json_each(:step))
  GROUP BY t.run, u.op, u.forward_op, u.kernel
),
placed AS (
  SELECT *, sum(gpu_ns) OVER (PARTITION BY run) AS run_ns,
         row_number() OVER (PARTITION BY run
                            ORDER BY gpu_ns DESC, kernel, op, forward_op) AS place
  FROM summed
)
SELECT
  run,
  op,
  forward_op,
  kernel,
  activities,
  gpu_ns / 1e6 AS gpu_ms,
  100.0 * gpu_ns / nullif(run_ns, 0) AS share_pct,
  1.0 * gpu_ns / activities / 1e6 AS mean_ms,
  ranks
FROM placed
WHERE place <= coalesce(:limit, 30) OR :limit < 0
ORDER BY run, place;
