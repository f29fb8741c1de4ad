-- title: Steps of an inference engine: kind, tokens, GPU, idle
--
-- One row for each step of vLLM or SGLang, told by the annotations that they write while they are
-- profiled (vLLM: execute_context_1(256)_generation_4(4), with detailed annotations
-- execute_260_context_1(sq256...)_generation_4(sq4...); SGLang: step[DECODE bs=4]). What an
-- annotation does not tell is looked for in the shapes of attention (record_shapes=True), else it
-- is NULL, and `reason` says why; nothing is guessed from kernels. What the GPU runs belongs to
-- the step in which it was launched, wherever it runs, kernels of graphs as well; what was launched
-- after a step's end and before the next (sampling, often) is apart. What the causes of idle time
-- mean: `inference_idle`.
--
-- param:  kind     text        = null  prefill, decode, mixed, draft, idle or unknown; null: all.
-- param:  limit    int(rows)   = 10000 Rows returned at most for a run, the first ones.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
--
-- column: run              text        The run: one job that was recorded.
-- column: capture          int(count)  The capture, by its number in the run.
-- column: rank             int(id)     The rank.
-- column: engine           text        vLLM or SGLang.
-- column: number           int(count)  The step's number on its thread, from 1.
-- column: kind             text        prefill, decode, mixed, draft (of a draft model), idle (no
--                                      request) or unknown.
-- column: mode             text        SGLang's word for it.
-- column: requests         int(count)  How many were in it; NULL, as below: not told.
-- column: prefill_requests int(count)  Of those, with tokens of their prompt.
-- column: decode_requests  int(count)  Of those, that generate.
-- column: tokens           int(count)  That were computed.
-- column: prefill_tokens   int(count)  Of those, of prompts.
-- column: start_ms         real(ms)    Its start, since the first event of the run.
-- column: step_ms          real(ms)    From its start to that of the next one on its thread; NULL:
--                                      the last.
-- column: host_ms          real(ms)    From its start to its end, on the host.
-- column: activities       int(count)  Kernels, copies and fills launched in it.
-- column: gpu_ms           real(ms)    The GPU was busy with these: length of their union.
-- column: comm_ms          real(ms)    Of it, with communication kernels.
-- column: gpu_span_ms      real(ms)    From the first start of these to the last end.
-- column: after_gpu_ms     real(ms)    What was launched after it, before the next one: durations.
-- column: idle_before_ms   real(ms)    Nothing ran on the GPU from the end of the step before to
--                                      the first start of this; NULL: no step before it.
-- column: idle_cause       text        What the host did in most of it: a cause of inference_idle.
-- column: idle_cause_ms    real(ms)    For how long.
-- column: reason           text        Why the kind or the tokens are not told.
-- column: slice_id         int(id)     The annotation, in slices.
--
-- about:  inference
-- lead:   rank, number, kind, requests, tokens, step_ms, gpu_ms, idle_before_ms, idle_cause
-- plot:   line step_ms over number by run, capture, rank
-- empty:  No annotation of a step of vLLM or SGLang is in the database.

