-- title: GPU activities at times that cannot be
--
-- Two things that a GPU cannot do. It cannot run on what was launched before a call that waits for
-- the whole device (cudaDeviceSynchronize, hipDeviceSynchronize, cuCtxSynchronize) after that call
-- has returned: looked at are the activities of every stream around each return, in captures with
-- one device. A microsecond is let pass, as old traces round to it; in real ones no activity is
-- later by even that. And it cannot work far from the host that feeds it: an activity that begins
-- before the first other event of its capture, or ends after the last one, by more than beyond_ns
-- and by more than all other events last together, stands alone or is longer than its trace. Less
-- than that a queue that the host had filled takes to empty. Starts before the launch are in
-- `negative_launch_latency`, times of 0 in `times_missing`.
--
-- param:  tolerance_ns  int(ns)     = 1000        So much later than a return is not counted.
-- param:  few_pct       real(pct)   = 1           A share of returns up to this is a note.
-- param:  beyond_ns     int(ns)     = 1000000000  So far from the host's events is not counted.
-- param:  returns       int(count)  = 10000       Of more in a capture, so many are looked at.
--
-- meaning: These times are not those at which the GPU worked. After a synchronisation: GPU times
--   are late against the host's by worst_ms or more, and with them launch latencies, the causes
--   of idle time and of waits. Far from the host: span and idle time of this GPU are too large by
--   up to worst_ms.
-- advice: Leave causes below worst_ms alone; a newer driver or profiler measures both clocks more
--   often. An activity far from the host: look at it in `kernels`, and take spans without it.
--
-- column: severity   text        finding; note for few returns.
-- column: run        text        Its run: one training job that was recorded.
-- column: trace_id   int(id)     The trace.
-- column: rank       int(id)     Its rank.
-- column: device     text        The GPU.
-- column: count      int(count)  Activities with this trouble.
-- column: trouble    text        after a synchronisation, long before the host or long after it.
-- column: looked_at  int(count)  Returns or activities that were looked at.
-- column: worst_ms   real(ms)    The most by which one is beyond what can be.
-- column: at_ms      real(ms)    Where that one starts, since the trace's first event.
-- column: slice_id   int(id)     The same: its row in kernels.
-- column: example    text        Its name.
--
-- lead:   severity, rank, device, count, trouble, worst_ms, example
-- empty:  No GPU activity has a time that cannot be.

