-- title: GPU activities and events without a usable time
--
-- Profilers write ts 0 with dur 0 for what the device gave no times; ts 0 with a duration is in
-- doctor/impossible_times. Negative and missing durations are counted, and kernels of dur 0 where
-- they are at least half of a GPU's: a few are rounded to it. CUDA events (cuda_event) at ts 0 are
-- a note: CUDA before 12.8 has no times for them.
--
-- param:  zero_dur_pct  real(pct)  = 50  Kernels of dur 0 are trouble from this share on.
--
-- meaning: These activities are in the counts but add nothing to busy times, overlap and
--   utilization_pct: share_pct of the GPU's activities is not measured.
-- advice: Record again with a newer profiler or driver; leave the rank out of comparisons until
--   then.
--
-- column: severity      text        finding; note for CUDA events.
-- column: run           text        Its run: one training job that was recorded.
-- column: trace_id      int(id)     The trace.
-- column: rank          int(id)     Its rank.
-- column: device        text        The GPU; NULL for CUDA events.
-- column: count         int(count)  Activities with this trouble.
-- column: share_pct     real(pct)   Of the GPU's activities.
-- column: trouble       text        ts 0, negative dur, no dur, kernels of dur 0, event at ts 0.
-- column: slice_id      int(id)     The first: its row in kernels.
-- column: first_offset  int(count)  The first, in bytes of the unpacked JSON, where it is known.
-- column: example       text        Its name.
--
-- lead:   severity, rank, device, count, share_pct, trouble, example
-- empty:  Every GPU activity has its time.

WITH odd AS MATERIALIZED (
  SELECT g.slice_id AS id, t.trace_id, t.device,
         CASE
           WHEN g.dur_ns = 0 AND g.ts + t.base_ns = coalesce(r.base_time_ns, 0) THEN 'ts 0'
           WHEN g.dur_ns IS NULL THEN 'no dur'
           WHEN g.dur_ns < 0 THEN 'negative dur'
           WHEN g.dur_ns = 0 AND g.kind < 2 THEN 'kernels of dur 0'
         END AS trouble
  FROM activity_times g
  CROSS JOIN tracks t ON t.track_id = g.track_id
  CROSS JOIN traces r ON r.trace_id = t.trace_id
  WHERE g.dur_ns IS NULL OR g.dur_ns <= 0
),
counted AS (
  SELECT trace_id, device, trouble, count(*) AS count, min(id) AS first_id
  FROM odd
  WHERE trouble IS NOT NULL
  GROUP BY trace_id, device, trouble
),
shared AS (
  SELECT c.*,
         (SELECT sum((SELECT count(*) FROM activity_times g WHERE g.track_id = t.track_id))
          FROM tracks t WHERE t.trace_id = c.trace_id AND t.device = c.device) AS activities
  FROM counted c
),
told AS (
  SELECT 'finding' AS severity, s.trace_id, s.device, s.count, 100.0 * s.count / s.activities
           AS share_pct, s.trouble, s.first_id AS slice_id,
         (SELECT i.first_offset FROM issues i
          WHERE i.trace_id = s.trace_id AND i.count = s.count
            AND i.kind = CASE s.trouble WHEN 'ts 0' THEN 'no_timing'
                                        WHEN 'no dur' THEN 'missing_duration'
                                        WHEN 'negative dur' THEN 'negative_duration' END)
           AS first_offset,
         (SELECT k.name FROM kernels k WHERE k.slice_id = s.first_id)
           AS example
  FROM shared s
  WHERE s.trouble <> 'kernels of dur 0'
     OR 100.0 * s.count >= coalesce(:zero_dur_pct, 50) * s.activities
  UNION ALL
  SELECT 'note', i.trace_id, NULL, i.count - coalesce(n.count, 0), NULL, 'event at ts 0', NULL,
         iif(n.count IS NULL, i.first_offset, NULL), 'cuda_event'
  FROM issues i
  LEFT JOIN (SELECT trace_id, sum(count) AS count FROM counted WHERE trouble = 'ts 0'
             GROUP BY trace_id) n ON n.trace_id = i.trace_id
  WHERE i.kind = 'no_timing' AND i.count > coalesce(n.count, 0)
)
SELECT w.severity, r.run, w.trace_id, r.rank, w.device, w.count, w.share_pct, w.trouble,
       w.slice_id, w.first_offset, w.example
FROM told w
JOIN traces r ON r.trace_id = w.trace_id
ORDER BY w.severity, r.run, r.rank, w.trace_id, w.device, w.trouble;
