-- title: Copies and fills: how many, how large, how fast
--
-- One row for each GPU and direction, as the trace names it. Copies from or to pageable memory
-- pass through a buffer of the driver: they are slow and hold the host (host_ms); page-locked
-- memory (pin_memory) and non_blocking=True are the remedy. How much of it nothing else hides is
-- exposed_memory_ms of `overlap`.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
-- param:  rank     ints(id)    = null  These ranks only; all of them when null.
-- param:  step     ints(count) = null  Only what was launched in these steps; all when null.
--
-- column: run          text        The run: one training job that was recorded.
-- column: rank         int(id)     The rank.
-- column: device       text        The GPU, as the trace calls it.
-- column: name         text        What was done, as the trace calls it.
-- column: activities   int(count)  Copies or fills.
-- column: total_ms     real(ms)    Sum of their durations.
-- column: total_bytes  int(bytes)  Their bytes; NULL where the trace has none.
-- column: gbps         real(gbps)  Bytes of those that have bytes by the time of these.
-- column: min_bytes    int(bytes)  The smallest.
-- column: max_bytes    int(bytes)  The largest.
-- column: max_ms       real(ms)    The longest.
-- column: host_ms      real(ms)    Sum of the durations of the calls that launched them.
-- column: is_pageable  int(0..1)   1: it copies from or to pageable memory.
--
-- about:  kernels and operators
-- lead:   rank, name, activities, total_ms, total_bytes, gbps, is_pageable
-- plot:   bar total_ms by run, rank, device, name
-- empty:  Nothing was copied or filled on a GPU, or the trace does not say so.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

WITH lane AS MATERIALIZED (
  SELECT k.track_id, k.device, t.run, t.rank
  FROM tracks k JOIN traces t ON t.trace_id = k.trace_id
  WHERE (:run IS NULL OR t.run = :run) AND (:capture IS NULL OR t.capture = :capture)
    AND (:rank IS NULL OR t.rank IN (SELECT value FROM json_each(:rank)))
)
SELECT
  t.run,
  t.rank,
  t.device,
  l.name,
  count(*) AS activities,
  sum(ifnull(g.dur_ns, 0)) / 1e6 AS total_ms,
  sum(g.bytes) AS total_bytes,
  1.0 * sum(g.bytes) / nullif(sum(g.dur_ns) FILTER (WHERE g.bytes IS NOT NULL), 0) AS gbps,
  min(g.bytes) AS min_bytes,
  max(g.bytes) AS max_bytes,
  max(ifnull(g.dur_ns, 0)) / 1e6 AS max_ms,
  sum(c.dur_ns) / 1e6 AS host_ms,
  instr(lower(l.name), 'pageable') > 0 AS is_pageable
FROM activities g
CROSS JOIN lane t ON t.track_id = g.track_id
CROSS JOIN names l ON l.name_id = g.name_id
LEFT JOIN runtime_calls c ON c.slice_id = g.launch_slice_id
WHERE g.kind = 2 AND ifnull(g.dur_ns, 0) >= 0
  AND (:step IS NULL OR g.step IN (SELECT value FROM json_each(:step)))
GROUP BY t.run, t.rank, t.device, l.name
ORDER BY t.run, t.rank, CAST(t.device AS INTEGER), t.device, sum(ifnull(g.dur_ns, 0)) DESC, l.name;
