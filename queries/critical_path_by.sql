-- title: What the critical path of each step consists of
--
-- The stretches of critical_path, summed: first what takes most of the step. Half of a share is not
-- what half of its owner's time would gain: another path may then be the longest. See what_if.
--
-- param:  by       text        = name  kind, rank, or name: kind, rank and name.
-- param:  limit    int(rows)   = 10    Rows of a step at most; all when null.
-- param:  step     ints(count) = null  These steps only; all when null.
-- param:  changes  text        = []    Changes as of what_if: the path that there is then.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run        text        The run: one training job that was recorded.
-- column: capture    int(count)  The capture, by its number in the run.
-- column: step       int(count)  The step; NULL where the capture has none.
-- column: kind       text        As in critical_path; NULL by rank.
-- column: rank       int(id)     Whose host or GPU it was; NULL by kind.
-- column: name       text        The GPU activity, or what the host was in; NULL by kind and rank.
-- column: stretches  int(count)  How many stretches of the path
-- column: dur_ms     real(ms)    and how long they are.
-- column: share_pct  real(pct)   Of the step.
--
-- about:  what to do
-- plot:   bar dur_ms by step, kind, rank, name
-- empty:  There is no launch, GPU activity or step in that step, capture and run.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH piece AS MATERIALIZED (
  SELECT c.run_id, c.run, c.capture, p.*, coalesce(p.launch_of, p.slice_id) AS activity_id
  FROM captures c CROSS JOIN replay_path(c.capture_id, :changes) p
  WHERE (:run IS NULL OR c.run = :run) AND (:capture IS NULL OR c.capture = :capture)
    AND (:step IS NULL OR p.step IN (SELECT value FROM json_each(:step)))
),
told AS (
  SELECT p.run_id, p.run, p.capture, p.step, p.dur_ns,
         iif(:by = 'rank', NULL, p.kind) AS kind,
         iif(:by = 'kind', NULL, p.rank) AS rank,
         CASE
           WHEN :by IN ('kind', 'rank') OR p.kind = 'unrecorded' THEN NULL
           WHEN p.held_by IS NOT NULL THEN (SELECT n.name FROM names n
                                            WHERE n.name_id = p.held_name_id)
           -- looked up one by one: a LEFT JOIN would work out all of kernels first
           WHEN p.kind = 'host' THEN coalesce(
             (SELECT coalesce(k.op, (SELECT h.name FROM call_paths h WHERE h.path_id = k.path_id))
              FROM kernels k WHERE k.slice_id = p.activity_id),
             (SELECT s.name FROM slices s WHERE s.slice_id = p.slice_id))
           WHEN p.kind = 'recorder' THEN (SELECT s.name FROM slices s
                                          WHERE s.slice_id = p.slice_id)
           ELSE (SELECT k.name FROM kernels k WHERE k.slice_id = p.activity_id)
         END AS name
  FROM piece p
),
summed AS (
  SELECT run_id, run, capture, step, kind, rank, name, count(*) AS stretches, sum(dur_ns) AS ns,
         sum(sum(dur_ns)) OVER (PARTITION BY run_id, capture, step) AS step_ns,
         row_number() OVER (PARTITION BY run_id, capture, step
                            ORDER BY sum(dur_ns) DESC, kind, rank, name) AS place
  FROM told GROUP BY run_id, run, capture, step, kind, rank, name
)
SELECT
  run,
  capture,
  step,
  kind,
  rank,
  name,
  stretches,
  ns / 1e6 AS dur_ms,
  100.0 * ns / step_ns AS share_pct
FROM summed
WHERE :limit IS NULL OR :limit < 0 OR place <= :limit
ORDER BY run_id, capture, step, place;
