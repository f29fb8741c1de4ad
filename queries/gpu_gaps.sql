-- title: When did a GPU run nothing, and what was it waiting for
--
-- One row for each gap: a stretch in which nothing ran on the GPU, between two that ran something.
-- The cause is what the thread did that launched the activity which ended the gap, piece by
-- piece. sync: it was in a call that waits for the GPU, and the call's work had not ended, as the
-- gap ended while it was in it. What is before that is host where that launch came after the gap
-- had begun, named by what the host then did, and else dependency: what was launched waited for
-- another stream, a copy or the driver. All gaps of a GPU add up to idle_ms of `overlap`; the time
-- between two captures is none.
--
-- host_name is that in which the thread was longest, of slices of 0.25 ms and more, each without
-- those within it; of the thread that runs the steps where that tells more. The 100 longest gaps of
-- a run have one.
--
-- param:  limit    int(rows)   = 100   Rows returned at most for a run, the longest gaps first.
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
--
-- column: run          text        The run: one training job that was recorded.
-- column: capture      int(count)  The capture, by its number in the run.
-- column: rank         int(id)     The rank.
-- column: device       text        The GPU, as the trace calls it.
-- column: start_ms     real(ms)    Start of the gap, since the first event of the run.
-- column: gap_ms       real(ms)    How long nothing ran.
-- column: idle_pct     real(pct)   gap_ms of all gaps of this GPU.
-- column: cause        text        host, sync or dependency: of the longer piece; NULL: the launch
--                                  is not known.
-- column: launched_ms  real(ms)    From the gap's start to the start of the call that launched
--                                  the activity that ended it; negative: it was queued already.
-- column: sync_ms      real(ms)    The piece that is sync; the rest of gap_ms is host or
--                                  dependency.
-- column: sync_name    text        The call that waits for the GPU, in which the thread was at the
--                                  gap's end, or else at its start.
-- column: host_name    text        What the host did in its piece, longest; NULL: nothing that took
--                                  0.25 ms or a quarter of the piece, or a piece under 0.02 ms.
-- column: host_name_ms real(ms)    How long that took.
-- column: next_name    text        The activity that ended the gap.
-- column: next_step    int(count)  The step in which that was launched.
-- column: next_id      int(id)     Its slice_id in `kernels`.
--
-- about:  steps and GPU time
-- lead:   rank, start_ms, gap_ms, cause, host_name, sync_name, next_name
-- plot:   bar gap_ms by run, rank, device, cause, next_name
-- empty:  No GPU ran nothing, or no GPU activity is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH trace AS MATERIALIZED (
  SELECT trace_id, run_id, run, capture, rank, run_start_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
followed AS MATERIALIZED (  -- where the next one starts is looked up once
  SELECT t.run_id, b.trace_id, b.device, b.end_ns AS from_ns,
         (SELECT n.ts_ns FROM busy_segments n
          WHERE n.trace_id = b.trace_id AND n.device = b.device AND n.ts_ns > b.ts_ns
          ORDER BY n.ts_ns LIMIT 1) - b.end_ns AS gap_ns
  FROM trace t CROSS JOIN busy_segments b ON b.trace_id = t.trace_id
),
shortest AS MATERIALIZED (  -- of those that may be shown; +: an index made for it costs more
  SELECT r.run_id,
         (SELECT f.gap_ns FROM followed f WHERE +f.run_id = r.run_id AND f.gap_ns > 0
          ORDER BY f.gap_ns DESC
          LIMIT 1 OFFSET max(coalesce(:limit, 100), 1) - 1) AS gap_ns
  FROM (SELECT DISTINCT run_id FROM trace) r
),
placed AS (
  SELECT t.run, f.trace_id, f.device, f.from_ns, f.from_ns + f.gap_ns AS to_ns, row_number() OVER (
           PARTITION BY f.run_id ORDER BY f.gap_ns DESC, t.rank,
                        CAST(f.device AS INTEGER), f.device, f.from_ns + f.gap_ns) AS place
  FROM shortest s CROSS JOIN followed f ON +f.run_id = s.run_id
  JOIN trace t ON t.trace_id = f.trace_id
  WHERE f.gap_ns > 0 AND (f.gap_ns >= ifnull(s.gap_ns, 0) OR :limit < 0)
),
gap AS MATERIALIZED (
  SELECT run, trace_id, device, from_ns, to_ns, place FROM placed
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
  SELECT e.*, k.step, k.launch_ts_ns, k.name, c.track_id
  FROM ended e LEFT JOIN launched k ON k.next_id = e.next_id
  LEFT JOIN runtime_calls c ON c.slice_id = k.launch_slice_id
),
clipped AS (  -- of calls within one another the first to begin has the time
  SELECT *, max(start_ns, ifnull(max(end_ns) OVER (
              PARTITION BY track_id ORDER BY start_ns, slice_id
              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns)) AS clip_ns
  FROM waiting WHERE track_id IN (SELECT track_id FROM told)
),
call AS MATERIALIZED (
  SELECT *, row_number() OVER (ORDER BY track_id, clip_ns) AS number
  FROM clipped WHERE clip_ns < end_ns
),
moment AS (  -- which call began last before a gap's end, and at or before its start
  SELECT t.track_id, iif(e.turn = 0, t.to_ns, t.from_ns) AS at, e.turn, t.run, t.place,
         NULL AS number
  FROM told t CROSS JOIN (SELECT 0 AS turn UNION ALL SELECT 2) e WHERE t.track_id IS NOT NULL
  UNION ALL SELECT track_id, clip_ns, 1, NULL, NULL, number FROM call
),
within AS MATERIALIZED (
  SELECT run, place, max(iif(turn = 0, number, NULL)) AS at_end,
         max(iif(turn = 2, number, NULL)) AS at_start
  FROM (SELECT run, place, turn,
               max(number) OVER (PARTITION BY track_id ORDER BY at, turn
                                 ROWS UNBOUNDED PRECEDING) AS number
        FROM moment)
  GROUP BY run, place
),
cut AS MATERIALIZED (
  SELECT e.*, ifnull(w.name, b.name) AS sync_name,
         iif(w.number IS NULL, e.to_ns, max(w.start_ns, e.from_ns)) AS cut_ns
  FROM told e
  LEFT JOIN within i ON i.run = e.run AND i.place = e.place
  LEFT JOIN call w ON w.number = i.at_end AND w.end_ns > e.to_ns
  LEFT JOIN call b ON b.number = i.at_start AND b.end_ns > e.from_ns
),
stepped AS MATERIALIZED (SELECT DISTINCT trace_id, track_id FROM steps),
-- From here on cut, reach and near are named once each: SQLite expands a CTE anew wherever it is
-- named, and so all before it as often.
held AS (  -- the pieces that are the host's, by the thread that launched, and others
  SELECT e.run, e.place, t.track_id, o.is_other, e.from_ns - t.base_ns AS from_ts,
         e.cut_ns - t.base_ns AS to_ts
  FROM cut e CROSS JOIN (SELECT 0 AS is_other UNION ALL SELECT 1) o
  CROSS JOIN tracks t ON t.track_id IN (
    SELECT e.track_id WHERE o.is_other = 0
    UNION ALL
    SELECT s.track_id FROM stepped s
    WHERE o.is_other = 1 AND s.trace_id = e.trace_id AND s.track_id <> e.track_id)
  WHERE e.place <= 100 AND e.launch_ts_ns >= e.from_ns AND e.cut_ns - e.from_ns >= 20000
),
reach AS MATERIALIZED (  -- of each kind of slices that began before the piece, the last 256
  SELECT h.*,
         ifnull((SELECT l.ts FROM operator_slices l
                 WHERE l.dur_ns >= 250000 AND l.track_id = h.track_id AND l.ts < h.from_ts
                 ORDER BY l.ts DESC LIMIT 1 OFFSET 255), -9223372036854775807) AS operators_ts,
         ifnull((SELECT l.ts FROM runtime_calls l
                 WHERE l.dur_ns >= 250000 AND l.track_id = h.track_id AND l.ts < h.from_ts
                 ORDER BY l.ts DESC LIMIT 1 OFFSET 255), -9223372036854775807) AS calls_ts,
         ifnull((SELECT l.ts FROM function_slices l
                 WHERE l.dur_ns >= 250000 AND l.track_id = h.track_id AND l.ts < h.from_ts
                 ORDER BY l.ts DESC LIMIT 1 OFFSET 255), -9223372036854775807) AS functions_ts
  FROM held h
),
near AS (
  SELECT h.run, h.place, h.track_id, h.is_other, h.from_ts, h.to_ts,
         coalesce(o.slice_id, c.slice_id, f.slice_id) AS slice_id,
         coalesce(o.name_id, c.name_id, f.name_id) AS name_id, coalesce(o.ts, c.ts, f.ts) AS ts,
         coalesce(o.dur_ns, c.dur_ns, f.dur_ns) AS dur_ns
  FROM reach h CROSS JOIN (SELECT 0 AS source UNION ALL SELECT 1 UNION ALL SELECT 2) k
  LEFT JOIN operator_slices o ON k.source = 0 AND o.track_id = h.track_id AND o.ts < h.to_ts
    AND o.ts >= h.operators_ts AND o.dur_ns >= 250000 AND o.ts + o.dur_ns > h.from_ts
  LEFT JOIN runtime_calls c ON k.source = 1 AND c.track_id = h.track_id AND c.ts < h.to_ts
    AND c.ts >= h.calls_ts AND c.dur_ns >= 250000 AND c.ts + c.dur_ns > h.from_ts
  LEFT JOIN function_slices f ON k.source = 2 AND f.track_id = h.track_id AND f.ts < h.to_ts
    AND f.ts >= h.functions_ts AND f.dur_ns >= 250000 AND f.ts + f.dur_ns > h.from_ts
),
did AS MATERIALIZED (  -- a thread that still waits at the piece's end does not hold another
  SELECT h.run, h.place, h.track_id, h.is_other, h.slice_id, h.name_id, n.name,
         n.category = 'user_annotation' AS is_annotation, h.ts, h.dur_ns,
         max(h.ts, h.from_ts) AS first_ts, min(h.ts + h.dur_ns, h.to_ts) AS last_ts,
         h.to_ts - h.from_ts AS piece_ns
  FROM near h CROSS JOIN names n ON n.name_id = h.name_id
  WHERE h.slice_id IS NOT NULL AND NOT n.name GLOB 'ProfilerStep#*'
    AND (h.is_other = 0 OR h.ts + h.dur_ns <= h.to_ts)
),
edge AS (  -- did is named once: SQLite expands a CTE anew wherever it is named
  SELECT d.run, d.place, d.track_id, d.slice_id, d.dur_ns,
         iif(e.opens = 1, d.first_ts, d.last_ts) AS at, e.opens
  FROM did d CROSS JOIN (SELECT 1 AS opens UNION ALL SELECT -1) e
),
turned AS MATERIALIZED (
  SELECT *, sum(opens) OVER w AS depth, row_number() OVER w AS turn, lead(at) OVER w AS next_at
  FROM edge
  WINDOW w AS (PARTITION BY run, place, track_id ORDER BY at, opens, dur_ns DESC, slice_id
               ROWS UNBOUNDED PRECEDING)
),
innermost AS (  -- after each turn: that which was opened last at this depth
  SELECT run, place, track_id, next_at - at AS ns,
         max(iif(opens = 1, turn, NULL)) OVER (
           PARTITION BY run, place, track_id, depth ORDER BY turn
           ROWS UNBOUNDED PRECEDING) AS opener
  FROM turned WHERE depth > 0
),
own AS MATERIALIZED (  -- sorted together: a join of the two may get no index
  SELECT d.*, o.own_ns
  FROM (SELECT run, place, track_id, max(slice_id) AS slice_id, sum(ns) AS own_ns
        FROM (SELECT run, place, track_id, opener AS turn, NULL AS slice_id, ns FROM innermost
              UNION ALL
              SELECT run, place, track_id, turn, slice_id, NULL FROM turned WHERE opens = 1)
        GROUP BY run, place, track_id, turn HAVING count(ns) > 0) o
  JOIN did d ON d.run = o.run AND d.place = o.place AND d.track_id = o.track_id
    AND d.slice_id = o.slice_id
),
longest AS (  -- of each thread the name, and the slice of it, in which it was longest
  SELECT *, row_number() OVER (PARTITION BY run, place, track_id
                               ORDER BY name_ns DESC, name_id, own_ns DESC, slice_id) AS turn
  FROM (SELECT *, sum(own_ns) OVER (PARTITION BY run, place, track_id, name_id) AS name_ns
        FROM own)
),
doing AS MATERIALIZED (  -- an annotation around it that is nearly as long says more
  SELECT l.run, l.place, l.name_ns,
         coalesce(iif(l.is_annotation, NULL,
                      (SELECT a.name FROM did a
                       WHERE a.run = l.run AND a.place = l.place AND a.track_id = l.track_id
                         AND a.is_annotation AND a.ts <= l.ts
                         AND a.ts + a.dur_ns >= l.ts + l.dur_ns
                         AND a.dur_ns <= l.dur_ns + l.dur_ns / 4
                       ORDER BY a.dur_ns, a.slice_id LIMIT 1)), l.name) AS name,
         row_number() OVER (PARTITION BY l.run, l.place
                            ORDER BY CASE WHEN 2 * l.name_ns >= l.piece_ns THEN l.is_other
                                          ELSE 2 + l.is_other END, l.track_id) AS choice
  FROM longest l
  WHERE l.turn = 1 AND (l.name_ns >= 250000 OR 4 * l.name_ns >= l.piece_ns)
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
    WHEN e.to_ns - e.cut_ns >= e.cut_ns - e.from_ns THEN 'sync'
    WHEN e.launch_ts_ns < e.from_ns THEN 'dependency'
    ELSE 'host'
  END AS cause,
  (e.launch_ts_ns - e.from_ns) / 1e6 AS launched_ms,
  (e.to_ns - e.cut_ns) / 1e6 AS sync_ms,
  e.sync_name,
  h.name AS host_name,
  h.name_ns / 1e6 AS host_name_ms,
  e.name AS next_name,
  e.step AS next_step,
  e.next_id
FROM cut e JOIN trace t ON t.trace_id = e.trace_id
JOIN idle d ON d.run = t.run AND d.rank = t.rank AND d.device = e.device
LEFT JOIN doing h ON h.run = e.run AND h.place = e.place AND h.choice = 1
ORDER BY t.run, e.place;
