-- title: How busy is each stream, over time
--
-- The time from the first start of a GPU activity in the database to the last end is cut into
-- equal pieces; for each stream it says how much of each piece something ran in. Busy time is the
-- length of a union: activities that overlap on a stream count once.
--
-- param:  bins     int(count)  = 160  Pieces.
-- param:  streams  int(count)  = 400  Streams at most, the busiest.
--
-- column: rank      int(id)     The rank.
-- column: device    text        The GPU, as the trace calls it.
-- column: stream    text        The stream, as the trace calls it.
-- column: start_ms  real(ms)    Start of the first piece, since the first event in the database.
-- column: bin_ms    real(ms)    Length of a piece.
-- column: busy_ms   real(ms)    Something ran on the stream, in all pieces.
-- column: busy_pct  text        Of each piece, in whole percent, in their order: a JSON list.
--
-- empty:  No GPU activity is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH RECURSIVE frame AS MATERIALIZED (
  SELECT min(start_ns) AS first_ns, max(coalesce(:bins, 160), 1) AS bins,
         -- Rounded up: the last end is within the last piece.
         max((max(end_ns) - min(start_ns) + max(coalesce(:bins, 160), 1) - 1)
             / max(coalesce(:bins, 160), 1), 1) AS bin_ns
  FROM device_uses
),
lane AS MATERIALIZED (
  SELECT stream_id AS lane, rank, device, stream, busy_ns FROM stream_uses
  ORDER BY busy_ns DESC, rank, CAST(device AS INTEGER), device, stream
  LIMIT coalesce(:streams, 400)
),
of_track AS MATERIALIZED (
  SELECT t.track_id, l.lane, t.base_ns - first_ns AS base_ns
  FROM lane l CROSS JOIN frame
  JOIN tracks t ON t.rank = l.rank AND t.device = l.device AND t.stream = l.stream
),
-- On most streams nothing overlaps: durations sum up to the busy time, and no order is needed.
overlapping AS MATERIALIZED (
  SELECT l.lane FROM activity_times g CROSS JOIN of_track o ON o.track_id = g.track_id
  CROSS JOIN lane l ON l.lane = o.lane
  WHERE g.dur_ns > 0 GROUP BY l.lane HAVING sum(g.dur_ns) <> l.busy_ns
),
placed AS (
  SELECT o.lane, g.ts + o.base_ns AS ts, g.ts + o.base_ns + g.dur_ns AS end_ts,
         max(g.ts + o.base_ns + g.dur_ns) OVER (
           PARTITION BY o.lane ORDER BY g.ts + o.base_ns
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS free_ts
  FROM activity_times g CROSS JOIN of_track o ON o.track_id = g.track_id
  WHERE g.dur_ns > 0 AND o.lane IN (SELECT lane FROM overlapping)
),
part AS MATERIALIZED (  -- of each activity what no earlier one has covered
  SELECT o.lane, g.ts + o.base_ns AS ts, g.ts + o.base_ns + g.dur_ns AS end_ts
  FROM activity_times g CROSS JOIN of_track o ON o.track_id = g.track_id
  WHERE g.dur_ns > 0 AND o.lane NOT IN (SELECT lane FROM overlapping)
  UNION ALL
  SELECT lane, max(ts, ifnull(free_ts, ts)), end_ts
  FROM placed WHERE end_ts > ifnull(free_ts, ts)
),
further AS (  -- pieces that it reaches into behind its first
  SELECT lane, ts / bin_ns + 1 AS bin, (end_ts - 1) / bin_ns AS last_bin, end_ts
  FROM part CROSS JOIN frame WHERE (end_ts - 1) / bin_ns > ts / bin_ns
  UNION ALL
  SELECT lane, bin + 1, last_bin, end_ts FROM further WHERE bin < last_bin
),
filled AS MATERIALIZED (
  SELECT lane, bin, sum(busy_ns) AS busy_ns
  FROM (SELECT lane, ts / bin_ns AS bin,
               sum(min(end_ts, (ts / bin_ns + 1) * bin_ns) - ts) AS busy_ns
        FROM part CROSS JOIN frame GROUP BY lane, ts / bin_ns
        UNION ALL
        SELECT lane, bin, sum(min(end_ts, (bin + 1) * bin_ns) - bin * bin_ns)
        FROM further CROSS JOIN frame GROUP BY lane, bin)
  GROUP BY lane, bin
),
number AS (
  SELECT 0 AS bin UNION ALL SELECT bin + 1 FROM number CROSS JOIN frame WHERE bin + 1 < bins
),
listed AS (
  SELECT lane, json_group_array(busy_pct) AS busy_pct, sum(busy_ns) AS busy_ns
  FROM (SELECT l.lane, n.bin, ifnull(f.busy_ns, 0) AS busy_ns,
               (200 * ifnull(f.busy_ns, 0) + bin_ns) / (2 * bin_ns) AS busy_pct
        FROM lane l CROSS JOIN number n CROSS JOIN frame
        LEFT JOIN filled f ON f.lane = l.lane AND f.bin = n.bin
        ORDER BY l.lane, n.bin)
  GROUP BY lane
)
SELECT
  l.rank,
  l.device,
  l.stream,
  (first_ns - zero_ns) / 1e6 AS start_ms,
  bin_ns / 1e6 AS bin_ms,
  d.busy_ns / 1e6 AS busy_ms,
  d.busy_pct
FROM lane l CROSS JOIN frame CROSS JOIN origin
JOIN listed d ON d.lane = l.lane
ORDER BY l.rank, CAST(l.device AS INTEGER), l.device, CAST(l.stream AS INTEGER), l.stream;
