-- title: Operators by the whole way to them, and their tensor cores
--
-- One row for each operator that launched something on the GPU and each way by which it was called:
-- annotations, modules, Python functions and operators around it, from the outermost. This is
-- DLProf's table of GPU operations. GPU time is that of what the operator itself launched, summed,
-- as self_gpu_ms of ops_top; what no operator launched stands in no row.
--
-- param:  limit    int(rows)   = 30    Rows returned at most for a run, the most GPU time first.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them together when null.
-- param:  step     ints(count) = null  What was launched in these steps only.
--
-- column: run           text        The run: one training job that was recorded.
-- column: path          text        The way, with the operator at its end; of 256 pieces the
--                                   innermost.
-- column: op            text        The operator.
-- column: gpu_ms        real(ms)    What it launched there ran as long on the GPU.
-- column: gpu_pct       real(pct)   Of all GPU time of the run, these ranks and steps.
-- column: activities    int(count)  Kernels, copies and fills that it launched there.
-- column: calls         int(count)  Launches of these: fewer where a graph or one call has several.
-- column: ranks         int(count)  Ranks that did.
-- column: tc_eligible   bool        1: matrix kernels among them can run on tensor cores; 0: none;
--                                   NULL: not told. By kernels' names, as uses_tc
--                                   (tensor_core_rules): tensor_core_use looks at types too.
-- column: uses_tc       bool        1: matrix kernels among them use tensor cores, one at least; 0:
--                                   none; NULL: not known.
--
-- about:  kernels and operators
-- lead:   op, gpu_ms, gpu_pct, activities, tc_eligible, uses_tc, path
-- plot:   bar gpu_ms by run, path
-- empty:  No operator launched anything: record with ProfilerActivity.CPU and CUDA.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH RECURSIVE trace AS MATERIALIZED (
  SELECT trace_id, run, rank FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
ran AS MATERIALIZED (
  SELECT t.run, t.rank, l.path_id, a.name_id, count(*) AS activities,
         count(DISTINCT l.launch_slice_id) AS calls, sum(ifnull(a.dur_ns, 0)) AS gpu_ns
  FROM activities a JOIN tracks k ON k.track_id = a.track_id
       JOIN trace t ON t.trace_id = k.trace_id
       LEFT JOIN launches l ON l.slice_id = a.slice_id
  WHERE ifnull(a.dur_ns, 0) >= 0
    AND (:step IS NULL OR a.step IN (SELECT value FROM json_each(:step)))
  GROUP BY t.run, t.rank, l.path_id, a.name_id
),
climb(path_id, place, kind) AS (  -- from where something was launched up to an operator
  SELECT p.path_id, p.path_id, p.kind FROM call_paths p
  WHERE p.path_id IN (SELECT path_id FROM ran)
  UNION ALL
  SELECT c.path_id, p.path_id, p.kind
  FROM climb c JOIN call_paths o ON o.path_id = c.place JOIN call_paths p ON p.path_id = o.parent_id
  WHERE c.kind <> 'operator'
),
way AS MATERIALIZED (
  SELECT c.path_id, p.name AS op, p.path FROM climb c JOIN call_paths p ON p.path_id = c.place
  WHERE c.kind = 'operator'
),
judged AS MATERIALIZED (  -- by the rule that fits first
  SELECT n.name_id, (SELECT min(r.place) FROM tensor_core_rules r
                     WHERE lower(n.name) GLOB r.pattern) AS place
  FROM names n WHERE n.name_id IN (SELECT name_id FROM ran)
),
summed AS (
  SELECT r.run, w.path, w.op, sum(r.gpu_ns) AS gpu_ns, sum(r.activities) AS activities,
         sum(r.calls) AS calls, count(DISTINCT r.rank) AS ranks,
         max(ifnull(u.tensor_cores = 'yes', 0)) AS any_uses,
         max(ifnull(u.tensor_cores = 'unknown', 0)) AS any_unknown,
         max(ifnull(u.could_use, 0)) AS any_could,
         max(u.tensor_cores IS NOT NULL AND u.could_use IS NULL) AS any_untold
  FROM ran r JOIN way w ON w.path_id = r.path_id JOIN judged j ON j.name_id = r.name_id
       LEFT JOIN tensor_core_rules u ON u.place = j.place
  GROUP BY r.run, w.path, w.op
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY run ORDER BY gpu_ns DESC, path) AS place FROM summed
)
SELECT
  p.run,
  p.path,
  p.op,
  p.gpu_ns / 1e6 AS gpu_ms,
  100.0 * p.gpu_ns / nullif((SELECT sum(r.gpu_ns) FROM ran r WHERE r.run = p.run), 0) AS gpu_pct,
  p.activities,
  p.calls,
  p.ranks,
  CASE WHEN p.any_could THEN 1 WHEN p.any_untold THEN NULL ELSE 0 END AS tc_eligible,
  CASE WHEN p.any_uses THEN 1 WHEN p.any_unknown THEN NULL ELSE 0 END AS uses_tc
FROM placed p
WHERE p.place <= coalesce(:limit, 30) OR :limit < 0
ORDER BY p.run, p.place;
