-- Inference engines (vLLM, SGLang): their steps by the annotations they write, what each ran on the
-- GPU, and what the host did while the GPU ran nothing before it. Which annotation means what is in
-- queries/DECISION-inference-steps.md.

CREATE VIEW engine_steps AS
-- A step of an inference engine: the outermost annotation of its thread that says so. vLLM writes
-- execute_context_1(256)_generation_4(4) or execute_260_context_1(sq256...)_generation_4(sq4...),
-- older ones execute_new_1_cached_4, and with scopes gpu_model_runner: forward; SGLang writes
-- step[DECODE bs=4].
--   slice_id: of the annotation, in slices
--   trace_id: its file
--   rank: of that file
--   track_id: its thread, in tracks
--   name: the annotation
--   engine: vLLM, or SGLang where the trace has an annotation of its
--   mode: SGLang's word for it (EXTEND, DECODE, MIXED, TARGET_VERIFY ...)
--   kind: prefill, decode, mixed, draft (of a draft model) or idle (no request); NULL: not told
--   reason: why the kind or the tokens are not told
--   requests: how many were in it; NULL, as in the following: not told
--   prefill_requests: of those, with tokens of their prompt
--   decode_requests: of those, that generate
--   tokens: that were computed
--   prefill_tokens: of those, of prompts
--   decode_tokens: of those, of requests that generate
--   ts: start, less base_ns of the track
--   dur_ns: duration
--   ts_ns: start
--   place: its number on its thread, from 1
WITH said AS MATERIALIZED (
  SELECT id, name,
         CASE WHEN name GLOB 'execute_new*' THEN 'new' WHEN name GLOB 'execute*' THEN 'context'
              WHEN name GLOB 'step*' THEN 'mode' ELSE 'forward' END AS form,
         -- Blanks at both ends of each word, and a word for each number that follows a sign.
         ' ' || replace(replace(CASE WHEN name GLOB 'step*' THEN substr(name, 6)
           ELSE replace(replace(replace(replace(name, '(sq', '('), 'sk', ' sk='),
                        '_context_', ' c='), '_generation_', ' g=') END, ']', ' '), '(', ' tokens=')
           AS words
  FROM _event_name
  WHERE (name GLOB 'execute_context_[0-9]*([0-9]*)_generation_[0-9]*([0-9]*)'
      OR name GLOB 'execute_[0-9]*_context_[0-9]*(sq[0-9]*)_generation_[0-9]*(sq[0-9]*)'
      OR name GLOB 'execute_new_[0-9]*_cached_[0-9]*'
      OR name GLOB 'step[[][A-Z]* bs=[0-9]*]' OR name = 'gpu_model_runner: forward')
    AND ifnull(lower(category), '') NOT IN ('gpu_user_annotation', 'python_function')
),
part AS (  -- text in which a number follows; NULL where the name has no such word
  SELECT id, name, form,
         CASE form WHEN 'mode' THEN substr(words, 2, instr(words, ' bs=') - 2) END AS mode,
         CASE form WHEN 'mode' THEN substr(words, instr(words, ' bs=') + 4) END AS bs,
         CASE WHEN instr(words, ' toks=') THEN substr(words, instr(words, ' toks=') + 6) END
           AS toks,
         CASE WHEN form = 'new' THEN substr(name, 13)
              WHEN instr(words, ' c=') THEN substr(words, instr(words, ' c=') + 3) END AS c,
         CASE WHEN form = 'new' THEN substr(name, instr(name, '_cached_') + 8)
              WHEN instr(words, ' g=') THEN substr(words, instr(words, ' g=') + 3) END AS g,
         CASE WHEN form = 'context' THEN substr(words, instr(words, ' tokens=') + 8)
              WHEN instr(words, ' c_sq=') THEN substr(words, instr(words, ' c_sq=') + 6) END AS ct,
         CASE WHEN form = 'context' THEN substr(name, instr(name, '_generation_') + 12)
              WHEN instr(words, ' g_sq=') THEN substr(words, instr(words, ' g_sq=') + 6) END AS gt
  FROM said
),
number AS MATERIALIZED (  -- what no batch has is no number of requests or tokens
  SELECT id, name, form, mode,
         nullif(min(CAST(bs AS INTEGER), 1000000000), 1000000000) AS bs,
         nullif(min(CAST(toks AS INTEGER), 1000000000), 1000000000) AS toks,
         nullif(min(CAST(c AS INTEGER), 1000000000), 1000000000) AS c,
         nullif(min(CAST(g AS INTEGER), 1000000000), 1000000000) AS g,
         nullif(min(CAST(ct AS INTEGER), 1000000000), 1000000000) AS ct,
         nullif(min(CAST(CASE form WHEN 'context' THEN ltrim(substr(gt, instr(gt, '(') + 1), 'sq')
                                   ELSE gt END AS INTEGER), 1000000000), 1000000000) AS gt
  FROM part
),
placed AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY track_id ORDER BY ts, slice_id) AS place,
         max(mode = 'TARGET_VERIFY') OVER (PARTITION BY trace_id) AS has_drafts
  FROM (
    SELECT s.id AS slice_id, t.trace_id, t.rank, s.track AS track_id, n.name, n.form,
           n.mode, n.bs, n.toks, n.c, n.g, n.ct, n.gt, s.ts, s.dur AS dur_ns,
           s.ts + t.base_ns AS ts_ns,
           max(n.form = 'mode') OVER (PARTITION BY t.trace_id) AS is_sglang,
           max(s.ts + s.dur) OVER (PARTITION BY s.track ORDER BY s.ts, s.dur DESC, s.id
                                   ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) > s.ts
             AS is_inner  -- within another that is still open: that one is the step
    FROM _cpu_slice s JOIN _track t ON t.id = s.track JOIN number n ON n.id = +s.event_name
         JOIN _trace f ON f.trace_id = t.trace_id
    WHERE EXISTS (SELECT 1 FROM number) AND +s.event_name IN (SELECT id FROM number)
      AND s.dur >= 0 AND NOT f.is_graph_capture AND @possible:s.id@
  )
  WHERE is_inner IS NOT 1
)
SELECT slice_id, trace_id, rank, track_id, name,
       CASE WHEN is_sglang THEN 'SGLang' ELSE 'vLLM' END AS engine, mode,
       CASE
         WHEN form = 'new' THEN CASE WHEN g > 0 THEN NULL WHEN c > 0 THEN 'prefill' ELSE 'idle' END
         WHEN form = 'context' THEN
           CASE WHEN c > 0 AND g > 0 THEN 'mixed' WHEN c > 0 AND g = 0 THEN 'prefill'
                WHEN c = 0 AND g > 0 THEN 'decode' WHEN c = 0 AND g = 0 THEN 'idle' END
         WHEN mode IN ('EXTEND', 'SPLIT_PREFILL') THEN 'prefill'
         WHEN mode IN ('DECODE', 'TARGET_VERIFY') THEN 'decode'
         WHEN mode = 'MIXED' THEN 'mixed'
         WHEN mode IN ('DRAFT_EXTEND', 'DRAFT_EXTEND_V2') THEN 'draft'
         WHEN mode = 'IDLE' THEN 'idle' END AS kind,
       CASE
         WHEN form = 'forward' THEN 'the annotation tells no batch'
         WHEN form = 'new' AND g > 0
           THEN 'cached requests may be in their prompt or generate: the annotation tells not which'
         WHEN form = 'new' AND c > 0 THEN 'the annotation tells no tokens'
         WHEN form = 'new' THEN NULL
         WHEN form = 'context' THEN
           CASE WHEN c IS NULL OR g IS NULL OR ct IS NULL OR gt IS NULL
                THEN 'a number of the annotation is too large for a batch' END
         WHEN bs IS NULL THEN 'a number of the annotation is too large for a batch'
         WHEN mode = 'TARGET_VERIFY' THEN 'tokens that are verified are not told'
         WHEN mode = 'DECODE' AND has_drafts AND gt IS NULL
           THEN 'with drafts the annotation tells no tokens, and not whose model it is'
         WHEN mode IN ('EXTEND', 'DECODE', 'IDLE') THEN NULL
         WHEN mode = 'MIXED' THEN
           CASE WHEN ct IS NULL OR gt IS NULL THEN 'the annotation tells no tokens' END
         WHEN mode IN ('SPLIT_PREFILL', 'DRAFT_EXTEND', 'DRAFT_EXTEND_V2')
           THEN 'the annotation tells no tokens'
         ELSE 'SGLang calls it ' || mode END AS reason,
       CASE form WHEN 'mode' THEN bs ELSE c + g END AS requests,
       CASE WHEN form = 'mode' THEN
              CASE WHEN mode IN ('EXTEND', 'SPLIT_PREFILL') THEN bs
                   WHEN mode IN ('DECODE', 'TARGET_VERIFY', 'IDLE') THEN 0
                   WHEN mode = 'MIXED' THEN c END
            WHEN form = 'new' AND g > 0 THEN NULL ELSE c END AS prefill_requests,
       CASE WHEN form = 'mode' THEN
              CASE WHEN mode IN ('EXTEND', 'SPLIT_PREFILL', 'IDLE') THEN 0
                   WHEN mode IN ('DECODE', 'TARGET_VERIFY') THEN bs
                   WHEN mode = 'MIXED' THEN g END
            WHEN form = 'new' AND g > 0 THEN NULL ELSE g END AS decode_requests,
       CASE WHEN form = 'context' THEN ct + gt
            WHEN form = 'new' THEN CASE WHEN c = 0 AND g = 0 THEN 0 END
            WHEN mode = 'EXTEND' THEN coalesce(toks, ct)
            WHEN mode = 'DECODE' THEN coalesce(gt, CASE WHEN has_drafts THEN NULL ELSE bs END)
            WHEN mode = 'MIXED' THEN ct + gt WHEN mode = 'IDLE' THEN 0 END AS tokens,
       CASE WHEN form = 'context' THEN ct WHEN mode = 'EXTEND' THEN coalesce(toks, ct)
            WHEN mode = 'MIXED' THEN ct WHEN mode IN ('DECODE', 'TARGET_VERIFY', 'IDLE') THEN 0 END
         AS prefill_tokens,
       CASE WHEN form = 'context' THEN gt WHEN mode IN ('EXTEND', 'IDLE') THEN 0
            WHEN mode = 'DECODE' THEN coalesce(gt, CASE WHEN has_drafts THEN NULL ELSE bs END)
            WHEN mode = 'MIXED' THEN gt END AS decode_tokens,
       ts, dur_ns, ts_ns, place
