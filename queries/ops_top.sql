-- title: Which operators take the time, of the host and of the GPU
--
-- One row for each operator of PyTorch, all its calls together. Its own time leaves out operators
-- that it calls; the GPU's time is that of what was launched in it, on any stream, summed. What
-- the backward pass of a forward operator launched stands in backward_gpu_ms of that one (and in
-- gpu_ms of the operator of the backward pass).
--
-- param:  limit    int(rows)   = 30    Rows returned at most for a run, the most GPU and own host
--                                      time first.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them together when null.
-- param:  step     ints(count) = null  Calls started in these steps, and what was launched in them.
--
-- column: run              text        The run: one training job that was recorded.
-- column: name             text        The operator.
-- column: calls            int(count)  How often it was called.
-- column: host_ms          real(ms)    In it; calls of itself by itself count once.
-- column: self_host_ms     real(ms)    In it and in no operator that it calls.
-- column: gpu_ms           real(ms)    What was launched in it ran as long on the GPU.
-- column: self_gpu_ms      real(ms)    What was launched in it and in no operator that it calls.
-- column: self_share_pct   real(pct)   self_gpu_ms of all GPU time of the run, this rank and step.
-- column: backward_gpu_ms  real(ms)    What its backward pass launched.
-- column: activities       int(count)  Kernels, copies and fills launched in it.
-- column: shapes           int(count)  Different args (shapes, types) of its calls; addresses and
--                                      other numbers that differ from call to call left out.
-- column: ranks            int(count)  Ranks that call it.
-- column: tc_eligible      bool        1: it launches matrix kernels that can run on tensor cores;
--                                      0: none; NULL: not told. By kernels' names, as uses_tc
--                                      (tensor_core_rules): tensor_core_use looks at types too.
-- column: uses_tc          bool        1: one of its kernels at least uses tensor cores; 0: none;
--                                      NULL: not known.
--
-- about:  kernels and operators
-- lead:   name, calls, self_gpu_ms, self_share_pct, gpu_ms, host_ms
-- plot:   bar self_gpu_ms by run, name
-- empty:  No operator is in the database: record with ProfilerActivity.CPU.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
use AS (
  SELECT t.run, h.rank, h.name, h.args_id, h.calls, h.total_ns, h.self_ns, h.gpu_ns, h.self_gpu_ns,
         h.backward_gpu_ns, h.activities
  FROM host_uses h JOIN trace t ON t.trace_id = h.trace_id
  WHERE h.kind = 'operator' AND (:step IS NULL OR h.step IN (SELECT value FROM json_each(:step)))
),
shape AS MATERIALIZED (  -- one number for a text: what is counted below is numbers
  SELECT a.args_id, min(a.args_id) OVER (PARTITION BY a.args) AS shape
  FROM (SELECT DISTINCT args_id FROM use) u CROSS JOIN args_texts a ON a.args_id = u.args_id
  WHERE a.args IS NOT NULL
),
whole AS MATERIALIZED (
  SELECT t.run, sum(k.gpu_ns) AS gpu_ns
  FROM kernel_uses k JOIN trace t ON t.trace_id = k.trace_id
  WHERE :step IS NULL OR k.step IN (SELECT value FROM json_each(:step))
  GROUP BY t.run
),
summed AS (
  SELECT u.run, u.name, sum(u.calls) AS calls, sum(u.total_ns) AS total_ns,
         sum(u.self_ns) AS self_ns, sum(u.gpu_ns) AS gpu_ns, sum(u.self_gpu_ns) AS self_gpu_ns,
         sum(u.backward_gpu_ns) AS backward_gpu_ns, sum(u.activities) AS activities,
         count(DISTINCT s.shape) FILTER (WHERE u.calls > 0) AS shapes,
         count(DISTINCT u.rank) FILTER (WHERE u.calls > 0) AS ranks
  FROM use u LEFT JOIN shape s ON s.args_id = u.args_id
  GROUP BY u.run, u.name
),
own_kernel AS MATERIALIZED (
  SELECT DISTINCT t.run, k.op, k.kernel
  FROM kernel_uses k JOIN trace t ON t.trace_id = k.trace_id
  WHERE k.op IS NOT NULL
    AND (:step IS NULL OR k.step IN (SELECT value FROM json_each(:step)))
),
judged AS MATERIALIZED (  -- by the rule that fits first
  SELECT k.kernel, (SELECT min(r.place) FROM tensor_core_rules r
                    WHERE lower(k.kernel) GLOB r.pattern) AS place
  FROM (SELECT DISTINCT kernel FROM own_kernel) k
),
multiplies AS (
  SELECT k.run, k.op, max(ifnull(r.tensor_cores = 'yes', 0)) AS any_uses,
         max(ifnull(r.tensor_cores = 'unknown', 0)) AS any_unknown,
         max(ifnull(r.could_use, 0)) AS any_could,
         max(r.tensor_cores IS NOT NULL AND r.could_use IS NULL) AS any_untold
  FROM own_kernel k JOIN judged j ON j.kernel = k.kernel
       LEFT JOIN tensor_core_rules r ON r.place = j.place
  GROUP BY k.run, k.op
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY run ORDER BY self_gpu_ns + self_ns DESC, name) AS place
  FROM summed
)
SELECT
  u.run,
  u.name,
  u.calls,
  u.total_ns / 1e6 AS host_ms,
  u.self_ns / 1e6 AS self_host_ms,
  u.gpu_ns / 1e6 AS gpu_ms,
  u.self_gpu_ns / 1e6 AS self_gpu_ms,
  100.0 * u.self_gpu_ns / nullif(w.gpu_ns, 0) AS self_share_pct,
  u.backward_gpu_ns / 1e6 AS backward_gpu_ms,
  u.activities,
  u.shapes,
  u.ranks,
  CASE WHEN m.any_could THEN 1 WHEN m.any_untold THEN NULL ELSE 0 END AS tc_eligible,
  CASE WHEN m.any_uses THEN 1 WHEN m.any_unknown THEN NULL ELSE 0 END AS uses_tc
FROM placed u LEFT JOIN whole w ON w.run = u.run
LEFT JOIN multiplies m ON m.run = u.run AND m.op = u.name
WHERE u.place <= coalesce(:limit, 30) OR :limit < 0
ORDER BY u.run, u.place;
