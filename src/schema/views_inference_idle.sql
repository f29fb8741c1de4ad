-- What the host of an inference engine did while the GPU ran nothing before a step.

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
WITH mark AS (  -- where the GPU came to a step
  SELECT u.trace_id, u.device, u.first_ns, u.launch_ns, u.last_before_ns, u.track_id, u.place,
         t.base_ns
  FROM engine_step_uses u JOIN _track t ON t.id = u.track_id
),
gap AS (
  SELECT * FROM (
    SELECT trace_id, device, ts_ns + dur_ns AS from_ns,
           lead(ts_ns) OVER (PARTITION BY trace_id, device ORDER BY ts_ns) AS to_ns
    FROM _busy_segment WHERE trace_id IN (SELECT trace_id FROM engine_steps))
  WHERE to_ns > from_ns
),
numbered AS (  -- gaps with the number of the step that the GPU came to next, from the last
  SELECT *, sum(from_ns IS NULL) OVER (PARTITION BY trace_id, device
                                       ORDER BY reached_ns DESC, from_ns IS NOT NULL, place
                                       ROWS UNBOUNDED PRECEDING) AS turn
  FROM (SELECT trace_id, device, first_ns AS reached_ns, NULL AS from_ns, launch_ns,
               last_before_ns, track_id, place, base_ns
        FROM mark
        UNION ALL SELECT trace_id, device, to_ns, from_ns, NULL, NULL, NULL, NULL, NULL FROM gap)
),
followed AS (
  SELECT reached_ns AS to_ns, from_ns, max(track_id) OVER w AS track_id,
         max(place) OVER w AS place,
         max(launch_ns) OVER w AS launch_ns, max(last_before_ns) OVER w AS last_before_ns,
         max(base_ns) OVER w AS base_ns,
         max(CASE WHEN from_ns IS NULL THEN reached_ns END) OVER w AS first_ns
  FROM numbered WHERE turn > 0 WINDOW w AS (PARTITION BY trace_id, device, turn)
),
before AS (  -- the time until the step's first activity was launched, and from then on
  SELECT track_id, place, e.is_launch, CASE e.is_launch WHEN 1 THEN cut_ts ELSE from_ts END AS ts,
         CASE e.is_launch WHEN 1 THEN to_ts ELSE cut_ts END AS end_ts
  FROM (SELECT track_id, place, from_ns - base_ns AS from_ts, to_ns - base_ns AS to_ts,
               CASE WHEN to_ns <> first_ns OR launch_ns IS NULL OR launch_ns > to_ns THEN to_ns
                    WHEN launch_ns > from_ns THEN launch_ns ELSE from_ns END - base_ns AS cut_ts
        FROM followed WHERE from_ns >= last_before_ns)
       CROSS JOIN (SELECT 0 AS is_launch UNION ALL SELECT 1) e
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
  SELECT d.track_id, d.ts + e.is_end * d.dur_ns AS edge_ts, 1 - 2 * e.is_end AS opens,
         0 AS gap_opens, d.code, d.dur_ns AS length, d.slice_id AS number
  FROM did d CROSS JOIN (SELECT 0 AS is_end UNION ALL SELECT 1) e
  WHERE d.track_id IN (SELECT track_id FROM engine_steps)
  UNION ALL
  SELECT b.track_id, CASE e.is_end WHEN 1 THEN b.end_ts ELSE b.ts END, 0, 1 - 2 * e.is_end,
         2 * b.place + b.is_launch, 0, b.place
  FROM before b CROSS JOIN (SELECT 0 AS is_end UNION ALL SELECT 1) e
  WHERE b.end_ts > b.ts
),
turned AS (
  SELECT *, sum(opens) OVER w AS depth, sum(gap_opens) OVER w AS in_gap,
         row_number() OVER w AS turn, lead(edge_ts) OVER w - edge_ts AS ns
  FROM edge
  WINDOW w AS (PARTITION BY track_id ORDER BY edge_ts, opens + gap_opens, length DESC, number
               ROWS UNBOUNDED PRECEDING)
),
piece AS (  -- after each turn: the slice that was opened last at this depth, and the gap
  SELECT track_id, ns, in_gap, depth,
         (max(CASE gap_opens WHEN 1 THEN turn * 4294967296 + code END) OVER (
            PARTITION BY track_id ORDER BY turn ROWS UNBOUNDED PRECEDING)) & 4294967295 AS gap_code,
         (max(CASE opens WHEN 1 THEN turn * 16 + code END) OVER (
            PARTITION BY track_id, depth ORDER BY turn ROWS UNBOUNDED PRECEDING)) & 15 AS code
  FROM turned
),
caused AS (
  SELECT track_id, gap_code >> 1 AS place,
         CASE WHEN gap_code & 1 THEN 'launch' WHEN depth <= 0 THEN 'unknown'
              ELSE CASE code WHEN 1 THEN 'scheduler' WHEN 2 THEN 'inputs' WHEN 3 THEN 'sampling'
                     WHEN 4 THEN 'drafts' WHEN 5 THEN 'output' WHEN 6 THEN 'detokenising'
                     WHEN 7 THEN 'engine' WHEN 8 THEN 'sync' ELSE 'step' END END AS cause, ns
  FROM piece WHERE in_gap > 0 AND ns > 0
)
SELECT CAST(step_id AS INTEGER) AS step_id, cause, idle_ns
FROM (
  SELECT cause, idle_ns, max(step_id) OVER (PARTITION BY track_id, place) AS step_id
  FROM (SELECT track_id, place, cause, sum(ns) AS idle_ns, NULL AS step_id FROM caused
        GROUP BY track_id, place, cause
        UNION ALL SELECT track_id, place, NULL, NULL, slice_id FROM engine_steps)
)
WHERE cause IS NOT NULL;
