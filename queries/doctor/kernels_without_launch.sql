-- title: GPU activities without a launch
--
-- A kernel, copy or fill is launched by a runtime call with the same correlation. At the start of
-- a capture it is normal that the call came before it: a stream runs in order, so what is on a
-- stream before its first activity with a known launch counts as at_start and not as trouble (on a
-- stream without any, what is before the first one of the whole trace). Later ones are counted.
-- A trace that has no runtime call at all was recorded so.
--
-- param:  few_pct       real(pct)  = 0.1  A share of later ones up to this is a note.
-- param:  at_start_pct  real(pct)  = 1    Where only the start has them: a smaller share is no row.
--
-- meaning: These belong to the step in which they start instead of that which launched them, and
--   a collective among them has no cause (host or device) in `nccl_stalls`. Busy times hold.
--   Where runtime records were dropped, launch counts and launch latencies are too small.
-- advice: A larger profiler buffer, fewer steps, or no Python stacks, if share_pct is not small.
--
-- column: severity             text        finding; note for few, or only at the start.
-- column: run                  text        Its run: one training job that was recorded.
-- column: trace_id             int(id)     The trace.
-- column: rank                 int(id)     Its rank.
-- column: device               text        The GPU.
-- column: count                int(count)  Activities without a launch that are not at the start.
-- column: share_pct            real(pct)   Of the GPU's activities.
-- column: at_start             int(count)  Those at the start.
-- column: without_correlation  int(count)  Of both, those that have no correlation to tell it by.
-- column: activities           int(count)  All activities of the GPU.
-- column: at_ms                real(ms)    The first counted one, since the trace's first event.
-- column: slice_id             int(id)     The same: its row in kernels.
-- column: example              text        Its name.
--
-- lead:   severity, rank, device, count, share_pct, at_start, without_correlation, example
-- empty:  Every GPU activity has its launch.

WITH lone AS MATERIALIZED (
  SELECT slice_id AS id, track_id, ts, correlation
  FROM activities WHERE launch_slice_id IS NULL
),
lone_trace AS MATERIALIZED (
  SELECT DISTINCT t.trace_id FROM (SELECT DISTINCT track_id FROM lone) n
  JOIN tracks t ON t.track_id = n.track_id
),
gpu_track AS MATERIALIZED (
  SELECT t.track_id, t.trace_id, t.device,
         (SELECT count(*) FROM activities g WHERE g.track_id = t.track_id) AS activities,
         (SELECT g.ts + t.base_ns
          FROM activities g
          WHERE g.track_id = t.track_id AND g.launch_slice_id IS NOT NULL
          ORDER BY g.ts LIMIT 1) AS launched_ns
  FROM tracks t
  WHERE t.device IS NOT NULL AND t.trace_id IN (SELECT trace_id FROM lone_trace)
),
border AS (
  SELECT track_id, trace_id, device,
         coalesce(launched_ns, min(launched_ns) OVER (PARTITION BY trace_id)) AS launched_ns
  FROM gpu_track
),
judged AS (
  SELECT b.trace_id, b.device, n.id, n.correlation,
         coalesce(n.ts + t.base_ns > b.launched_ns, 0) AS late,
         n.ts + t.base_ns AS ts_ns
  FROM lone n
  JOIN tracks t ON t.track_id = n.track_id
  JOIN border b ON b.track_id = n.track_id
),
counted AS (
  SELECT trace_id, device, sum(late) AS late, count(*) - sum(late) AS at_start,
         sum(correlation IS NULL) AS without_correlation
  FROM judged
  GROUP BY trace_id, device
),
earliest AS (
  SELECT trace_id, device, id, min(ts_ns) AS ts_ns FROM judged WHERE late GROUP BY trace_id, device
),
shared AS (
  SELECT c.*, (SELECT sum(activities) FROM gpu_track g
               WHERE g.trace_id = c.trace_id AND g.device = c.device) AS activities
  FROM counted c
)
SELECT
  CASE WHEN 100.0 * s.late > coalesce(:few_pct, 0.1) * s.activities THEN 'finding' ELSE 'note' END
    AS severity,
  r.run,
  s.trace_id,
  r.rank,
  s.device,
  s.late AS count,
  100.0 * s.late / s.activities AS share_pct,
  s.at_start,
  s.without_correlation,
  s.activities,
  (e.ts_ns - r.start_ns) / 1e6 AS at_ms,
  e.id AS slice_id,
  (SELECT k.name FROM kernels k WHERE k.slice_id = e.id) AS example
FROM shared s
JOIN traces r ON r.trace_id = s.trace_id
LEFT JOIN earliest e ON e.trace_id = s.trace_id AND e.device = s.device
WHERE s.late > 0 OR 100.0 * s.at_start >= coalesce(:at_start_pct, 1) * s.activities
ORDER BY s.late = 0, r.run, r.rank, s.trace_id, CAST(s.device AS INTEGER), s.device;
