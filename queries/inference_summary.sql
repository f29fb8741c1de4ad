-- title: Step times of an inference engine by prefill, decode
--
-- One row for each kind of steps of a rank: step times by kind. What a step is, and what is not
-- told: `inference_steps`. A kind's share_pct is of the time of all steps, each from its start to
-- that of the next one of its thread; the last one of a thread has none, and is left out of that.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
--
-- column: run               text        The run: one job that was recorded.
-- column: rank              int(id)     The rank.
-- column: engine            text        vLLM or SGLang.
-- column: kind              text        prefill, decode, mixed, draft, idle or unknown.
-- column: steps             int(count)  How many.
-- column: timed_steps       int(count)  Of those, with a step after them: the next five columns.
-- column: total_ms          real(ms)    From their starts to those of the next.
-- column: share_pct         real(pct)   Of that of all steps of the rank.
-- column: median_ms         real(ms)    Of a step; of an even number the mean of the middle two.
-- column: p90_ms            real(ms)    Nine of ten took as long or less.
-- column: max_ms            real(ms)    The longest.
-- column: mean_requests     real(count) Of a step, of those that tell it.
-- column: tokens            int(count)  Of all steps; NULL: a step does not tell them.
-- column: tokens_per_s      real(hz)    Of the timed steps, over total_ms; NULL as well.
-- column: host_ms           real(ms)    A step on the host, on average.
-- column: gpu_ms            real(ms)    The GPU was busy with what a step launched, on average.
-- column: comm_ms           real(ms)    Of it with communication kernels.
-- column: activities        real(count) Kernels, copies and fills of a step, on average.
-- column: idle_before_ms    real(ms)    Nothing ran on the GPU before a step, on average of those
--                                       that have one before them.
--
-- about:  inference
-- lead:   rank, kind, steps, median_ms, p90_ms, tokens_per_s, gpu_ms, share_pct
-- plot:   bar total_ms by run, rank, kind
-- empty:  No annotation of a step of vLLM or SGLang is in the database.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run, run_id FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
shape AS MATERIALIZED (SELECT * FROM engine_step_shapes),
step AS MATERIALIZED (
  SELECT t.run, t.run_id, e.rank, e.engine, coalesce(e.kind, h.kind, 'unknown') AS kind, e.slice_id,
         coalesce(e.requests, h.requests) AS requests, coalesce(e.tokens, h.tokens) AS tokens,
         e.dur_ns,
         lead(e.ts) OVER (PARTITION BY e.track_id ORDER BY e.place) - e.ts AS step_ns
  FROM engine_steps e JOIN trace t ON t.trace_id = e.trace_id
  LEFT JOIN shape h ON h.step_id = e.slice_id
),
-- What a step has is put together by its number: SQLite would go through all steps for each.
found AS (
  SELECT slice_id AS id, run, run_id, rank, engine, kind, requests, tokens, dur_ns, step_ns,
         NULL AS busy_ns, NULL AS communication_ns, NULL AS activities, NULL AS before_ns,
         NULL AS ns
  FROM step
  UNION ALL
  SELECT step_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, busy_ns, communication_ns,
         activities, last_before_ns, NULL
  FROM engine_step_uses
  UNION ALL
  SELECT step_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
         idle_ns
  FROM engine_step_idle
),
whole AS (
  SELECT id AS slice_id, max(run) AS run, max(run_id) AS run_id, max(rank) AS rank,
         max(engine) AS engine, max(kind) AS kind, max(requests) AS requests,
         max(tokens) AS tokens, max(dur_ns) AS dur_ns, max(step_ns) AS step_ns,
         ifnull(max(busy_ns), 0) AS busy_ns, ifnull(max(communication_ns), 0) AS communication_ns,
         ifnull(max(activities), 0) AS activities,
         CASE WHEN max(before_ns) IS NOT NULL THEN ifnull(sum(ns), 0) END AS idle_ns
  FROM found GROUP BY id HAVING max(run) IS NOT NULL
),
placed AS (
  SELECT *,
         row_number() OVER (PARTITION BY run, rank, engine, kind
                            ORDER BY step_ns IS NULL, step_ns, slice_id) AS place,
         count(step_ns) OVER (PARTITION BY run, rank, engine, kind) AS timed,
         sum(step_ns) OVER (PARTITION BY run, rank) AS all_ns
  FROM whole
)
SELECT
  run,
  rank,
  engine,
  kind,
  count(*) AS steps,
  count(step_ns) AS timed_steps,
  sum(step_ns) / 1e6 AS total_ms,
  100.0 * sum(step_ns) / nullif(max(all_ns), 0) AS share_pct,
  avg(step_ns) FILTER (WHERE place BETWEEN (timed + 1) / 2 AND (timed + 2) / 2) / 1e6 AS median_ms,
  max(step_ns) FILTER (WHERE place = (9 * timed + 9) / 10) / 1e6 AS p90_ms,
  max(step_ns) / 1e6 AS max_ms,
  avg(requests) AS mean_requests,
  CASE WHEN count(tokens) = count(*) THEN sum(tokens) END AS tokens,
  CASE WHEN count(tokens) = count(*) THEN
    1e9 * sum(tokens) FILTER (WHERE step_ns IS NOT NULL) / nullif(sum(step_ns), 0) END
    AS tokens_per_s,
  avg(dur_ns) / 1e6 AS host_ms,
  avg(busy_ns) / 1e6 AS gpu_ms,
  avg(communication_ns) / 1e6 AS comm_ms,
  avg(activities) AS activities,
  avg(idle_ns) / 1e6 AS idle_before_ms
FROM placed
GROUP BY run_id, run, rank, engine, kind
ORDER BY run_id, rank, sum(step_ns) DESC, kind;