WITH stream AS MATERIALIZED (
  SELECT track_id, trace_id, device, base_ns FROM tracks WHERE device IS NOT NULL
),
device AS MATERIALIZED (
  SELECT trace_id, device, min(start_ns) AS first_ns, max(end_ns) AS last_ns,
         sum(activities) AS activities
  FROM stream_uses GROUP BY trace_id, device
),
one_device AS MATERIALIZED (  -- a device whose activities have no timing is one, too
  SELECT trace_id FROM stream q
  WHERE EXISTS (SELECT 1 FROM activity_times a WHERE a.track_id = q.track_id)
  GROUP BY trace_id HAVING count(DISTINCT device) = 1
),
numbered AS (
  SELECT t.trace_id, s.ts + t.base_ns AS ts_ns, s.ts + t.base_ns + s.dur_ns AS end_ns,
         row_number() OVER (PARTITION BY t.trace_id ORDER BY s.slice_id) AS place,
         count(*) OVER (PARTITION BY t.trace_id) AS calls
  FROM runtime_calls s
  CROSS JOIN tracks t ON t.track_id = s.track_id
  WHERE s.name_id IN (SELECT name_id FROM names
                      WHERE name GLOB 'cu*DeviceSynchronize*' OR name GLOB 'cuCtxSynchronize*'
                         OR name GLOB 'hipDeviceSynchronize*')
    AND t.trace_id IN (SELECT trace_id FROM one_device) AND s.dur_ns >= 0
),
returned AS MATERIALIZED (
  SELECT trace_id, ts_ns, end_ns FROM numbered
  WHERE place % (1 + (calls - 1) / max(coalesce(:returns, 10000), 1)) = 0
),
beside AS (  -- of each stream the last activity before a return, and the first after it
  SELECT r.trace_id, r.ts_ns, r.end_ns, q.base_ns,
         (SELECT a.slice_id FROM activity_times a
          WHERE a.track_id = q.track_id AND a.ts < r.end_ns - q.base_ns
          ORDER BY a.ts DESC LIMIT 1) AS slice_id
  FROM returned r JOIN stream q ON q.trace_id = r.trace_id
  UNION ALL
  SELECT r.trace_id, r.ts_ns, r.end_ns, q.base_ns,
         (SELECT a.slice_id FROM activity_times a
          WHERE a.track_id = q.track_id AND a.ts >= r.end_ns - q.base_ns
          ORDER BY a.ts LIMIT 1)
  FROM returned r JOIN stream q ON q.trace_id = r.trace_id
),
late AS MATERIALIZED (
  SELECT b.trace_id, b.end_ns AS return_ns, a.slice_id, a.name_id, a.ts + b.base_ns AS ts_ns,
         a.ts + b.base_ns + a.dur_ns - b.end_ns AS over_ns
  FROM beside b
  CROSS JOIN activities a ON a.slice_id = b.slice_id
  CROSS JOIN runtime_calls c ON c.slice_id = a.launch_slice_id
  WHERE a.ts + b.base_ns + a.dur_ns - b.end_ns > coalesce(:tolerance_ns, 1000)
    AND a.launch_ts_ns + c.dur_ns <= b.ts_ns
),
after_return AS (
  SELECT iif(100.0 * count(DISTINCT l.return_ns) > coalesce(:few_pct, 1) * r.returns, 'finding',
             'note') AS severity,
         l.trace_id, count(DISTINCT l.slice_id) AS count, r.returns AS looked_at,
         max(l.over_ns) AS over_ns, l.slice_id, l.name_id, l.ts_ns
  FROM late l
  JOIN (SELECT trace_id, count(*) AS returns FROM returned GROUP BY trace_id) r
    ON r.trace_id = l.trace_id
  GROUP BY l.trace_id
),
-- Only where a GPU's activities are the first or the last of a trace that is long enough is all
-- else looked at.
edge AS MATERIALIZED (
  SELECT r.trace_id, r.base_time_ns
  FROM traces r
  JOIN device q ON q.trace_id = r.trace_id
  WHERE r.end_ns - r.start_ns > coalesce(:beyond_ns, 1000000000)
  GROUP BY r.trace_id
  HAVING min(q.first_ns) <= r.start_ns OR max(q.last_ns) >= r.end_ns
),
other AS (
  SELECT trace_id, ts_ns, ts_ns + max(coalesce(dur_ns, 0), 0) AS end_ns
  FROM (SELECT 1 FROM edge LIMIT 1) CROSS JOIN slices
  WHERE trace_id IN (SELECT trace_id FROM edge)
    AND device IS NULL AND coalesce(category, '') <> 'gpu_user_annotation'
  UNION ALL
  SELECT trace_id, ts_ns, ts_ns FROM (SELECT 1 FROM edge LIMIT 1) CROSS JOIN instants
  WHERE trace_id IN (SELECT trace_id FROM edge)
),
host AS MATERIALIZED (
  SELECT o.trace_id, min(o.ts_ns) AS first_ns, max(o.end_ns) AS last_ns,
         max(coalesce(:beyond_ns, 1000000000), max(o.end_ns) - min(o.ts_ns)) AS beyond_ns,
         e.base_time_ns
  FROM other o JOIN edge e ON e.trace_id = o.trace_id
  GROUP BY o.trace_id
),
far AS MATERIALIZED (
  SELECT h.trace_id, q.device, a.slice_id, a.name_id, a.ts + q.base_ns AS ts_ns,
         max(h.first_ns - a.ts - q.base_ns, a.ts + q.base_ns + a.dur_ns - h.last_ns) AS over_ns,
         h.first_ns - a.ts - q.base_ns > h.beyond_ns AS is_before
  FROM host h
  JOIN stream q ON q.trace_id = h.trace_id
  CROSS JOIN activity_times a ON a.track_id = q.track_id
  WHERE a.dur_ns >= 0 AND a.ts + q.base_ns <> coalesce(h.base_time_ns, 0)
    AND (h.first_ns - a.ts - q.base_ns > h.beyond_ns
         OR a.ts + q.base_ns + a.dur_ns - h.last_ns > h.beyond_ns)
),
told AS (
  SELECT severity, trace_id, (SELECT min(q.device) FROM device q WHERE q.trace_id = b.trace_id)
           AS device, count, 'after a synchronisation' AS trouble, looked_at, over_ns, slice_id,
         name_id, ts_ns
  FROM after_return b
  UNION ALL
  SELECT 'finding', f.trace_id, f.device, count(*),
         iif(f.is_before, 'long before the host', 'long after it'),
         (SELECT q.activities FROM device q
          WHERE q.trace_id = f.trace_id AND q.device = f.device),
         max(f.over_ns), f.slice_id, f.name_id, f.ts_ns
  FROM far f
  GROUP BY f.trace_id, f.device, f.is_before
)
SELECT
  w.severity,
  r.run,
  w.trace_id,
  r.rank,
  w.device,
  w.count,
  w.trouble,
  w.looked_at,
  w.over_ns / 1e6 AS worst_ms,
  (w.ts_ns - r.start_ns) / 1e6 AS at_ms,
  w.slice_id,
  l.name AS example
FROM told w
JOIN traces r ON r.trace_id = w.trace_id
JOIN names l ON l.name_id = w.name_id
ORDER BY w.severity, r.run, r.rank, w.trace_id, w.device, w.trouble;
