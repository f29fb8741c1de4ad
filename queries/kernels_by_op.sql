-- title: Which operators launch which kernels
--
-- One row for each kernel and the innermost operator that launched it: the operator that the
-- launching thread was in, else the one with the kernel's External id. Kernels of a backward pass
-- name the forward operator too that they belong to, by its Sequence number. All rows add up to
-- the GPU's time summed over activities.
--
-- param:  limit  int(rows)   = 30    Rows returned at most, the most GPU time first.
-- param:  rank   int(id)     = null  This rank only; all of them together when null.
-- param:  step   int(count)  = null  Only what was launched in this step; all when null.
--
-- column: op          text        The operator; NULL: the trace does not tell.
-- column: forward_op  text        Of a backward pass: the operator of the forward pass.
-- column: kernel      text        The kernel, copy or fill.
-- column: activities  int(count)  How many.
-- column: gpu_ms      real(ms)    Their durations, summed.
-- column: share_pct   real(pct)   gpu_ms of all GPU time of this rank and step.
-- column: mean_ms     real(ms)    gpu_ms of one.
-- column: ranks       int(count)  Ranks on which it ran.
--
-- plot:   bar gpu_ms by op, forward_op, kernel
-- empty:  No GPU activity is in the database, or none of that rank and step.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH use AS (
  SELECT * FROM kernel_uses
  WHERE (:rank IS NULL OR rank = :rank) AND (:step IS NULL OR step = :step)
)
SELECT
  op,
  forward_op,
  kernel,
  sum(activities) AS activities,
  sum(gpu_ns) / 1e6 AS gpu_ms,
  100.0 * sum(gpu_ns) / nullif((SELECT sum(gpu_ns) FROM use), 0) AS share_pct,
  1.0 * sum(gpu_ns) / sum(activities) / 1e6 AS mean_ms,
  count(DISTINCT rank) AS ranks
FROM use
GROUP BY op, forward_op, kernel
ORDER BY sum(gpu_ns) DESC, kernel, op, forward_op
LIMIT coalesce(:limit, 30);
