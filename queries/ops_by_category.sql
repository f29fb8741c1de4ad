-- title: What the time of the GPU goes into, by kind of work
--
-- One row for each category of work on the GPU: by the innermost operator that launched it, and by
-- the kernel's name where no operator is known or its name does not tell. Communication is so by
-- `kind_rules`. covered_pct says for how much of it `roofline` has a figure by the args alone
-- (of engines' attention it may have one by an annotation).
--
-- param:  run          text        = null  This run only; all of them when null.
-- param:  capture      int(count)  = null  This capture of a run only, by its number; all when
--                                          null.
-- param:  rank         ints(id)    = null  These ranks only; all of them together when null.
-- param:  step         ints(count) = null  Work launched in these steps; all when null.
--
-- column: run          text        The run: one training job that was recorded.
-- column: category     text        GEMM, convolution, attention, norm (softmax too), elementwise,
--                                  reduction, embedding, optimizer, communication, copy (fills too)
--                                  or other.
-- column: activities   int(count)  Kernels, copies and fills.
-- column: gpu_ms       real(ms)    Sum of their durations.
-- column: share_pct    real(pct)   gpu_ms of all GPU time of the run, this rank and step.
-- column: ops          int(count)  Operators that launched it.
-- column: most_op      text        The one with the most time; NULL: of most no operator is known.
-- column: most_ms      real(ms)    Its time.
-- column: covered_pct  real(pct)   Of gpu_ms: what operators took whose args decide what they move
--                                  or compute.
--
-- about:  kernels and operators
-- lead:   category, activities, gpu_ms, share_pct, most_op
-- plot:   bar gpu_ms by run, category
-- empty:  No GPU activity is in the database, or none of that rank and step.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH trace AS MATERIALIZED (
  SELECT trace_id, run FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
ran AS MATERIALIZED (
  SELECT k.trace_id, k.op_id, k.args_id, k.kernel_id, k.kind, sum(k.activities) AS activities,
         sum(k.gpu_ns) AS gpu_ns
  FROM op_kernels k
  WHERE k.trace_id IN (SELECT trace_id FROM trace)
    AND (:step IS NULL OR k.step IN (SELECT value FROM json_each(:step)))
  GROUP BY k.trace_id, k.op_id, k.args_id, k.kernel_id, k.kind
),
costed AS MATERIALIZED (  -- with the kernel that took longest, as in roofline
  SELECT l.trace_id, l.op_id, l.args_id
  FROM (SELECT trace_id, op_id, args_id, max(gpu_ns), kernel_id FROM ran
        WHERE op_id IS NOT NULL GROUP BY trace_id, op_id, args_id) l
       JOIN names n ON n.name_id = l.op_id JOIN names k ON k.name_id = l.kernel_id
       JOIN args_texts a ON a.args_id = l.args_id
  WHERE op_cost(n.name, a.args, k.name) IS NOT NULL
),
op_word AS MATERIALIZED (
  SELECT n.name_id, n.name, op_category(n.name) AS category
  FROM (SELECT DISTINCT op_id FROM ran) r JOIN names n ON n.name_id = r.op_id
),
kernel_word AS MATERIALIZED (
  SELECT n.name_id, kernel_category(n.name) AS category
  FROM (SELECT DISTINCT kernel_id FROM ran) r JOIN names n ON n.name_id = r.kernel_id
),
told AS (
  SELECT t.run, o.name AS op, r.activities, r.gpu_ns,
         CASE WHEN r.kind = 1 THEN 'communication'
              ELSE coalesce(o.category, k.category, iif(r.kind = 2, 'copy', 'other')) END
           AS category,
         iif((r.trace_id, r.op_id, r.args_id) IN (SELECT * FROM costed), r.gpu_ns, 0) AS covered_ns
  FROM ran r JOIN trace t ON t.trace_id = r.trace_id
       LEFT JOIN op_word o ON o.name_id = r.op_id
       LEFT JOIN kernel_word k ON k.name_id = r.kernel_id
),
by_op AS (
  SELECT run, category, op, sum(activities) AS activities, sum(gpu_ns) AS gpu_ns,
         sum(covered_ns) AS covered_ns
  FROM told GROUP BY run, category, op
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY run, category ORDER BY gpu_ns DESC, op) AS place
  FROM by_op
),
summed AS (
  SELECT run, category, sum(activities) AS activities, sum(gpu_ns) AS gpu_ns,
         count(op) AS ops, sum(covered_ns) AS covered_ns,
         max(iif(place = 1, op, NULL)) AS most_op, max(iif(place = 1, gpu_ns, NULL)) AS most_ns
  FROM placed GROUP BY run, category
)
SELECT
  run,
  category,
  activities,
  gpu_ns / 1e6 AS gpu_ms,
  100.0 * gpu_ns / nullif(sum(gpu_ns) OVER (PARTITION BY run), 0) AS share_pct,
  ops,
  most_op,
  most_ns / 1e6 AS most_ms,
  100.0 * covered_ns / nullif(gpu_ns, 0) AS covered_pct
FROM summed
ORDER BY run, gpu_ms DESC, category;
