-- title: Kernels under Nsight Compute beside the same in the trace
--
-- A kernel of ncu and one of a trace of its run are the same where function, grid and block are,
-- and it is the n-th such of its rank in both; of files that tell no rank, the trace of the lowest.
-- joined_pct says how much of a function's kernels found theirs: a program profiled with ncu may
-- have run other steps. ncu replays each kernel alone with the clocks it sets, so that it may be
-- faster or slower than in the job.
--
-- param:  run   text    = null  This run only; all of them when null.
-- param:  rank  ints(id) = null  These ranks only; all of them when null.
--
-- column: run            text        The run.
-- column: rank           int(id)     The rank, where ncu's file tells it.
-- column: base_name      text        The function.
-- column: kernels        int(count)  Its kernels under ncu.
-- column: joined         int(count)  Of those, found in the trace.
-- column: joined_pct     real(pct)   The share of that.
-- column: all_joined_pct  real(pct)  The share of all kernels of the rank.
-- column: ncu_ms         real(ms)    Time of the joined ones under ncu.
-- column: trace_ms       real(ms)    Their time in the trace.
-- column: slower_pct     real(pct)   How much longer they took in the trace.
-- column: op             text        An operator that launched one in the trace.
--
-- about:  Nsight Compute
-- lead:   base_name, kernels, joined_pct, ncu_ms, trace_ms, slower_pct
-- plot:   bar trace_ms by run, rank, base_name
-- empty:  No kernels of Nsight Compute are in the database.

WITH both AS MATERIALIZED (
  SELECT n.run, n.rank, n.base_name, n.kernel, n.dur_ns, k.slice_id, k.dur_ns AS trace_ns, k.op
  FROM ncu_kernels n
  LEFT JOIN ncu_trace_kernels t ON t.kernel = n.kernel AND t.rank IS n.rank AND t.run IS n.run
  LEFT JOIN kernels k ON k.slice_id = t.slice_id
  WHERE (:run IS NULL OR n.run = :run)
    AND (:rank IS NULL OR n.rank IN (SELECT value FROM json_each(:rank)))
),
summed AS (
  SELECT run, rank, base_name, count(*) AS kernels, count(slice_id) AS joined,
         sum(iif(slice_id IS NULL, NULL, dur_ns)) AS ncu_ns, sum(trace_ns) AS trace_ns,
         min(op) AS op
  FROM both GROUP BY run, rank, base_name
)
SELECT
  run,
  rank,
  base_name,
  kernels,
  joined,
  100.0 * joined / kernels AS joined_pct,
  100.0 * sum(joined) OVER of_rank / sum(kernels) OVER of_rank AS all_joined_pct,
  ncu_ns / 1e6 AS ncu_ms,
  trace_ns / 1e6 AS trace_ms,
  100.0 * (trace_ns - ncu_ns) / nullif(ncu_ns, 0) AS slower_pct,
  op
FROM summed
WINDOW of_rank AS (PARTITION BY run, rank)
ORDER BY run, rank, trace_ns DESC, ncu_ns DESC, base_name;
