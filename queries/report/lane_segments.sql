-- title: What kinds of activity ran on each GPU, on one axis of time
--
-- The stretches of busy_segments by the aligned clocks, which are those that ranks can be compared
-- by: where nothing ran there is no row. Those of a trace's GPU come one after the other, traces in
-- the order in which they were ingested.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run       text        The run: one training job that was recorded.
-- column: rank      int(id)     The rank.
-- column: device    text        The GPU, as the trace calls it.
-- column: start_ns  int(ns)     Start since the first event of the run, by the aligned clocks.
-- column: dur_ns    int(ns)     How long.
-- column: kinds     int(count)  Sum of 1 compute, 2 communication, 4 memory.
--
-- empty:  No GPU activity is in the database; `tracedb info` tells what is.
-- why_empty: doctor/gpu_activity_missing, doctor/device_events_unknown

SELECT
  r.run,
  r.rank,
  b.device,
  b.aligned_ts_ns - r.run_start_ns AS start_ns,
  b.dur_ns,
  b.kinds
FROM busy_segments b JOIN traces r ON r.trace_id = b.trace_id
WHERE (:run IS NULL OR r.run = :run) AND (:capture IS NULL OR r.capture = :capture)
ORDER BY b.trace_id, b.device, b.ts_ns;  -- as they are stored: nothing is sorted
