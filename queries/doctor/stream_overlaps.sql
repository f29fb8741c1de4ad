-- title: GPU activities that overlap on one stream
--
-- A stream runs one thing after the other. Some overlap is normal: programmatic dependent launch
-- starts a kernel before the one ahead has ended, clocks are rounded, and ROCm lets durations reach
-- into the next. Looked for is how much longer the durations of a stream are together than the
-- time in which something ran on it.
--
-- param:  some_pct  real(pct)  = 1   Less of the busy time than this is no row.
-- param:  much_pct  real(pct)  = 20  More than this is a finding, else a note.
-- param:  tolerance_ns  int(ns)  = 1000  Overlaps up to this are not counted one by one.
--
-- meaning: Sums of dur_ns count overlap_ms twice. Busy times of tracedb are unions and are right
--   as long as the streams are; much overlap says that they are not: that two streams, devices
--   or processes are written under one number, and then utilization_pct is of several streams at
--   once.
-- advice: Take busy_ns() or `stream_utilization` instead of sums. For a finding, see what runs
--   at at_ms, and whether the profiler numbers streams by device.
--
-- column: severity    text        finding or note.
-- column: run         text        Its run: one training job that was recorded.
-- column: trace_id    int(id)     The trace.
-- column: rank        int(id)     Its rank.
-- column: device      text        The GPU.
-- column: stream      text        The stream.
-- column: count       int(count)  Activities that start before an earlier one of it has ended.
-- column: activities  int(count)  All activities of the stream.
-- column: overlap_ms  real(ms)    Sum of durations, less the busy time.
-- column: share_pct   real(pct)   overlap_ms of the busy time.
-- column: at_ms       real(ms)    The first overlap, since the trace's first event.
-- column: slice_id    int(id)     What starts there: its row in kernels.
-- column: example     text        Its name.
--
-- lead:   severity, rank, device, stream, count, overlap_ms, share_pct, example
-- empty:  What runs on a stream runs one after the other.

WITH summed AS MATERIALIZED (
  SELECT t.trace_id, t.device, t.stream, sum(n.dur_ns) AS dur_ns
  FROM (SELECT track_id, sum(max(dur_ns, 0)) AS dur_ns FROM activity_times GROUP BY +track_id) n
  JOIN tracks t ON t.track_id = n.track_id
  GROUP BY t.trace_id, t.device, t.stream
),
suspect AS MATERIALIZED (
  SELECT u.trace_id, u.device, u.stream, u.activities, u.busy_ns,
         s.dur_ns - u.busy_ns AS overlap_ns
  FROM summed s
  JOIN stream_uses u ON u.trace_id = s.trace_id AND u.device = s.device AND u.stream = s.stream
  WHERE 100.0 * (s.dur_ns - u.busy_ns) >= coalesce(:some_pct, 1) * u.busy_ns
    AND s.dur_ns > u.busy_ns
),
placed AS (
  SELECT t.trace_id, t.device, t.stream, g.slice_id AS id, g.ts + t.base_ns AS ts_ns,
         max(g.ts + t.base_ns + g.dur_ns) OVER (
           PARTITION BY t.trace_id, t.device, t.stream ORDER BY g.ts + t.base_ns, g.slice_id
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS free_ns
  FROM suspect s
  CROSS JOIN tracks t ON t.trace_id = s.trace_id AND t.device = s.device AND t.stream = s.stream
  CROSS JOIN activity_times g ON g.track_id = t.track_id
  WHERE g.dur_ns > 0
),
counted AS (
  SELECT trace_id, device, stream, count(*) AS count, min(ts_ns) AS first_ns, id
  FROM placed
  WHERE free_ns - ts_ns > coalesce(:tolerance_ns, 1000)
  GROUP BY trace_id, device, stream
)
SELECT
  iif(100.0 * s.overlap_ns > coalesce(:much_pct, 20) * s.busy_ns, 'finding', 'note') AS severity,
  r.run,
  s.trace_id,
  r.rank,
  s.device,
  s.stream,
  coalesce(c.count, 0) AS count,
  s.activities,
  s.overlap_ns / 1e6 AS overlap_ms,
  100.0 * s.overlap_ns / s.busy_ns AS share_pct,
  (c.first_ns - r.start_ns) / 1e6 AS at_ms,
  c.id AS slice_id,
  (SELECT k.name FROM kernels k WHERE k.slice_id = c.id) AS example
FROM suspect s
JOIN traces r ON r.trace_id = s.trace_id
LEFT JOIN counted c ON c.trace_id = s.trace_id AND c.device = s.device AND c.stream = s.stream
ORDER BY s.overlap_ns DESC, r.run, r.rank, s.trace_id, s.device, s.stream;