FROM placed;

CREATE VIEW engine_step_activities AS
-- A GPU activity that was launched by the thread of an engine's steps.
--   step_id: slice_id of the last step that began before its launch, in engine_steps
--   slice_id: of the activity, as in slices
--   is_within: 1 launched in the step; 0 after it, before the next one began
WITH step AS MATERIALIZED (
  SELECT slice_id, trace_id, track_id, ts, ts + dur_ns AS end_ts, place FROM engine_steps
),
launched AS (
  SELECT g.id, c.track, c.ts
  FROM _gpu_slice g JOIN _launch k ON k.id = g.id
       JOIN _runtime_slice c ON c.id = k.launch_slice_id
  WHERE g.track IN (SELECT id FROM _track WHERE trace_id IN (SELECT trace_id FROM step))
    AND c.track IN (SELECT track_id FROM step) AND @possible:g.id@
),
moment AS (
  SELECT track_id AS track, ts, 0 AS turn, place, NULL AS id FROM step
  UNION ALL SELECT track, ts, 1, NULL, id FROM launched
),
followed AS MATERIALIZED (
  SELECT * FROM (
    SELECT track, ts, id, max(place) OVER (PARTITION BY track ORDER BY ts, turn
                                           ROWS UNBOUNDED PRECEDING) AS place
    FROM moment)
  WHERE id IS NOT NULL AND place IS NOT NULL
)
SELECT s.slice_id AS step_id, f.id AS slice_id, f.ts < s.end_ts OR f.ts = s.ts AS is_within
FROM followed f JOIN step s ON s.track_id = f.track AND s.place = f.place;

