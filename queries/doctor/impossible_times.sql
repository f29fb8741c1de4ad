-- title: Events with times that cannot be
--
-- A start more than a year from where the bulk of the trace's events is (of a GPU: its own), a
-- duration of more than 100 days, or a GPU activity with a duration at ts 0 in the file, more than
-- an hour before all else. Profilers write such times where a device gave only one of start and
-- end, or none.
--
-- meaning: These events are in slices, kernels, instants, flows and counters as they were read, and
--   in nothing that is worked out: no busy time, launch, step, collective, or sum of a query.
-- advice: Leave them out of sums of your own: WHERE slice_id NOT IN (SELECT event_id FROM
--   impossible_times). Where they are many, record again with a newer profiler or driver.
--
-- column: severity      text        finding; note where no GPU activity and no step is among them.
-- column: run           text        Its run: one training job that was recorded.
-- column: trace_id      int(id)     The trace.
-- column: rank          int(id)     Its rank.
-- column: category      text        Of the events.
-- column: device        text        The GPU; NULL for events of the host.
-- column: count         int(count)  Events.
-- column: first_offset  int(count)  The trace's first of all, in bytes of the unpacked JSON.
-- column: slice_id      int(id)     The first: its row.
-- column: ts_ns         int(ns)     Its start, as the trace has it.
-- column: dur_ns        int(ns)     Its duration, as the trace has it.
-- column: example       text        Its name.
--
-- lead:   severity, rank, category, count, ts_ns, dur_ns, example
-- empty:  Every event has a time that can be.

WITH counted AS (
  SELECT trace_id, category, device, count(*) AS count, min(event_id) AS event_id,
         max(device IS NOT NULL OR name GLOB 'ProfilerStep#*') AS is_grave
  FROM impossible_times
  GROUP BY trace_id, category, device
)
SELECT iif(c.is_grave, 'finding', 'note') AS severity, r.run, c.trace_id, r.rank, c.category,
       c.device, c.count,
       (SELECT i.first_offset FROM issues i
        WHERE i.trace_id = c.trace_id AND i.kind = 'impossible_time') AS first_offset,
       c.event_id AS slice_id, e.ts_ns, e.dur_ns, e.name AS example
FROM counted c
JOIN traces r ON r.trace_id = c.trace_id
JOIN impossible_times e ON e.event_id = c.event_id
ORDER BY severity, r.run, r.rank, c.trace_id, c.category, c.device;
