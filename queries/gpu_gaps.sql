-- title: When did a GPU run nothing, and what was it waiting for
--
-- One row for each gap: a stretch in which nothing ran on the GPU, between two that ran something.
-- The cause is told by the activity that ended it. host: it was not yet launched when the gap
-- began. sync: nor was it, and the thread that launched it was then in a call that waits for the
-- GPU. dependency: it had been launched, and waited for another stream, a copy or the driver.
-- All gaps of a GPU add up to idle_ms of `overlap`; the time between two captures is none.
--
-- param:  limit    int(rows)   = 100   Rows returned at most for a run, the longest gaps first.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     int(id)     = null  This rank only; all of them when null.
--
-- column: run          text        The run: one training job that was recorded.
-- column: capture      int(count)  The capture, by its number in the run.
-- column: rank         int(id)     The rank.
-- column: device       text        The GPU, as the trace calls it.
-- column: start_ms     real(ms)    Start of the gap, since the first event of the run.
-- column: gap_ms       real(ms)    How long nothing ran.
-- column: idle_pct     real(pct)   gap_ms of all gaps of this GPU.
-- column: cause        text        host, sync or dependency; NULL: the launch is not known.
-- column: launched_ms  real(ms)    From the gap's start to the start of the call that launched
--                                  the activity that ended it; negative: it was queued already.
-- column: sync_name    text        The call of cause sync.
-- column: next_name    text        The activity that ended the gap.
-- column: next_step    int(count)  The step in which that was launched.
-- column: next_id      int(id)     Its slice_id in `kernels`.
--
-- plot:   bar gap_ms by run, rank, device, cause, next_name
-- empty:  No GPU ran nothing, or no GPU activity is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH trace AS MATERIALIZED (
  SELECT trace_id, run, capture, rank, run_start_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank = :rank)
),
followed AS MATERIALIZED (  -- where the next one starts is looked up once
  SELECT b.trace_id, b.device, b.end_ns AS from_ns,
         (SELECT n.ts_ns FROM busy_segments n
          WHERE n.trace_id = b.trace_id AND n.device = b.device AND n.ts_ns > b.ts_ns
          ORDER BY n.ts_ns LIMIT 1) AS to_ns
  FROM trace t CROSS JOIN busy_segments b ON b.trace_id = t.trace_id
),
placed AS (
  SELECT f.*, row_number() OVER (
           PARTITION BY t.run
           ORDER BY to_ns - from_ns DESC, t.rank, CAST(device AS INTEGER), device, to_ns) AS place
  FROM followed f JOIN trace t ON t.trace_id = f.trace_id
  WHERE to_ns > from_ns
),
gap AS MATERIALIZED (
  SELECT trace_id, device, from_ns, to_ns, place FROM placed
  WHERE place <= coalesce(:limit, 100) OR :limit < 0
),
ended AS MATERIALIZED (
  SELECT p.*,
         (SELECT g.slice_id FROM tracks t CROSS JOIN activities g ON g.track_id = t.track_id
          WHERE t.trace_id = p.trace_id AND t.device = p.device AND g.ts = p.to_ns - t.base_ns
            AND g.dur_ns > 0
          ORDER BY g.slice_id LIMIT 1) AS next_id
  FROM gap p
),
idle AS MATERIALIZED (
  SELECT t.run, d.rank, d.device, sum(d.idle_ns) AS idle_ns
  FROM trace t JOIN device_uses d ON d.trace_id = t.trace_id
  GROUP BY t.run, d.rank, d.device
),
waiting AS MATERIALIZED (  -- calls that return when the GPU is done
  SELECT c.slice_id, c.track_id, c.ts + t.base_ns AS start_ns,
         c.ts + t.base_ns + c.dur_ns AS end_ns, w.name
  FROM runtime_calls c CROSS JOIN tracks t ON t.track_id = c.track_id
  CROSS JOIN names w ON w.name_id = c.name_id
  WHERE c.dur_ns > 0 AND +c.name_id IN (
    SELECT name_id FROM names
    WHERE (name GLOB 'cu*' OR name GLOB 'hip*')
      AND (instr(name, 'Synchronize')
        OR ((instr(name, 'Memcpy') OR instr(name, 'Memset')) AND NOT instr(name, 'Async'))))
),
launched AS MATERIALIZED (
  SELECT e.next_id, g.step, g.launch_ts_ns, g.launch_slice_id, l.name
  FROM (SELECT DISTINCT next_id FROM ended) e CROSS JOIN activities g ON g.slice_id = e.next_id
  CROSS JOIN names l ON l.name_id = g.name_id
),
told AS MATERIALIZED (
  SELECT e.*, k.step, k.launch_ts_ns, k.name,
         (SELECT w.name FROM waiting w
          WHERE w.track_id = c.track_id AND w.start_ns <= e.from_ns AND e.from_ns < w.end_ns
            AND k.launch_ts_ns >= e.from_ns AND w.slice_id <> c.slice_id
          ORDER BY w.start_ns DESC, w.slice_id LIMIT 1) AS sync_name
  FROM ended e LEFT JOIN launched k ON k.next_id = e.next_id
  LEFT JOIN runtime_calls c ON c.slice_id = k.launch_slice_id
)
SELECT
  t.run,
  t.capture,
  t.rank,
  e.device,
  (e.from_ns - t.run_start_ns) / 1e6 AS start_ms,
  (e.to_ns - e.from_ns) / 1e6 AS gap_ms,
  100.0 * (e.to_ns - e.from_ns) / nullif(d.idle_ns, 0) AS idle_pct,
  CASE
    WHEN e.launch_ts_ns IS NULL THEN NULL
    WHEN e.launch_ts_ns < e.from_ns THEN 'dependency'
    WHEN e.sync_name IS NOT NULL THEN 'sync'
    ELSE 'host'
  END AS cause,
  (e.launch_ts_ns - e.from_ns) / 1e6 AS launched_ms,
  e.sync_name,
  e.name AS next_name,
  e.step AS next_step,
  e.next_id
FROM told e JOIN trace t ON t.trace_id = e.trace_id
JOIN idle d ON d.run = t.run AND d.rank = t.rank AND d.device = e.device
ORDER BY t.run, e.place;