CREATE VIEW engine_step_uses AS
-- What an engine's step launched, and how the GPU ran it. Activities that were launched after the
-- step's end (sampling, often) are not among these.
--   step_id: slice_id in engine_steps
--   trace_id: its file
--   device: GPU of its first activity
--   activities: kernels, copies and fills launched in it
--   first_ns: the first start of one
--   last_ns: the last end of one
--   launch_ns: start of the call that launched the first
--   busy_ns: length of the union of its activities
--   communication_ns: of its communication kernels
--   last_before_ns: last_ns of the step before it on its thread
WITH owned AS MATERIALIZED (
  SELECT a.step_id, g.id, g.kind, t.trace_id, t.device, g.ts + t.base_ns AS start_ns,
         g.ts + t.base_ns + max(ifnull(g.dur, 0), 0) AS end_ns
  FROM engine_step_activities a JOIN _gpu_slice g ON g.id = a.slice_id
       JOIN _track t ON t.id = g.track
  WHERE a.is_within
),
united AS (
  SELECT step_id, end_ns, kind = 1 AS is_communication, start_ns,
         max(start_ns, ifnull(max(end_ns) OVER (
           PARTITION BY step_id ORDER BY start_ns, id
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns)) AS clip_ns,
         CASE WHEN kind = 1 THEN max(start_ns, ifnull(max(end_ns) OVER (
           PARTITION BY step_id, kind = 1 ORDER BY start_ns, id
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns)) END AS clip_same_ns,
         id, trace_id, device,
         row_number() OVER (PARTITION BY step_id ORDER BY start_ns, id) AS turn
  FROM owned
),
summed AS MATERIALIZED (
  SELECT step_id, max(trace_id) AS trace_id, count(*) AS activities, min(start_ns) AS first_ns,
         max(end_ns) AS last_ns, sum(max(end_ns - clip_ns, 0)) AS busy_ns,
         sum(CASE WHEN is_communication THEN max(end_ns - clip_same_ns, 0) ELSE 0 END)
           AS communication_ns,
         max(CASE turn WHEN 1 THEN device END) AS device, max(CASE turn WHEN 1 THEN id END) AS id
  FROM united GROUP BY step_id
)
SELECT u.step_id, u.trace_id, u.device, u.activities, u.first_ns, u.last_ns,
       k.launch_ts_ns AS launch_ns, u.busy_ns, u.communication_ns, b.last_ns AS last_before_ns
FROM summed u JOIN engine_steps s ON s.slice_id = u.step_id
     LEFT JOIN _launch k ON k.id = u.id
     LEFT JOIN engine_steps p ON p.track_id = s.track_id AND p.place = s.place - 1
     LEFT JOIN summed b ON b.step_id = p.slice_id AND b.device IS u.device;

CREATE VIEW engine_phases AS
-- What a slice of the host is for in an inference engine, by its name: annotations, and functions
-- of Python where the trace has them. Of several that fit the innermost slice decides.
--   pattern: of GLOB, for the whole name
--   phase: scheduler (which requests are next), inputs (of the step), sampling, drafts (a draft
--     model's tokens), output (what was sampled is read and kept), detokenising, engine (the thread
--     waits for the process that schedules)
SELECT column1 AS pattern, column2 AS phase
FROM (VALUES
  ('schedule: *', 'scheduler'), ('core step: schedule', 'scheduler'),
  ('*/sched/scheduler.py(*): schedule', 'scheduler'),
  ('*/sched/scheduler.py(*): update_from_output', 'scheduler'),
  ('scheduler.recv_requests', 'scheduler'), ('scheduler.process_input_requests', 'scheduler'),
  ('scheduler.get_next_batch_to_run', 'scheduler'),
  ('*/managers/scheduler.py(*): recv_requests', 'scheduler'),
  ('*/managers/scheduler.py(*): process_input_requests', 'scheduler'),
  ('*/managers/scheduler.py(*): get_next_batch_to_run', 'scheduler'),
  ('*/managers/schedule_batch.py(*): *', 'scheduler'),
  ('gpu_model_runner: preprocess', 'inputs'),
  ('*/gpu_model_runner.py(*): _prepare_inputs', 'inputs'),
  ('*/gpu_model_runner.py(*): _update_states', 'inputs'),
  ('*/gpu_model_runner.py(*): _preprocess', 'inputs'),
  ('*/forward_batch_info.py(*): init_new', 'inputs'),
  ('*/cuda_graph_runner.py(*): replay_prepare', 'inputs'),
  ('*/cuda_graph_runner.py(*): load_batch', 'inputs'),
  ('*: init_forward_metadata*', 'inputs'),
  ('gpu_model_runner: sample', 'sampling'),
  ('*/gpu_model_runner.py(*): _sample', 'sampling'),
  ('*/gpu_model_runner.py(*): sample_tokens', 'sampling'),
  ('*/v1/sample/*.py(*): *', 'sampling'), ('*/model_runner.py(*): sample', 'sampling'),
  ('*/layers/sampler.py(*): *', 'sampling'), ('nn.Module: Sampler_*', 'sampling'),
  ('gpu_model_runner: draft', 'drafts'),
  ('*/gpu_model_runner.py(*): propose_draft_token_ids', 'drafts'),
  ('*/v1/spec_decode/*.py(*): *', 'drafts'),
  ('gpu_model_runner: postprocess', 'output'), ('gpu_model_runner: bookkeep', 'output'),
  ('gpu_model_runner: ModelRunnerOutput', 'output'),
  ('gpu_model_runner: AsyncGPUModelRunnerOutput', 'output'),
  ('*/gpu_model_runner.py(*): _bookkeeping_sync', 'output'),
  ('scheduler.process_batch_result*', 'output'), ('*: process_batch_result*', 'output'),
  ('*: stream_output*', 'output'),
  ('llm_engine step: process_outputs', 'detokenising'),
  ('*/output_processor.py(*): process_outputs', 'detokenising'),
  ('*/detokenizer.py(*): *', 'detokenising'), ('*/detokenizer_manager.py(*): *', 'detokenising'),
  ('llm_engine step: get_output', 'engine'), ('*/shm_broadcast.py(*): dequeue', 'engine'),
  ('*/shm_broadcast.py(*): acquire_read', 'engine'));

CREATE VIEW engine_step_idle AS
-- Of the time between an engine's step and the one before it on the same thread, on the GPU: in
-- which nothing ran at all, by what the thread of the steps did then. A step that began on the GPU
-- before the other had ended has no rows; nor has the first.
--   step_id: slice_id in engine_steps
--   cause: a phase of engine_phases; launch (the step's first activity had been launched, and did
--     not run yet), sync (the thread was in a call that waits for the GPU), step (in the step, in
--     none of these), unknown (no slice with a known name)
--   idle_ns: how long, on the device of the step's first activity
--
-- Few names stand twice here: SQLite works through the text of a view anew wherever it is named, so
-- numbers are carried along in place of joins: of a turn and what it opened, the greatest is the
-- last.
WITH mark AS MATERIALIZED (  -- steps in the order in which the GPU came to them, from the last
  SELECT u.step_id, u.trace_id, u.device, u.first_ns, u.launch_ns, u.last_before_ns, s.track_id,
         s.place, s.ts_ns - s.ts AS base_ns,
         row_number() OVER (PARTITION BY u.trace_id, u.device
                            ORDER BY u.first_ns DESC, u.step_id) AS turn
  FROM engine_step_uses u JOIN engine_steps s ON s.slice_id = u.step_id
),
gap AS (
  SELECT * FROM (
    SELECT trace_id, device, ts_ns + dur_ns AS from_ns,
           lead(ts_ns) OVER (PARTITION BY trace_id, device ORDER BY ts_ns) AS to_ns
    FROM _busy_segment WHERE trace_id IN (SELECT trace_id FROM engine_steps))
  WHERE to_ns > from_ns
),
followed AS (  -- by which mark
  SELECT trace_id, device, at AS to_ns, from_ns, is_mark,
         sum(is_mark) OVER (PARTITION BY trace_id, device ORDER BY at DESC, is_mark DESC
                            ROWS UNBOUNDED PRECEDING) AS turn
  FROM (SELECT trace_id, device, first_ns AS at, 1 AS is_mark, NULL AS from_ns FROM mark
        UNION ALL SELECT trace_id, device, to_ns, 0, from_ns FROM gap)
),
before AS (  -- the time until the step's first activity was launched, and from then on
  SELECT track_id, place, e.is_launch, CASE e.is_launch WHEN 1 THEN cut_ts ELSE from_ts END AS ts,
         CASE e.is_launch WHEN 1 THEN to_ts ELSE cut_ts END AS end_ts
  FROM (SELECT m.track_id, m.place, f.from_ns - m.base_ns AS from_ts, f.to_ns - m.base_ns AS to_ts,
               CASE WHEN f.to_ns = m.first_ns AND m.launch_ns IS NOT NULL
                    THEN max(f.from_ns, min(f.to_ns, m.launch_ns)) ELSE f.to_ns END - m.base_ns
                 AS cut_ts
        FROM followed f JOIN mark m ON m.trace_id = f.trace_id AND m.device IS f.device
          AND m.turn = f.turn
        WHERE NOT f.is_mark AND f.from_ns >= m.last_before_ns)
       JOIN (SELECT 0 AS is_launch UNION ALL SELECT 1) e
),
phase AS MATERIALIZED (
  SELECT n.id AS name_id, min(CASE p.phase
           WHEN 'scheduler' THEN 1 WHEN 'inputs' THEN 2 WHEN 'sampling' THEN 3
           WHEN 'drafts' THEN 4 WHEN 'output' THEN 5 WHEN 'detokenising' THEN 6 ELSE 7 END) AS code
  FROM _event_name n JOIN engine_phases p ON n.name GLOB p.pattern
  WHERE ifnull(lower(n.category), '') <> 'gpu_user_annotation'
  GROUP BY n.id
),
did AS (
  SELECT track_id, ts, dur_ns, 9 AS code, slice_id FROM engine_steps WHERE dur_ns > 0
  UNION ALL
  SELECT s.track, s.ts, s.dur, p.code, s.id
  FROM _cpu_slice s JOIN phase p ON p.name_id = +s.event_name
  WHERE +s.event_name IN (SELECT name_id FROM phase) AND s.dur > 0 AND @possible:s.id@
  UNION ALL
  SELECT s.track, s.ts, s.dur, p.code, s.id
  FROM _python_slice s JOIN phase p ON p.name_id = +s.event_name
  WHERE +s.event_name IN (SELECT name_id FROM phase) AND s.dur > 0 AND @possible:s.id@
  UNION ALL
  SELECT track, ts, dur, 8, id FROM _runtime_slice s
  WHERE dur > 0 AND @possible:s.id@ AND +event_name IN (
    SELECT id FROM _event_name
    WHERE (name GLOB 'cu*' OR name GLOB 'hip*')
      AND (instr(name, 'Synchronize')
        OR ((instr(name, 'Memcpy') OR instr(name, 'Memset')) AND NOT instr(name, 'Async'))))
),
edge AS (
  SELECT d.track_id, d.ts + e.is_end * d.dur_ns AS at, 1 - 2 * e.is_end AS opens, 0 AS gap_opens,
         d.code, d.dur_ns AS length, d.slice_id AS number
  FROM did d JOIN (SELECT 0 AS is_end UNION ALL SELECT 1) e
  WHERE d.track_id IN (SELECT track_id FROM engine_steps)
  UNION ALL
  SELECT b.track_id, CASE e.is_end WHEN 1 THEN b.end_ts ELSE b.ts END, 0, 1 - 2 * e.is_end,
         2 * b.place + b.is_launch, 0, b.place
  FROM before b JOIN (SELECT 0 AS is_end UNION ALL SELECT 1) e WHERE b.end_ts > b.ts
),
turned AS (
  SELECT *, sum(opens) OVER w AS depth, sum(gap_opens) OVER w AS in_gap,
         row_number() OVER w AS turn, lead(at) OVER w - at AS ns
  FROM edge
  WINDOW w AS (PARTITION BY track_id ORDER BY at, opens + gap_opens, length DESC, number
               ROWS UNBOUNDED PRECEDING)
),
piece AS (  -- after each turn: the slice that was opened last at this depth, and the gap
  SELECT track_id, ns, in_gap, depth,
         (max(CASE gap_opens WHEN 1 THEN turn * 4294967296 + code END) OVER (
            PARTITION BY track_id ORDER BY turn ROWS UNBOUNDED PRECEDING)) & 4294967295 AS gap_code,
         (max(CASE opens WHEN 1 THEN turn * 16 + code END) OVER (
            PARTITION BY track_id, depth ORDER BY turn ROWS UNBOUNDED PRECEDING)) & 15 AS code
  FROM turned
)
SELECT s.slice_id AS step_id,
       CASE WHEN p.gap_code & 1 THEN 'launch' WHEN p.depth <= 0 THEN 'unknown'
            ELSE CASE p.code WHEN 1 THEN 'scheduler' WHEN 2 THEN 'inputs' WHEN 3 THEN 'sampling'
                   WHEN 4 THEN 'drafts' WHEN 5 THEN 'output' WHEN 6 THEN 'detokenising'
                   WHEN 7 THEN 'engine' WHEN 8 THEN 'sync' ELSE 'step' END END AS cause,
       sum(p.ns) AS idle_ns
FROM piece p JOIN engine_steps s ON s.track_id = p.track_id AND s.place = p.gap_code >> 1
WHERE p.in_gap > 0 AND p.ns > 0
GROUP BY 1, 2;
