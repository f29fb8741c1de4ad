-- title: Which call launched which GPU activity
--
-- For the arrows of a timeline.
--
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  from_ms  real(ms)    = null  Activities that start before are left out; none when null.
-- param:  to_ms    real(ms)    = null  Activities that start after are left out; none when null.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run              text     The run: one training job that was recorded.
-- column: slice_id         int(id)  The GPU activity, as in slices.
-- column: launch_slice_id  int(id)  The call that launched it.
--
-- empty:  No GPU activity has a launch in that time, rank, capture and run.

WITH recorded AS MATERIALIZED (
  SELECT r.trace_id, r.run_id, r.run, r.run_start_ns, ifnull(c.offset_ns, 0) AS offset_ns
  FROM traces r LEFT JOIN rank_clocks c ON c.trace_id = r.trace_id
  WHERE (:run IS NULL OR r.run = :run) AND (:capture IS NULL OR r.capture = :capture)
    AND (:rank IS NULL OR r.rank IN (SELECT value FROM json_each(:rank)))
),
track AS MATERIALIZED (
  SELECT r.*, t.track_id, t.base_ns - r.run_start_ns + r.offset_ns AS shift_ns
  FROM recorded r JOIN tracks t ON t.trace_id = r.trace_id
  WHERE t.device IS NOT NULL
)
SELECT t.run, a.slice_id, a.launch_slice_id
FROM track t CROSS JOIN activities a ON a.track_id = t.track_id
WHERE a.launch_slice_id IS NOT NULL
  AND (:from_ms IS NULL OR a.ts >= CAST(:from_ms * 1e6 AS INTEGER) - t.shift_ns)
  AND (:to_ms IS NULL OR a.ts <= CAST(:to_ms * 1e6 AS INTEGER) - t.shift_ns)
ORDER BY t.run_id, a.slice_id;
