-- title: Events of a device that are no GPU activities
--
-- GPU activities are known by their category (kernel, gpu_memcpy, gpu_memset, mtia_ccp_events).
-- Other profilers write what a device ran without one: below a process that they call
-- /device:GPU:0 or /device:TPU:0 (JAX, TensorFlow) or Ascend Hardware, or that they label NPU 0.
-- Events with a duration on such a process are a row for each process; those of the host's
-- device (/device:CPU:0) and of Ascend's own analysis (Overlap Analysis) are not looked at.
--
-- meaning: What this device ran is in `slices` alone: busy times, overlap, idle time and kernels
--   know nothing of it, and a query that says there is no GPU activity means these too.
-- advice: Ask `slices` for this pid. For all figures give the lines that are streams of the device
--   (not those that sum others up, such as Steps or XLA Modules) the category and ingest again:
--   jq '(.traceEvents[] | select(.ph == "X" and .pid == 1)).cat = "kernel"' with the pid of the
--   row; a bare array has .[] for .traceEvents[].
--
-- column: severity   text        Always finding.
-- column: run        text        Its run: one training job that was recorded.
-- column: trace_id   int(id)     The trace.
-- column: rank       int(id)     Its rank.
-- column: count      int(count)  Events with a duration.
-- column: reason     text        What is not understood.
-- column: process    text        What the trace calls the device.
-- column: pid        text        Its process id there.
-- column: threads    int(count)  Lines of it that have such events.
-- column: thread     text        The first of these: its name, else its number.
-- column: dur_ms     real(ms)    Their durations, summed.
-- column: at_ms      real(ms)    The first, since the trace's first event.
-- column: slice_id   int(id)     The same: its row in slices.
-- column: example    text        Its name.
--
-- lead:   severity, rank, count, reason, example, process, thread, dur_ms
-- empty:  What looks like a device's is GPU activity.

WITH device_process AS MATERIALIZED (
  SELECT trace_id, pid, min(coalesce(name, labels)) AS name
  FROM processes
  WHERE lower(coalesce(name, '')) <> 'overlap analysis'
    AND (lower(name) GLOB '*/device:*:[0-9]*' AND lower(name) NOT GLOB '*/device:*cpu:*'
         OR lower(name) GLOB 'ascend hardware*'
         OR lower(labels) GLOB '[nth]pu [0-9]*' OR lower(labels) IN ('npu', 'tpu', 'hpu'))
  GROUP BY trace_id, pid
),
met AS MATERIALIZED (
  SELECT s.trace_id, s.pid, s.tid, s.slice_id, s.ts_ns, s.dur_ns, s.name, d.name AS process
  FROM (SELECT 1 FROM device_process LIMIT 1)  -- without one no slice is gone through
  CROSS JOIN slices s
  CROSS JOIN device_process d ON d.trace_id = s.trace_id AND d.pid = s.pid
  WHERE s.device IS NULL
),
counted AS (
  SELECT trace_id, pid, process, count(*) AS count, count(DISTINCT tid) AS threads,
         total(max(coalesce(dur_ns, 0), 0)) AS dur_ns
  FROM met
  GROUP BY trace_id, pid
),
earliest AS (
  SELECT trace_id, pid, tid, ts_ns, slice_id, name,
         row_number() OVER (PARTITION BY trace_id, pid ORDER BY ts_ns, slice_id) AS place
  FROM met
)
SELECT
  'finding' AS severity,
  r.run,
  c.trace_id,
  r.rank,
  c.count,
  'events of ' || c.process || ' have no category that makes them GPU activity' AS reason,
  c.process,
  c.pid,
  c.threads,
  coalesce((SELECT h.name FROM threads h
            WHERE h.trace_id = c.trace_id AND h.pid = c.pid AND h.tid = e.tid), e.tid) AS thread,
  c.dur_ns / 1e6 AS dur_ms,
  (e.ts_ns - r.start_ns) / 1e6 AS at_ms,
  e.slice_id,
  e.name AS example
FROM counted c
JOIN earliest e ON e.trace_id = c.trace_id AND e.pid = c.pid AND e.place = 1
JOIN traces r ON r.trace_id = c.trace_id
ORDER BY r.run, r.rank, c.trace_id, c.process, c.pid;
