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
--   end_ns: when it ends
--   start_ms: start since the first event of its run
WITH said AS MATERIALIZED (
  SELECT id, name,
         CASE WHEN name GLOB 'execute_new*' THEN 'new' WHEN name GLOB 'execute*' THEN 'context'
              WHEN name GLOB 'step*' THEN 'mode' ELSE 'forward' END AS form,
         -- Blanks at both ends of each word, and a word for each number that follows a sign.
         ' ' || replace(replace(CASE WHEN name GLOB 'step*' THEN substr(name, 6)
           ELSE replace(replace(replace(replace(name, '(sq', '('), 'sk', ' sk='),
                        '_context_', ' c='), '_generation_', ' g=') END, ']', ' '), '(', ' tokens=')
           AS words,
         substr(name, instr(name, '_generation_') + 12) AS generation
  FROM _event_name
  WHERE (name GLOB 'execute_context_[0-9]*([0-9]*)_generation_[0-9]*([0-9]*)'
      OR name GLOB 'execute_[0-9]*_context_[0-9]*(sq[0-9]*)_generation_[0-9]*(sq[0-9]*)'
      OR name GLOB 'execute_new_[0-9]*_cached_[0-9]*'
      OR name GLOB 'step[[][A-Z]* bs=[0-9]*]' OR name = 'gpu_model_runner: forward')
    AND ifnull(lower(category), '') NOT IN ('gpu_user_annotation', 'python_function')
),
part AS MATERIALIZED (  -- text that begins with a number; NULL where the name has no such word
  SELECT id, name, form,
         CASE form WHEN 'mode' THEN substr(words, 2, instr(words, ' bs=') - 2) END AS mode,
         CASE form WHEN 'mode' THEN substr(words, instr(words, ' bs=') + 4, 18) END AS bs,
         CASE WHEN instr(words, ' toks=') THEN substr(words, instr(words, ' toks=') + 6, 18) END
           AS toks,
         CASE WHEN form = 'new' THEN substr(name, 13, 18)
              WHEN instr(words, ' c=') THEN substr(words, instr(words, ' c=') + 3, 18) END AS c,
         CASE WHEN form = 'new' THEN substr(name, instr(name, '_cached_') + 8, 18)
              WHEN instr(words, ' g=') THEN substr(words, instr(words, ' g=') + 3, 18) END AS g,
         CASE WHEN form = 'context' THEN substr(words, instr(words, ' tokens=') + 8, 18)
              WHEN instr(words, ' c_sq=') THEN substr(words, instr(words, ' c_sq=') + 6, 18) END
           AS ct,
         CASE WHEN form = 'context'
              THEN substr(ltrim(substr(generation, instr(generation, '(') + 1), 'sq'), 1, 18)
              WHEN instr(words, ' g_sq=') THEN substr(words, instr(words, ' g_sq=') + 6, 18) END
           AS gt
  FROM said
),
written AS MATERIALIZED (
  SELECT id, name, form, mode, @number_before:bs@ AS bs, @number_before:toks@ AS toks,
         @number_before:c@ AS c, @number_before:g@ AS g, @number_before:ct@ AS ct,
         @number_before:gt@ AS gt
  FROM part
),
number AS MATERIALIZED (  -- what no batch has is no number of requests or tokens
  SELECT id, name, form, mode, CASE WHEN bs < 1000000000 THEN bs END AS bs,
         CASE WHEN toks < 1000000000 THEN toks END AS toks,
         CASE WHEN c < 1000000000 THEN c END AS c, CASE WHEN g < 1000000000 THEN g END AS g,
         CASE WHEN ct < 1000000000 THEN ct END AS ct, CASE WHEN gt < 1000000000 THEN gt END AS gt
  FROM written
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
  WHERE is_inner IS NULL OR NOT is_inner
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
       ts, dur_ns, ts_ns, place, ts_ns + dur_ns AS end_ns,
       @start_ms:e.ts_ns of e.trace_id@ AS start_ms
FROM placed e;

CREATE VIEW engine_step_shapes AS
-- What the shapes of attention say of an engine's step whose annotation does not tell all: queries
-- have a row a token, and their cumulative lengths one entry more than there are requests. Of
-- operators _vllm_fa2_C::varlen_fwd, _vllm_fa3_C::fwd and sgl_kernel::fwd, where all in the step
-- agree; recorded with record_shapes=True.
--   step_id: slice_id in engine_steps
--   tokens: rows of the queries
--   requests: how many
--   kind: decode where each request has one token and none is new; else NULL: not told
WITH attention (name, lengths) AS (
  VALUES ('_vllm_fa2_C::varlen_fwd', '$."Input Dims"[4][0]'),
         ('_vllm_fa3_C::fwd', '$."Input Dims"[7][0]'),
         ('sgl_kernel::fwd', '$."Input Dims"[7][0]')
),
op AS MATERIALIZED (
  SELECT n.id, a.lengths FROM _event_name n JOIN attention a ON a.name = n.name
),
moment AS (
  SELECT track_id AS track, ts, ts + dur_ns AS end_ts, slice_id AS step_id, name,
         kind IS NULL OR tokens IS NULL AS is_wanted, NULL AS args_text, NULL AS lengths
  FROM engine_steps WHERE EXISTS (SELECT 1 FROM op)
  UNION ALL
  SELECT s.track, s.ts, NULL, NULL, NULL, NULL, s.args_text, o.lengths
  FROM _cpu_slice s JOIN op o ON o.id = +s.event_name
  WHERE +s.event_name IN (SELECT id FROM op) AND @possible:s.id@
),
numbered AS (  -- operators with the number of the last step that began before them
  SELECT *, count(step_id) OVER (PARTITION BY track ORDER BY ts, step_id IS NULL
                                 ROWS UNBOUNDED PRECEDING) AS place
  FROM moment
),
within AS (
  SELECT lengths, args_text, ts, max(step_id) OVER w AS step_id, max(name) OVER w AS name,
         max(end_ts) OVER w AS end_ts, max(is_wanted) OVER w AS is_wanted
  FROM numbered WINDOW w AS (PARTITION BY track, place)
),
shape AS (
  SELECT w.step_id, w.name,
         CASE WHEN json_valid(a.args) THEN @json_integer:a.args, '$."Input Dims"[0][0]'@ END
           AS tokens,
         CASE WHEN json_valid(a.args) THEN @json_integer:a.args, w.lengths@ END - 1 AS requests
  FROM within w LEFT JOIN args_texts a ON a.args_id = w.args_text
  WHERE w.lengths IS NOT NULL AND w.is_wanted AND w.ts < w.end_ts
),
told AS (
  SELECT step_id, max(name) AS name, min(tokens) AS tokens, min(requests) AS requests FROM shape
  GROUP BY step_id
  HAVING count(*) = count(tokens) AND count(*) = count(requests) AND min(tokens) = max(tokens)
    AND min(requests) = max(requests) AND min(requests) > 0 AND min(tokens) >= min(requests)
    AND max(tokens) < 1000000000
)
SELECT CAST(step_id AS INTEGER) AS step_id, tokens, requests,
       CASE WHEN tokens = requests AND NOT name GLOB 'execute_new_[1-9]*'
              AND NOT name GLOB 'step*' THEN 'decode' END AS kind
FROM told;

CREATE VIEW engine_step_activities AS
-- A GPU activity that was launched by the thread of an engine's steps.
--   step_id: slice_id of the last step that began before its launch, in engine_steps
--   slice_id: of the activity, as in slices
--   is_within: 1 launched in the step; 0 after it, before the next one began
WITH step AS MATERIALIZED (
  SELECT slice_id, trace_id, track_id, ts, ts + dur_ns AS end_ts FROM engine_steps
),
moment AS (
  SELECT track_id AS track, ts, end_ts, slice_id AS step_id, NULL AS id FROM step
  UNION ALL
  SELECT c.track, c.ts, NULL, NULL, g.id
  FROM _gpu_slice g JOIN _launch k ON k.id = g.id
       JOIN _runtime_slice c ON c.id = k.launch_slice_id
  WHERE g.track IN (SELECT id FROM _track WHERE trace_id IN (SELECT trace_id FROM step))
    AND c.track IN (SELECT track_id FROM step) AND @possible:g.id@
),
-- Steps and launches get the number of the last step, then what has one number is put together: a
-- join of what was worked out here would go through all steps for each launch.
numbered AS (
  SELECT *, count(step_id) OVER (PARTITION BY track ORDER BY ts, step_id IS NULL
                                 ROWS UNBOUNDED PRECEDING) AS place
  FROM moment
)
-- A number by its type as well: SQLite then makes an index where it is joined.
SELECT CAST(step_id AS INTEGER) AS step_id, CAST(id AS INTEGER) AS slice_id,
       ts < end_ts OR ts = start_ts AS is_within
FROM (
  SELECT id, ts, max(step_id) OVER w AS step_id, max(end_ts) OVER w AS end_ts,
         min(ts) OVER w AS start_ts
  FROM numbered WHERE place > 0 WINDOW w AS (PARTITION BY track, place)
)
WHERE id IS NOT NULL;

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
--   last_before_ns: last_ns of the step before it on its thread, where that is of the same device
--   track_id: the thread, in tracks
--   place: the step's number on it
WITH owned AS MATERIALIZED (
  SELECT a.step_id, g.id, g.kind, t.trace_id, t.device, g.ts + t.base_ns AS start_ns,
         g.ts + t.base_ns + CASE WHEN g.dur > 0 THEN g.dur ELSE 0 END AS end_ns
  FROM engine_step_activities a JOIN _gpu_slice g ON g.id = a.slice_id
       JOIN _track t ON t.id = g.track
  WHERE a.is_within
),
united AS (
  SELECT step_id, end_ns, kind = 1 AS is_communication, start_ns,
         max(end_ns) OVER (PARTITION BY step_id ORDER BY start_ns, id
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns,
         max(end_ns) OVER (PARTITION BY step_id, kind = 1 ORDER BY start_ns, id
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS same_before_ns,
         id, trace_id, device,
         row_number() OVER (PARTITION BY step_id ORDER BY start_ns, id) AS turn
  FROM owned
),
summed AS MATERIALIZED (
  SELECT step_id, max(trace_id) AS trace_id, count(*) AS activities, min(start_ns) AS first_ns,
         max(end_ns) AS last_ns,
         sum(CASE WHEN before_ns > end_ns THEN 0 WHEN before_ns > start_ns THEN end_ns - before_ns
                  ELSE end_ns - start_ns END) AS busy_ns,
         sum(CASE WHEN NOT is_communication OR same_before_ns > end_ns THEN 0
                  WHEN same_before_ns > start_ns THEN end_ns - same_before_ns
                  WHEN is_communication THEN end_ns - start_ns ELSE 0 END) AS communication_ns,
         max(CASE turn WHEN 1 THEN device END) AS device, max(CASE turn WHEN 1 THEN id END) AS id
  FROM united GROUP BY step_id
),
-- Of a step one row: by sums, as a join would go through all steps for each.
step AS (
  SELECT step_id, max(trace_id) AS trace_id, max(activities) AS activities, max(device) AS device,
         max(first_ns) AS first_ns, max(last_ns) AS last_ns, max(busy_ns) AS busy_ns,
         max(communication_ns) AS communication_ns, max(id) AS id, max(track_id) AS track_id,
         max(place) AS place
  FROM (
    SELECT step_id, trace_id, activities, device, first_ns, last_ns, busy_ns, communication_ns, id,
           NULL AS track_id, NULL AS place
    FROM summed
    UNION ALL
    SELECT slice_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, track_id, place
    FROM engine_steps
  )
  GROUP BY step_id
),
followed AS (
  SELECT *, CASE WHEN lag(device) OVER w = device OR device IS NULL AND lag(device) OVER w IS NULL
                 THEN lag(last_ns) OVER w END AS last_before_ns
  FROM step WINDOW w AS (PARTITION BY track_id ORDER BY place)
)
SELECT CAST(u.step_id AS INTEGER) AS step_id, u.trace_id, u.device, u.activities, u.first_ns,
       u.last_ns,
       k.launch_ts_ns AS launch_ns, u.busy_ns, u.communication_ns, u.last_before_ns, u.track_id,
       u.place
FROM followed u LEFT JOIN _launch k ON k.id = u.id
WHERE u.activities IS NOT NULL;
