-- title: What ran on the lines of a timeline, exactly
--
-- Each slice of the host and each GPU activity, by the aligned clocks: nothing is thinned. Lines
-- are those of `report/lanes`.
--
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  from_ms  real(ms)    = null  What ends before is left out; nothing when null.
-- param:  to_ms    real(ms)    = null  What starts after is left out; nothing when null.
-- param:  min_us   real(us)    = null  Shorter ones are left out; none when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run       text     The run: one training job that was recorded.
-- column: lane      int(id)  Its line.
-- column: slice_id  int(id)  As in slices.
-- column: start_ns  int(ns)  Start since the first event of the run, by the aligned clocks.
-- column: dur_ns    int(ns)  How long.
-- column: kind      text     compute, communication, memory or waiting of a GPU; else the category.
-- column: name      text     As the trace has it.
--
-- empty:  Nothing with a duration is in that time, rank, capture and run.

WITH recorded AS MATERIALIZED (
  SELECT r.trace_id, r.run_id, r.run, r.run_start_ns, ifnull(c.offset_ns, 0) AS offset_ns
  FROM traces r LEFT JOIN rank_clocks c ON c.trace_id = r.trace_id
  WHERE (:run IS NULL OR r.run = :run) AND (:capture IS NULL OR r.capture = :capture)
    AND (:rank IS NULL OR r.rank IN (SELECT value FROM json_each(:rank)))
),
-- A millisecond more on each side: a clock's drift is less, and the rest is cut at the end.
track AS MATERIALIZED (
  SELECT r.*, t.track_id, t.device IS NOT NULL AS is_gpu,
         min(t.track_id) OVER (PARTITION BY t.trace_id, t.device, t.stream,
                                 CASE WHEN t.device IS NULL THEN t.pid END,
                                 CASE WHEN t.device IS NULL THEN t.tid END) AS lane,
         ifnull(CAST(:from_ms * 1e6 AS INTEGER) - 1000000 - t.base_ns + r.run_start_ns
                  - r.offset_ns, -4611686018427387904) AS from_ts,
         ifnull(CAST(:to_ms * 1e6 AS INTEGER) + 1000000 - t.base_ns + r.run_start_ns
                  - r.offset_ns, 4611686018427387904) AS to_ts
  FROM recorded r JOIN tracks t ON t.trace_id = r.trace_id
),
part AS MATERIALIZED (  -- of slices, in which one can be in the window
  SELECT b.first_id, b.last_id
  FROM (SELECT trace_id, min(from_ts) AS from_ts, max(to_ts) AS to_ts FROM track
        GROUP BY trace_id) w
  JOIN slice_parts b ON b.trace_id = w.trace_id
  WHERE b.start_ts IS NULL OR (b.end_ts >= w.from_ts AND b.start_ts <= w.to_ts)
),
slice (run_id, run, run_start_ns, lane, slice_id, name_id, kind, dur_ns, aligned_ts_ns) AS (
  SELECT t.run_id, t.run, t.run_start_ns, t.lane, a.slice_id, a.name_id, a.kind, a.dur_ns,
         a.aligned_ts_ns
  FROM track t CROSS JOIN activity_times a ON a.track_id = t.track_id AND a.ts <= t.to_ts
  WHERE t.is_gpu AND a.dur_ns >= ifnull(:min_us * 1000, 0) AND a.ts + a.dur_ns >= t.from_ts
  UNION ALL
  SELECT t.run_id, t.run, t.run_start_ns, t.lane, a.slice_id, a.name_id, NULL, a.dur_ns,
         a.aligned_ts_ns
  FROM part p CROSS JOIN operator_slices a ON a.slice_id BETWEEN p.first_id AND p.last_id
  JOIN track t ON t.track_id = a.track_id
  WHERE a.dur_ns >= ifnull(:min_us * 1000, 0) AND a.ts <= t.to_ts AND a.ts + a.dur_ns >= t.from_ts
  UNION ALL
  SELECT t.run_id, t.run, t.run_start_ns, t.lane, a.slice_id, a.name_id, NULL, a.dur_ns,
         a.aligned_ts_ns
  FROM part p CROSS JOIN runtime_calls a ON a.slice_id BETWEEN p.first_id AND p.last_id
  JOIN track t ON t.track_id = a.track_id
  WHERE a.dur_ns >= ifnull(:min_us * 1000, 0) AND a.ts <= t.to_ts AND a.ts + a.dur_ns >= t.from_ts
  UNION ALL
  SELECT t.run_id, t.run, t.run_start_ns, t.lane, a.slice_id, a.name_id, NULL, a.dur_ns,
         a.aligned_ts_ns
  FROM part p CROSS JOIN function_slices a ON a.slice_id BETWEEN p.first_id AND p.last_id
  JOIN track t ON t.track_id = a.track_id
  WHERE a.dur_ns >= ifnull(:min_us * 1000, 0) AND a.ts <= t.to_ts AND a.ts + a.dur_ns >= t.from_ts
)
SELECT s.run, s.lane, s.slice_id, s.aligned_ts_ns - s.run_start_ns AS start_ns, s.dur_ns,
       CASE s.kind WHEN 0 THEN 'compute' WHEN 1 THEN 'communication' WHEN 2 THEN 'memory'
                   WHEN 3 THEN 'waiting' ELSE ifnull(n.category, 'slice') END AS kind, n.name
FROM slice s JOIN names n ON n.name_id = s.name_id
WHERE (:from_ms IS NULL
       OR s.aligned_ts_ns - s.run_start_ns + s.dur_ns >= CAST(:from_ms * 1e6 AS INTEGER))
  AND (:to_ms IS NULL OR s.aligned_ts_ns - s.run_start_ns <= CAST(:to_ms * 1e6 AS INTEGER))
ORDER BY s.run_id, s.lane, start_ns, s.dur_ns DESC, s.slice_id;
