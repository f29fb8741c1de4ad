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
-- column: name       text        As in critical_path; NULL by kind and rank.
-- column: stretches  int(count)  How many stretches of the path
-- column: dur_ms     real(ms)    and how long they are.
-- column: share_pct  real(pct)   Of the step.
--
-- about:  what to do
-- lead:   step, kind, rank, name, dur_ms, share_pct
-- plot:   bar dur_ms by step, kind, rank, name
-- empty:  There is no launch, GPU activity or step in that step, capture and run.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH piece AS (  -- by numbers first: of many stretches few have a name of their own
  SELECT c.capture_id, p.step, p.kind, p.rank, p.dur_ns, p.slice_id,
         p.held_by IS NOT NULL AS is_held,
         CASE
           WHEN :by IN ('kind', 'rank') OR p.kind = 'unrecorded' THEN NULL
           WHEN p.held_by IS NOT NULL THEN p.held_name_id
           WHEN p.kind = 'host' THEN iif(p.dur_ns >= 2 * 250000, -1, NULL)  -- as in critical_path
           WHEN p.kind <> 'recorder'
             THEN (SELECT a.name_id FROM activity_times a
                   WHERE a.slice_id = coalesce(p.launch_of, p.slice_id))
         END AS name_id,
         CASE WHEN :by NOT IN ('kind', 'rank') AND p.kind = 'host' AND p.held_by IS NULL
              THEN (SELECT l.path_id FROM launches l
                    WHERE l.slice_id = coalesce(p.launch_of, p.slice_id)
                      AND l.path_id IN (SELECT path_id FROM call_paths
                                        WHERE coalesce(op, name) IS NOT NULL))
         END AS path_id
  FROM captures c CROSS JOIN replay_path(c.capture_id, :changes) p
  WHERE (:run IS NULL OR c.run = :run) AND (:capture IS NULL OR c.capture = :capture)
    AND (:step IS NULL OR p.step IN (SELECT value FROM json_each(:step)))
  LIMIT -1  -- handed on row by row: each of these is worked out once, and none is kept
),
alike AS (
  SELECT capture_id, step, kind, rank, name_id, path_id, count(*) AS stretches,
         sum(dur_ns) AS dur_ns,
         CASE WHEN :by NOT IN ('kind', 'rank') AND kind IN ('host', 'recorder') AND NOT is_held
                   AND path_id IS NULL
              THEN (SELECT s.name FROM slices s WHERE s.slice_id = p.slice_id)
         END AS slice_name
  FROM piece p GROUP BY capture_id, step, kind, rank, name_id, path_id, slice_name
),
told AS (
  SELECT c.run_id, c.run, c.capture, p.step, p.dur_ns, p.stretches,
         iif(:by = 'rank', NULL, p.kind) AS kind,
         iif(:by = 'kind', NULL, p.rank) AS rank,
         coalesce((SELECT n.name FROM names n WHERE n.name_id = p.name_id),
                  iif(p.name_id = -1 AND (p.path_id IS NOT NULL
                                          OR p.slice_name NOT GLOB 'ProfilerStep#*'), 'before ', '')
                    || coalesce((SELECT coalesce(h.op, h.name) FROM call_paths h
                                 WHERE h.path_id = p.path_id), p.slice_name)) AS name
  FROM alike p JOIN captures c ON c.capture_id = p.capture_id
),
summed AS (
  SELECT run_id, run, capture, step, kind, rank, name, sum(stretches) AS stretches,
         sum(dur_ns) AS ns,
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
