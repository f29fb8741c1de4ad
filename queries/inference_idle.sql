-- title: Why a GPU ran nothing between an engine's steps
--
-- One row for each cause: of the time from the end of a step on the GPU to the first activity of
-- the next one of its thread, that in which nothing ran, by what the thread of the steps did then,
-- piece by piece, in its innermost slice with a known name (view engine_phases: annotations of
-- vLLM with VLLM_CUSTOM_SCOPES_FOR_PROFILING=1 and of SGLang; functions of Python with
-- with_stack=True). The causes add up to all of it.
--
-- scheduler: which requests are next. inputs: of the step. sampling. drafts: tokens of a draft
-- model. output: what was sampled is read and kept. detokenising. engine: the thread waits for the
-- process that schedules. sync: it is in a call that waits for the GPU, and nothing runs. step: in
-- the step, in none of these. launch: the step's first activity had been launched, and did not run
-- yet. unknown: in no slice with a known name; what the host then did is not told.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
--
-- column: run          text        The run: one job that was recorded.
-- column: rank         int(id)     The rank.
-- column: kind         text        Of the steps before which it was idle: prefill, decode, mixed,
--                                  draft, idle or unknown.
-- column: cause        text        As above.
-- column: idle_ms      real(ms)    Nothing ran.
-- column: share_pct    real(pct)   Of all such time of the rank.
-- column: steps        int(count)  Before so many steps.
-- column: of_steps     int(count)  Of so many of this kind that have a step before them.
-- column: max_ms       real(ms)    Before one step at most.
--
-- about:  inference
-- lead:   rank, kind, cause, idle_ms, share_pct
-- plot:   bar idle_ms by run, rank, kind, cause
-- empty:  No step of vLLM or SGLang has one before it, or no GPU was idle between two.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run, run_id FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
shape AS MATERIALIZED (SELECT * FROM engine_step_shapes),
step AS MATERIALIZED (
  SELECT t.run, t.run_id, e.rank, coalesce(e.kind, h.kind, 'unknown') AS kind, e.slice_id
  FROM engine_steps e JOIN trace t ON t.trace_id = e.trace_id
  LEFT JOIN shape h ON h.step_id = e.slice_id
),
-- What a step has is put together by its number: SQLite would go through all steps for each.
found AS (
  SELECT slice_id AS id, run_id, run, rank, kind, NULL AS cause, NULL AS ns, NULL AS before_ns
  FROM step
  UNION ALL SELECT step_id, NULL, NULL, NULL, NULL, cause, idle_ns, NULL FROM engine_step_idle
  UNION ALL SELECT step_id, NULL, NULL, NULL, NULL, NULL, NULL, last_before_ns
  FROM engine_step_uses
),
placed AS MATERIALIZED (
  SELECT max(run_id) OVER w AS run_id, max(run) OVER w AS run, max(rank) OVER w AS rank,
         max(kind) OVER w AS kind, cause, ns, before_ns
  FROM found WINDOW w AS (PARTITION BY id)
),
following AS MATERIALIZED (
  SELECT run, rank, kind, count(*) AS steps FROM placed
  WHERE before_ns IS NOT NULL AND run IS NOT NULL GROUP BY run, rank, kind
),
summed AS MATERIALIZED (
  SELECT run_id, run, rank, kind, cause, sum(ns) AS ns, count(*) AS steps, max(ns) AS max_ns
  FROM placed WHERE cause IS NOT NULL AND run IS NOT NULL
  GROUP BY run_id, run, rank, kind, cause
)
SELECT
  u.run,
  u.rank,
  u.kind,
  u.cause,
  u.ns / 1e6 AS idle_ms,
  100.0 * u.ns / sum(u.ns) OVER (PARTITION BY u.run, u.rank) AS share_pct,
  u.steps,
  f.steps AS of_steps,
  u.max_ns / 1e6 AS max_ms
FROM summed u JOIN following f ON f.run = u.run AND f.rank = u.rank AND f.kind = u.kind
ORDER BY u.run_id, u.rank, u.ns DESC, u.kind, u.cause;
