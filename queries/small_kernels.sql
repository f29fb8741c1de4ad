-- title: Where is the GPU held up by launches of short kernels
--
-- A GPU's busy time is cut into pieces, in each of which the same kinds of activity run (compute,
-- communication, memory) without a break. A run is as many pieces as possible, one after the other,
-- that are all shorter than max_us. It is launch-bound when min_kernels activities or more start in
-- it, and nothing runs in idle_pct or more of its time, from its first start to its last end. Such
-- stretches gain from CUDA graphs, fusion (torch.compile) or larger batches. One row for each GPU.
--
-- param:  max_us       real(us)    = 10    Shorter than this is short.
-- param:  min_kernels  int(count)  = 10    Activities that make a run.
-- param:  idle_pct     real(pct)   = 50    Idle time that makes it launch-bound.
-- param:  run          text        = null  This run only; all of them when null.
-- param:  capture      int(count)  = null  This capture of a run only, by its number; all when
--                                          null.
-- param:  rank         ints(id)    = null  These ranks only; all of them when null.
--
-- column: run                 text        The run: one training job that was recorded.
-- column: rank                int(id)     The rank.
-- column: device              text        The GPU, as the trace calls it.
-- column: activities          int(count)  Kernels, copies and fills.
-- column: short_activities    int(count)  Those that are short.
-- column: short_pct           real(pct)   Of activities.
-- column: short_time_pct      real(pct)   The sum of their durations, of that of all.
-- column: stretches           int(count)  Launch-bound runs.
-- column: stretch_activities  int(count)  Activities in these.
-- column: stretch_ms          real(ms)    Their time.
-- column: stretch_span_pct    real(pct)   Of the GPU's span, summed over captures.
-- column: stretch_idle_ms     real(ms)    Of stretch_ms, when nothing ran.
-- column: stretch_idle_pct    real(pct)   stretch_idle_ms of all idle time of the GPU.
-- column: longest_start_ms    real(ms)    Start of the longest stretch, since the first event of
--                                         the run.
-- column: longest_ms          real(ms)    How long it is.
-- column: longest_idle_ms     real(ms)    When nothing ran in it.
-- column: longest_activities  int(count)  Activities in it.
-- column: longest_names       text        The three that are most frequent in it, with how often.
--
-- about:  kernels and operators
-- empty:  No GPU activity is in the database.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown
-- lead:   rank, device, activities, short_pct, stretch_idle_ms, stretch_idle_pct, longest_names

