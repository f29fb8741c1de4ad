-- title: GPU activities that start before their launch
--
-- A GPU activity cannot start before the call that launches it does. Where it seems to, the clocks
-- of GPU and host were not brought together well. A microsecond is let pass: old traces round to
-- it.
--
-- param:  tolerance_ns  int(ns)    = 1000  Up to this much earlier is not counted.
-- param:  few_pct       real(pct)  = 0.1   A share up to this is a note.
--
-- meaning: GPU times of this rank are early by worst_us or more, against its own host times and
--   against other ranks: the `cause` (host or device) in `nccl_stalls`, who was last, and launch
--   latencies are off by as much. Busy times and overlap of one GPU hold.
-- advice: Distrust waits below worst_us. A newer driver or profiler measures both clocks more
--   often.
--
-- column: severity     text        finding; note for few.
-- column: run          text        Its run: one training job that was recorded.
-- column: trace_id     int(id)     The trace.
-- column: rank         int(id)     Its rank.
-- column: device       text        The GPU.
-- column: count        int(count)  Activities that start before their launch.
-- column: share_pct    real(pct)   Of the GPU's activities.
-- column: activities   int(count)  All activities of the GPU.
-- column: worst_us     real(us)    The most by which one starts too early.
-- column: at_ms        real(ms)    Where that is, since the trace's first event.
-- column: slice_id     int(id)     The same: its row in kernels.
-- column: example      text        Its name.
--
-- lead:   severity, rank, device, count, share_pct, worst_us, example
-- empty:  No GPU activity starts before its launch.

WITH early AS MATERIALIZED (
  SELECT g.slice_id AS id, g.name_id, t.trace_id, t.device, g.ts + t.base_ns AS ts_ns,
         g.launch_ts_ns - g.ts - t.base_ns AS early_ns
  FROM activities g
  CROSS JOIN tracks t ON t.track_id = g.track_id
  WHERE g.launch_ts_ns - g.ts - t.base_ns > coalesce(:tolerance_ns, 1000)
),
worst AS (
  SELECT trace_id, device, count(*) AS count, max(early_ns) AS early_ns, id, name_id, ts_ns
  FROM early
  GROUP BY trace_id, device
),
shared AS (
  SELECT w.*,
         (SELECT sum((SELECT count(*) FROM activities g WHERE g.track_id = t.track_id))
          FROM tracks t WHERE t.trace_id = w.trace_id AND t.device = w.device) AS activities
  FROM worst w
)
SELECT
  iif(100.0 * s.count > coalesce(:few_pct, 0.1) * s.activities, 'finding', 'note') AS severity,
  r.run,
  s.trace_id,
  r.rank,
  s.device,
  s.count,
  100.0 * s.count / s.activities AS share_pct,
  s.activities,
  s.early_ns / 1e3 AS worst_us,
  (s.ts_ns - r.start_ns) / 1e6 AS at_ms,
  s.id AS slice_id,
  l.name AS example
FROM shared s
JOIN traces r ON r.trace_id = s.trace_id
JOIN names l ON l.name_id = s.name_id
ORDER BY s.early_ns DESC, r.run, r.rank, s.trace_id, s.device;
