-- title: Memory events that never balance
--
-- Each [memory] event says how many bytes it adds or gives back and what is allocated after it. For
-- each device the bytes of all events must be what Total Allocated changed by from the first to the
-- last; where they are not, events are missing, and breaks are the places where one event does not
-- follow from the one before. Memory that is still in use at the end, or was there at the start, is
-- no trouble: Total Allocated has it. Without Total Allocated nothing is told, but a note when
-- memory is only ever taken or only ever given back.
--
-- param:  few_events  int(count)  = 20  A device with fewer events is not judged by the last rule.
--
-- meaning: Allocations or releases of this device are not in the trace: sums over memory_events
--   are off by lost_bytes. total_allocated_bytes of each event is the allocator's own and right.
-- advice: Read peaks from total_allocated_bytes, never from sums of bytes.
--
-- column: severity     text        finding; note where memory only ever goes one way.
-- column: run          text        Its run: one training job that was recorded.
-- column: trace_id     int(id)     The trace.
-- column: rank         int(id)     Its rank.
-- column: device_type  int(id)     0 is the host, 1 a CUDA or ROCm GPU.
-- column: device_id    int(id)     The device; -1 for the host.
-- column: count        int(count)  Breaks; in a note, all events.
-- column: events       int(count)  Memory events of the device.
-- column: lost_bytes   int(bytes)  Change of Total Allocated, less the sum of all events.
-- column: sum_bytes    int(bytes)  Sum of all events.
-- column: at_ms        real(ms)    The first break, since the trace's first event.
-- column: instant_id   int(id)     The same: its row in memory_events.
--
-- empty:  What memory events say adds up.

WITH piece AS MATERIALIZED (
  SELECT p.*, d.device_type, d.device_id, t.base_ns, p.start_ts + t.base_ns AS start_ns,
         p.end_ts + t.base_ns AS end_ns
  FROM memory_pieces p CROSS JOIN tracks t ON t.track_id = p.track_id
  LEFT JOIN memory_devices d ON d.args_id = p.args_id
),
device AS MATERIALIZED (
  SELECT trace_id, device_type, device_id, sum(events) AS events, sum(sum_bytes) AS sum_bytes,
         sum(taken_bytes) AS taken_bytes, min(start_ns) AS first_ns, max(end_ns) AS last_ns
  FROM piece
  GROUP BY trace_id, device_type, device_id
),
outermost AS MATERIALIZED (  -- of several events at these times the first and the last
  SELECT d.*, min(p.start_id) FILTER (WHERE p.start_ns = d.first_ns) AS first_id,
         max(p.end_id) FILTER (WHERE p.end_ns = d.last_ns) AS last_id
  FROM device d JOIN piece p ON p.trace_id = d.trace_id AND p.device_type IS d.device_type
                            AND p.device_id IS d.device_id
  GROUP BY d.trace_id, d.device_type, d.device_id
),
edge AS MATERIALIZED (
  SELECT d.*, r.run, r.rank, r.start_ns,
         (SELECT o.total_allocated_bytes - o.bytes FROM memory_times o
          WHERE o.instant_id = d.first_id) AS before_bytes,
         (SELECT o.total_allocated_bytes FROM memory_times o
          WHERE o.instant_id = d.last_id) AS after_bytes
  FROM outermost d
  JOIN traces r ON r.trace_id = d.trace_id
),
judged AS MATERIALIZED (
  SELECT *, after_bytes - before_bytes - sum_bytes AS lost_bytes FROM edge
),
followed AS (
  SELECT j.trace_id, j.device_type, j.device_id, e.instant_id AS id, e.ts + p.base_ns AS ts_ns,
         e.total_allocated_bytes - e.bytes - lag(e.total_allocated_bytes) OVER (
           PARTITION BY j.trace_id, j.device_type, j.device_id
           ORDER BY e.ts + p.base_ns, e.instant_id)
           AS jump_bytes
  FROM judged j CROSS JOIN piece p ON p.trace_id = j.trace_id AND p.device_type IS j.device_type
                                  AND p.device_id IS j.device_id
  CROSS JOIN memory_times e ON e.instant_id BETWEEN p.first_id AND p.last_id
    AND +e.track_id = p.track_id AND +e.args_id IS p.args_id
  WHERE j.lost_bytes <> 0
),
broken AS (
  SELECT trace_id, device_type, device_id, count(*) AS breaks, min(ts_ns) AS first_ns, id
  FROM followed
  WHERE jump_bytes <> 0
  GROUP BY trace_id, device_type, device_id
)
SELECT
  iif(j.lost_bytes IS NULL, 'note', 'finding') AS severity,
  j.run,
  j.trace_id,
  j.rank,
  j.device_type,
  j.device_id,
  coalesce(b.breaks, j.events) AS count,
  j.events,
  j.lost_bytes,
  j.sum_bytes,
  (b.first_ns - j.start_ns) / 1e6 AS at_ms,
  b.id AS instant_id
FROM judged j
LEFT JOIN broken b ON b.trace_id = j.trace_id AND b.device_type IS j.device_type
                   AND b.device_id IS j.device_id
WHERE b.breaks > 0
   OR (j.lost_bytes IS NULL AND j.events >= coalesce(:few_events, 20)
       AND (j.taken_bytes = 0 OR j.taken_bytes = j.sum_bytes))
ORDER BY severity, j.run, j.rank, j.trace_id, j.device_type, j.device_id;