WITH bound AS (
  SELECT CAST(round(1000 * coalesce(:max_us, 10)) AS INTEGER) AS short_ns
),
trace AS MATERIALIZED (
  SELECT trace_id, run, rank, run_start_ns FROM traces
  WHERE (:run IS NULL OR run = :run) AND (:capture IS NULL OR capture = :capture)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
),
lane AS MATERIALIZED (
  SELECT t.track_id, t.trace_id, t.device, t.base_ns
  FROM tracks t JOIN trace r ON r.trace_id = t.trace_id WHERE t.stream IS NOT NULL
),
counted AS MATERIALIZED (
  SELECT g.track_id, count(*) FILTER (WHERE ifnull(g.dur_ns, 0) >= 0) AS activities,
         count(*) FILTER (WHERE g.dur_ns < 0) AS backwards,
         sum(g.dur_ns) FILTER (WHERE g.dur_ns >= 0) AS dur_ns,
         count(*) FILTER (WHERE ifnull(g.dur_ns, 0) BETWEEN 0 AND short_ns - 1) AS short,
         sum(g.dur_ns) FILTER (WHERE g.dur_ns BETWEEN 0 AND short_ns - 1) AS short_ns
  FROM bound CROSS JOIN activity_times g GROUP BY +g.track_id
),
backwards AS MATERIALIZED (  -- left out, so that the others can be counted in an index
  SELECT track_id, ts FROM activity_times WHERE dur_ns < 0
),
long AS MATERIALIZED (  -- pieces that end a run, and one before all others
  SELECT b.trace_id, b.device, b.ts_ns
  FROM bound CROSS JOIN trace t CROSS JOIN busy_segments b ON b.trace_id = t.trace_id
  WHERE b.dur_ns >= short_ns
  UNION ALL
  SELECT d.trace_id, d.device, d.start_ns - 1
  FROM device_uses d JOIN trace t ON t.trace_id = d.trace_id
),
after AS (
  SELECT trace_id, device, ts_ns AS after_ns,
         lead(ts_ns, 1, 0x7fffffffffffffff)
           OVER (PARTITION BY trace_id, device ORDER BY ts_ns) AS before_ns
  FROM long
),
run AS MATERIALIZED (
  SELECT a.*,
         (SELECT b.ts_ns FROM busy_segments b
          WHERE b.trace_id = a.trace_id AND b.device = a.device AND b.ts_ns > a.after_ns
          ORDER BY b.ts_ns LIMIT 1) AS start_ns,
         (SELECT b.end_ns FROM busy_segments b
          WHERE b.trace_id = a.trace_id AND b.device = a.device AND b.ts_ns < a.before_ns
          ORDER BY b.ts_ns DESC LIMIT 1) AS end_ns
  FROM after a
),
timed AS MATERIALIZED (
  SELECT r.*,
         r.end_ns - r.start_ns
           - (SELECT sum(b.dur_ns) FROM busy_segments b
              WHERE b.trace_id = r.trace_id AND b.device = r.device
                AND b.ts_ns > r.after_ns AND b.ts_ns < r.before_ns) AS idle_ns
  FROM run r WHERE r.start_ns < r.end_ns
),
idle AS MATERIALIZED (
  SELECT r.trace_id, r.device, r.start_ns, r.end_ns, r.idle_ns,
         (SELECT count(*) FROM lane w CROSS JOIN activity_times g ON g.track_id = w.track_id
            AND g.ts >= r.start_ns - w.base_ns AND g.ts < r.end_ns - w.base_ns
          WHERE w.trace_id = r.trace_id AND w.device = r.device)
         - iif((SELECT total(backwards) FROM counted) > 0,
               (SELECT count(*) FROM lane w CROSS JOIN backwards b ON b.track_id = w.track_id
                  AND b.ts >= r.start_ns - w.base_ns AND b.ts < r.end_ns - w.base_ns
                WHERE w.trace_id = r.trace_id AND w.device = r.device), 0) AS activities
  FROM timed r
  WHERE 100.0 * r.idle_ns >= coalesce(:idle_pct, 50) * (r.end_ns - r.start_ns)
    AND (r.idle_ns > 0  -- else it may be one piece
         OR (SELECT count(*) FROM busy_segments b
             WHERE b.trace_id = r.trace_id AND b.device = r.device
               AND b.ts_ns > r.after_ns AND b.ts_ns < r.before_ns) > 1)
),
stretch AS MATERIALIZED (
  SELECT t.run, t.rank, i.* FROM idle i JOIN trace t ON t.trace_id = i.trace_id
  WHERE i.activities >= coalesce(:min_kernels, 10)
),
added AS MATERIALIZED (
  SELECT run, rank, device, count(*) AS stretches, sum(activities) AS activities,
         sum(end_ns - start_ns) AS span_ns, sum(idle_ns) AS idle_ns,
         max(end_ns - start_ns) AS longest_ns
  FROM stretch GROUP BY run, rank, device
),
longest AS MATERIALIZED (  -- of several as long the first
  SELECT s.run, s.rank, s.device, s.trace_id, min(s.start_ns) AS start_ns, s.end_ns, s.idle_ns,
         s.activities
  FROM added a JOIN stretch s ON s.run = a.run AND s.rank = a.rank AND s.device = a.device
  WHERE s.end_ns - s.start_ns = a.longest_ns
  GROUP BY s.run, s.rank, s.device
),
name_count AS (
  SELECT s.run, s.rank, s.device, l.name, count(*) AS times,
         row_number() OVER (PARTITION BY s.run, s.rank, s.device
                            ORDER BY count(*) DESC, l.name) AS place
  FROM longest s CROSS JOIN lane w ON w.trace_id = s.trace_id AND w.device = s.device
  CROSS JOIN activity_times g ON g.track_id = w.track_id AND g.ts >= s.start_ns - w.base_ns
    AND g.ts < s.end_ns - w.base_ns AND ifnull(g.dur_ns, 0) >= 0
  CROSS JOIN names l ON l.name_id = g.name_id
  GROUP BY s.run, s.rank, s.device, l.name
),
of_device AS (
  SELECT t.run, t.rank, w.device, sum(c.activities) AS activities, sum(c.dur_ns) AS dur_ns,
         sum(c.short) AS short, sum(c.short_ns) AS short_ns
  FROM counted c JOIN lane w ON w.track_id = c.track_id JOIN trace t ON t.trace_id = w.trace_id
  WHERE c.activities > 0 GROUP BY t.run, t.rank, w.device
),
used AS (
  SELECT t.run, d.rank, d.device, sum(d.end_ns - d.start_ns) AS span_ns, sum(d.idle_ns) AS idle_ns
  FROM trace t JOIN device_uses d ON d.trace_id = t.trace_id
  GROUP BY t.run, d.rank, d.device
)
SELECT
  o.run,
  o.rank,
  o.device,
  o.activities,
  o.short AS short_activities,
  100.0 * o.short / o.activities AS short_pct,
  100.0 * ifnull(o.short_ns, 0) / nullif(o.dur_ns, 0) AS short_time_pct,
  ifnull(a.stretches, 0) AS stretches,
  ifnull(a.activities, 0) AS stretch_activities,
  ifnull(a.span_ns, 0) / 1e6 AS stretch_ms,
  100.0 * ifnull(a.span_ns, 0) / nullif(u.span_ns, 0) AS stretch_span_pct,
  ifnull(a.idle_ns, 0) / 1e6 AS stretch_idle_ms,
  100.0 * ifnull(a.idle_ns, 0) / nullif(u.idle_ns, 0) AS stretch_idle_pct,
  (s.start_ns - t.run_start_ns) / 1e6 AS longest_start_ms,
  (s.end_ns - s.start_ns) / 1e6 AS longest_ms,
  s.idle_ns / 1e6 AS longest_idle_ms,
  s.activities AS longest_activities,
  (SELECT group_concat(text, ', ')
   FROM (SELECT n.times || ' x ' || n.name AS text FROM name_count n
         WHERE n.run = o.run AND n.rank = o.rank AND n.device = o.device AND n.place <= 3
         ORDER BY n.place)) AS longest_names
FROM of_device o
JOIN used u ON u.run = o.run AND u.rank = o.rank AND u.device = o.device
LEFT JOIN added a ON a.run = o.run AND a.rank = o.rank AND a.device = o.device
LEFT JOIN longest s ON s.run = o.run AND s.rank = o.rank AND s.device = o.device
LEFT JOIN trace t ON t.trace_id = s.trace_id
ORDER BY o.run, o.rank, CAST(o.device AS INTEGER), o.device;
