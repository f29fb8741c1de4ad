-- title: How much launched work waits in each stream
--
-- The depth of a stream is how many of its GPU activities were launched (their call has begun) and
-- have not ended: 0 is an empty queue, 1 no work in advance, and at about 1024 a launch waits for
-- room. It is looked at at moments that lie evenly over a trace; mean_depth is exact, over all the
-- time from the stream's first launch to its last end. All activities of a CUDA graph are launched
-- at once. One row for each stream; activities without a known launch do not count.
--
-- param:  moments  int(count)  = 10000  Moments in a trace; with more the figures are finer.
-- param:  full     int(count)  = 1024   The depth from which on a queue counts as full.
-- param:  run      text        = null   This run only; all of them when null.
-- param:  capture  int(count)  = null   This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null   These ranks only; all of them when null.
--
-- column: run           text        The run: one training job that was recorded.
-- column: rank          int(id)     The rank.
-- column: device        text        The GPU, as the trace calls it.
-- column: stream        text        The stream.
-- column: activities    int(count)  Its activities whose launch is known.
-- column: span_ms       real(ms)    From the first launch to the last end; of captures added up.
-- column: mean_depth    real(count) Mean over this time.
-- column: moments       int(count)  Moments in this time.
-- column: max_depth     int(count)  The largest depth at a moment.
-- column: max_depth_ms  real(ms)    The first such moment, since the first event of the run.
-- column: empty_pct     real(pct)   Moments at which the depth was 0, of moments.
-- column: single_pct    real(pct)   At which it was 1.
-- column: full_pct      real(pct)   At which it was `full` or more.
--
-- about:  the host
-- empty:  No GPU activity with a known launch is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown
-- lead:   rank, stream, mean_depth, max_depth, empty_pct, full_pct

WITH axis AS MATERIALIZED (  -- moment i of a trace is first_ns + i * step_ns
  SELECT trace_id, run, run_start_ns, start_ns AS first_ns,
         (end_ns - start_ns) / moments + 1 AS step_ns
  FROM traces
  CROSS JOIN (SELECT min(max(coalesce(:moments, 10000), 1), 1000000000) AS moments)
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
lane AS MATERIALIZED (  -- no: one for a stream of a trace
  SELECT t.track_id, x.run, t.rank, t.device, t.stream, x.run_start_ns, x.first_ns, x.step_ns,
         min(t.track_id) OVER (PARTITION BY t.trace_id, t.device, t.stream) AS no,
         t.base_ns
  FROM tracks t JOIN axis x ON x.trace_id = t.trace_id
  WHERE t.stream IS NOT NULL
),
waited AS (  -- small numbers, as all of them are sorted: from the trace's start, and how long
  SELECT w.no AS track, w.step_ns, g.launch_ts_ns - w.first_ns AS launched,
         max(g.ts + ifnull(g.dur_ns, 0) + w.base_ns, g.launch_ts_ns) - g.launch_ts_ns AS waited
  FROM activities g CROSS JOIN lane w ON w.track_id = g.track_id
  WHERE g.launch_ts_ns IS NOT NULL AND ifnull(g.dur_ns, 0) >= 0
),
met AS MATERIALIZED (  -- those that meet the same moments, of which there are 2^30 at most
  SELECT track, iif(until_moment > moment, (moment << 30) + until_moment - moment, NULL) AS place,
         count(*) AS activities, sum(waited) AS waited_ns, min(launched) AS first_ns,
         max(launched + waited) AS last_ns
  FROM (SELECT track, launched, waited,
               -- Rounded up, to a moment that is not before.
               (launched + step_ns - 1) / step_ns AS moment,
               (launched + waited + step_ns - 1) / step_ns AS until_moment
        FROM waited)
  GROUP BY 2, 1
),
of_track AS (
  SELECT track, sum(activities) AS activities, sum(waited_ns) AS waited_ns,
         max(last_ns) - min(first_ns) AS span_ns
  FROM met GROUP BY track
),
of_stream AS (
  SELECT w.run, w.rank, w.device, w.stream, sum(o.activities) AS activities,
         sum(o.waited_ns) AS waited_ns, sum(o.span_ns) AS span_ns
  FROM of_track o JOIN lane w ON w.track_id = o.track GROUP BY w.run, w.rank, w.device, w.stream
),
change AS MATERIALIZED (
  SELECT track, moment, sum(sign) AS sign
  FROM (SELECT track, place >> 30 AS moment, activities AS sign FROM met WHERE place IS NOT NULL
        UNION ALL
        SELECT track, (place >> 30) + (place & 0x3fffffff), -activities
        FROM met WHERE place IS NOT NULL)
  GROUP BY track, moment
),
held AS MATERIALIZED (  -- a depth holds until the next change; the last of a track is 0
  SELECT track, moment, sum(sign) OVER w AS depth, lead(moment) OVER w - moment AS moments
  FROM change WINDOW w AS (PARTITION BY track ORDER BY moment ROWS UNBOUNDED PRECEDING)
),
counted_track AS MATERIALIZED (
  SELECT track, max(depth) AS max_depth, sum(moments) AS moments,
         sum(moments) FILTER (WHERE depth = 0) AS empty,
         sum(moments) FILTER (WHERE depth = 1) AS single,
         sum(moments) FILTER (WHERE depth >= coalesce(:full, 1024)) AS full
  FROM held WHERE moments IS NOT NULL GROUP BY track
),
counted AS (
  SELECT w.run, w.rank, w.device, w.stream, max(h.max_depth) AS max_depth,
         sum(h.moments) AS moments, sum(h.empty) AS empty, sum(h.single) AS single,
         sum(h.full) AS full
  FROM counted_track h JOIN lane w ON w.track_id = h.track
  GROUP BY w.run, w.rank, w.device, w.stream
),
deepest AS (
  SELECT c.run, c.rank, c.device, c.stream,
         min(w.first_ns + h.moment * w.step_ns - w.run_start_ns) AS at_ns
  FROM held h JOIN lane w ON w.track_id = h.track
  JOIN counted c ON c.run = w.run AND c.rank = w.rank AND c.device = w.device
    AND c.stream = w.stream AND c.max_depth = h.depth
  GROUP BY c.run, c.rank, c.device, c.stream
)
SELECT
  s.run,
  s.rank,
  s.device,
  s.stream,
  s.activities,
  s.span_ns / 1e6 AS span_ms,
  1.0 * s.waited_ns / nullif(s.span_ns, 0) AS mean_depth,
  ifnull(c.moments, 0) AS moments,
  c.max_depth,
  d.at_ns / 1e6 AS max_depth_ms,
  100.0 * ifnull(c.empty, 0) / c.moments AS empty_pct,
  100.0 * ifnull(c.single, 0) / c.moments AS single_pct,
  100.0 * ifnull(c.full, 0) / c.moments AS full_pct
FROM of_stream s
LEFT JOIN counted c
  ON c.run = s.run AND c.rank = s.rank AND c.device = s.device AND c.stream = s.stream
LEFT JOIN deepest d
  ON d.run = s.run AND d.rank = s.rank AND d.device = s.device AND d.stream = s.stream
ORDER BY s.run, s.rank, CAST(s.device AS INTEGER), s.device, CAST(s.stream AS INTEGER), s.stream;