WITH trace AS MATERIALIZED (
  SELECT trace_id, run, run_id, capture, run_start_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
shape AS MATERIALIZED (SELECT * FROM engine_step_shapes),
step AS MATERIALIZED (
  SELECT t.run, t.run_id, t.capture, t.run_start_ns, e.slice_id, e.rank, e.engine, e.place, e.mode,
         e.ts_ns, e.dur_ns, e.prefill_requests, e.prefill_tokens,
         coalesce(e.kind, h.kind, 'unknown') AS kind, coalesce(e.requests, h.requests) AS requests,
         coalesce(e.tokens, h.tokens) AS tokens,
         CASE WHEN e.kind IS NULL AND h.kind IS NOT NULL THEN h.requests ELSE e.decode_requests END
           AS decode_requests,
         CASE WHEN e.kind IS NULL AND h.kind IS NOT NULL
              THEN 'by the shapes of attention: one token of each request' ELSE e.reason END
           AS reason,
         lead(e.ts) OVER (PARTITION BY e.track_id ORDER BY e.place) - e.ts AS step_ns
  FROM engine_steps e JOIN trace t ON t.trace_id = e.trace_id
  LEFT JOIN shape h ON h.step_id = e.slice_id
),
shown AS MATERIALIZED (
  SELECT * FROM (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY capture, rank, ts_ns, slice_id) AS row
    FROM step WHERE :kind IS NULL OR kind = :kind)
  WHERE row <= coalesce(:limit, 10000) OR :limit < 0
),
idle AS (
  SELECT step_id, cause, idle_ns, sum(idle_ns) OVER (PARTITION BY step_id) AS all_ns,
         row_number() OVER (PARTITION BY step_id ORDER BY idle_ns DESC, cause) AS place
  FROM engine_step_idle
),
-- What a step has is put together by its number: SQLite would go through all steps for each.
found AS (
  SELECT
    slice_id AS id, run, run_id, capture, rank, engine, place, kind, mode, requests,
    prefill_requests, decode_requests, tokens, prefill_tokens, ts_ns, run_start_ns, step_ns,
    dur_ns, reason, row, NULL AS activities, NULL AS busy_ns, NULL AS communication_ns,
    NULL AS first_ns, NULL AS last_ns, NULL AS last_before_ns, NULL AS after_ns, NULL AS cause,
    NULL AS cause_ns, NULL AS all_ns
  FROM shown
  UNION ALL SELECT
    step_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, activities, busy_ns, communication_ns, first_ns, last_ns,
    last_before_ns, NULL, NULL, NULL, NULL
  FROM engine_step_uses
  UNION ALL SELECT
    a.step_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, max(g.dur_ns, 0),
    NULL, NULL, NULL
  FROM engine_step_activities a JOIN activity_times g ON g.slice_id = a.slice_id
  WHERE NOT a.is_within
  UNION ALL SELECT
    step_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, cause, idle_ns,
    all_ns
  FROM idle WHERE place = 1
),
whole AS (
  SELECT id AS slice_id,
    max(run) AS run, max(run_id) AS run_id, max(capture) AS capture, max(rank) AS rank,
    max(engine) AS engine, max(place) AS place, max(kind) AS kind, max(mode) AS mode,
    max(requests) AS requests, max(prefill_requests) AS prefill_requests,
    max(decode_requests) AS decode_requests, max(tokens) AS tokens,
    max(prefill_tokens) AS prefill_tokens, max(ts_ns) AS ts_ns,
    max(run_start_ns) AS run_start_ns, max(step_ns) AS step_ns, max(dur_ns) AS dur_ns,
    max(reason) AS reason, max(row) AS row, max(activities) AS activities,
    max(busy_ns) AS busy_ns, max(communication_ns) AS communication_ns,
    max(first_ns) AS first_ns, max(last_ns) AS last_ns, max(last_before_ns) AS last_before_ns,
    sum(after_ns) AS after_ns, max(cause) AS cause, max(cause_ns) AS cause_ns,
    max(all_ns) AS all_ns
  FROM found GROUP BY id HAVING max(row) IS NOT NULL
)
SELECT
  s.run,
  s.capture,
  s.rank,
  s.engine,
  s.place AS number,
  s.kind,
  s.mode,
  s.requests,
  s.prefill_requests,
  s.decode_requests,
  s.tokens,
  s.prefill_tokens,
  (s.ts_ns - s.run_start_ns) / 1e6 AS start_ms,
  s.step_ns / 1e6 AS step_ms,
  s.dur_ns / 1e6 AS host_ms,
  ifnull(s.activities, 0) AS activities,
  ifnull(s.busy_ns, 0) / 1e6 AS gpu_ms,
  ifnull(s.communication_ns, 0) / 1e6 AS comm_ms,
  (s.last_ns - s.first_ns) / 1e6 AS gpu_span_ms,
  ifnull(s.after_ns, 0) / 1e6 AS after_gpu_ms,
  CASE WHEN s.last_before_ns IS NOT NULL THEN ifnull(s.all_ns, 0) END / 1e6 AS idle_before_ms,
  s.cause AS idle_cause,
  s.cause_ns / 1e6 AS idle_cause_ms,
  s.reason,
  s.slice_id
FROM whole s
ORDER BY s.run_id, s.row;
