-- title: Figures of each run's last capture, for monitoring
--
-- One row for each figure, as Prometheus takes them: `tracedb serve-csv` has the same under
-- /metrics. Times are in seconds and shares between 0 and 1, as is usual there. They are those of
-- the run's last capture; what counts files is of all that the database has.
--
-- param:  run      text        = null  This run only; all of them when null.
--
-- column: metric   text         Its name, which ends in its unit.
-- column: help     text         What it is.
-- column: run      text         The run: one training job that was recorded.
-- column: rank     int(id)      The rank; NULL: the figure is of all ranks.
-- column: device   text         The GPU, as the trace calls it; NULL: of none.
-- column: kind     text         Of times and waits: of which kind; NULL: of none.
-- column: value    real(count)  The figure, in the unit that its name ends in.
--
-- about:  steps and GPU time
-- empty:  No trace is in the database.

WITH latest AS MATERIALIZED (
  SELECT run_id, run, capture_id, start_ns, end_ns FROM (
    SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY capture DESC) AS place FROM captures
    WHERE :run IS NULL OR run = :run)
  WHERE place = 1
),
recorded AS MATERIALIZED (
  SELECT t.trace_id, t.run, t.rank FROM latest l JOIN traces t ON t.capture_id = l.capture_id
),
step AS (
  SELECT r.run, r.rank, s.dur_ns, row_number() OVER by_length AS place,
         count(*) OVER (PARTITION BY r.trace_id) AS steps, r.trace_id
  FROM recorded r JOIN steps s ON s.trace_id = r.trace_id
  WINDOW by_length AS (PARTITION BY r.trace_id ORDER BY s.dur_ns)
),
shared_out AS MATERIALIZED (
  SELECT r.run, d.* FROM recorded r JOIN device_uses d ON d.trace_id = r.trace_id
),
kinds(kind) AS (
  VALUES ('compute'), ('exposed_communication'), ('exposed_memory'), ('idle')
),
late AS (
  SELECT l.run, c.root_rank AS rank, c.root_cause AS kind, sum(m.wait_ns) AS wait_ns
  FROM latest l
  JOIN matched_collectives m ON m.capture_id = l.capture_id AND NOT m.is_estimate AND m.wait_ns > 0
  JOIN collective_causes c ON c.slice_id = m.slice_id
  WHERE c.root_rank IS NOT NULL
  GROUP BY l.run, c.root_rank, c.root_cause
),
stored AS MATERIALIZED (
  SELECT run, count(*) AS files, sum(events) AS events, sum(file_bytes) AS file_bytes,
         count(DISTINCT capture_id) AS captures, max(unixepoch(ingested_at)) AS ingested_s
  FROM traces WHERE :run IS NULL OR run = :run GROUP BY run
),
figure AS (
  SELECT 1 AS place, 'tracedb_step_seconds' AS metric, 'Median duration of a step.' AS help,
         run, rank, NULL AS device, NULL AS kind, avg(dur_ns) / 1e9 AS value
  FROM step WHERE place IN ((steps + 1) / 2, (steps + 2) / 2) GROUP BY trace_id
  UNION ALL
  SELECT 2, 'tracedb_gpu_time_ratio', 'Share of the time of a GPU by what ran on it.', run, rank,
         device, kind, CASE kind WHEN 'compute' THEN compute_ns
                                 WHEN 'exposed_communication' THEN exposed_communication_ns
                                 WHEN 'exposed_memory' THEN exposed_memory_ns ELSE idle_ns END
                       * 1.0 / (end_ns - start_ns)
  FROM shared_out CROSS JOIN kinds WHERE end_ns > start_ns
  UNION ALL
  SELECT 3, 'tracedb_exposed_communication_seconds',
         'Time of the capture in which a GPU communicated and did not compute.', run, rank, device,
         NULL, exposed_communication_ns / 1e9
  FROM shared_out
  UNION ALL
  SELECT 4, 'tracedb_caused_wait_seconds',
         'Time that all ranks together waited in collectives as this rank was late of itself.',
         run, rank, NULL, ifnull(kind, 'unknown'), wait_ns / 1e9
  FROM late
  UNION ALL
  SELECT 5, 'tracedb_capture_ranks', 'Ranks of the last capture.', run, NULL, NULL, NULL, count(*)
  FROM recorded GROUP BY run
  UNION ALL
  SELECT 6, 'tracedb_capture_end_timestamp_seconds', 'When the last capture ended.', run, NULL,
         NULL, NULL, end_ns / 1000000000
  FROM latest l
  -- without a base its times count from when the machine was started
  WHERE EXISTS (SELECT 1 FROM traces t
                WHERE t.capture_id = l.capture_id AND t.base_time_ns IS NOT NULL)
  UNION ALL
  SELECT 7, 'tracedb_captures', 'Captures in the database.', run, NULL, NULL, NULL, captures
  FROM stored
  UNION ALL
  SELECT 8, 'tracedb_files', 'Trace files in the database.', run, NULL, NULL, NULL, files
  FROM stored
  UNION ALL
  SELECT 9, 'tracedb_file_bytes', 'Bytes of these files.', run, NULL, NULL, NULL, file_bytes
  FROM stored
  UNION ALL
  SELECT 10, 'tracedb_events', 'Events of these files.', run, NULL, NULL, NULL, events
  FROM stored
  UNION ALL
  SELECT 11, 'tracedb_ingest_timestamp_seconds', 'When the last of these files was ingested.', run,
         NULL, NULL, NULL, ingested_s
  FROM stored
)
SELECT metric, help, run, rank, device, kind, value
FROM figure
ORDER BY place, run, rank, device, kind;
