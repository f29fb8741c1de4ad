-- reads: captures collective_causes device_uses matched_collectives steps traces
WITH latest AS (
  SELECT
    run_id, run, capture_id, start_ns, end_ns
  FROM (
    SELECT
      *,
      ROW_NUMBER() OVER (PARTITION BY run_id ORDER BY capture DESC) AS place
    FROM captures
    WHERE
      ALL_OF(run) OR run = GIVEN(run)
  )
  WHERE
    place = 1
), recorded AS (
  SELECT
    t.trace_id AS trace_id, t.run AS run, t.rank AS rank
  FROM latest AS l
  JOIN traces AS t
    ON t.capture_id = l.capture_id
), step AS (
  SELECT
    r.run AS run, r.rank AS rank, s.dur_ns AS dur_ns,
    ROW_NUMBER() OVER by_length AS place,
    COUNT(*) OVER (PARTITION BY r.trace_id) AS steps,
    r.trace_id AS trace_id
  FROM recorded AS r
  JOIN steps AS s
    ON s.trace_id = r.trace_id
  WINDOW by_length AS (PARTITION BY r.trace_id ORDER BY s.dur_ns NULLS FIRST)
), shared_out AS (
  SELECT
    r.run AS run, d.rank AS rank, d.device AS device, d.start_ns AS start_ns, d.end_ns AS end_ns,
    d.compute_ns AS compute_ns, d.exposed_communication_ns AS exposed_communication_ns,
    d.exposed_memory_ns AS exposed_memory_ns, d.idle_ns AS idle_ns
  FROM recorded AS r
  JOIN device_uses AS d
    ON d.trace_id = r.trace_id
), kinds AS (
  SELECT
    'compute' AS kind
  UNION ALL
  SELECT
    'exposed_communication'
  UNION ALL
  SELECT
    'exposed_memory'
  UNION ALL
  SELECT
    'idle'
), late AS (
  SELECT
    l.run AS run, c.root_rank AS rank, c.root_cause AS kind,
    SUM(m.wait_ns) AS wait_ns
  FROM latest AS l
  JOIN matched_collectives AS m
    ON m.capture_id = l.capture_id AND m.is_estimate = 0 AND m.wait_ns > 0
  JOIN collective_causes AS c
    ON c.slice_id = m.slice_id
  WHERE
    NOT c.root_rank IS NULL
  GROUP BY
    l.run, c.root_rank, c.root_cause
), stored AS (
  SELECT
    run,
    COUNT(*) AS files,
    SUM(events) AS events,
    SUM(file_bytes) AS file_bytes,
    COUNT(DISTINCT capture_id) AS captures,
    MAX(EPOCH(ingested_at)) AS ingested_s
  FROM traces
  WHERE
    ALL_OF(run) OR run = GIVEN(run)
  GROUP BY
    run
), figure AS (
  SELECT
    1 AS place,
    'tracedb_step_seconds' AS metric,
    'Median duration of a step.' AS help,
    run, rank, NULL AS device, NULL AS kind,
    AVG(dur_ns) / 1e9 AS value
  FROM step
  WHERE
    place IN (INT_DIV(steps + 1, 2), INT_DIV(steps + 2, 2))
  GROUP BY
    trace_id, run, rank
  UNION ALL
  SELECT
    2,
    'tracedb_gpu_time_ratio',
    'Share of the time of a GPU by what ran on it.',
    run, rank, device, kind,
    CASE kind
      WHEN 'compute'
      THEN compute_ns
      WHEN 'exposed_communication'
      THEN exposed_communication_ns
      WHEN 'exposed_memory'
      THEN exposed_memory_ns
      ELSE idle_ns
    END * 1.0e0 / (
      end_ns - start_ns
    )
  FROM shared_out
  CROSS JOIN kinds
  WHERE
    end_ns > start_ns
  UNION ALL
  SELECT
    3,
    'tracedb_exposed_communication_seconds',
    'Time of the capture in which a GPU communicated and did not compute.',
    run, rank, device, NULL,
    exposed_communication_ns / 1e9
  FROM shared_out
  UNION ALL
  SELECT
    4,
    'tracedb_caused_wait_seconds',
    'Time that all ranks together waited in collectives as this rank was late of itself.',
    run, rank, NULL,
    COALESCE(kind, 'unknown'),
    wait_ns / 1e9
  FROM late
  UNION ALL
  SELECT
    5,
    'tracedb_capture_ranks',
    'Ranks of the last capture.',
    run, NULL, NULL, NULL,
    1e0 * COUNT(*)
  FROM recorded
  GROUP BY
    run
  UNION ALL
  SELECT
    6,
    'tracedb_capture_end_timestamp_seconds',
    'When the last capture ended.',
    run, NULL, NULL, NULL,
    1e0 * (
      INT_DIV(end_ns, 1000000000)
    )
  FROM latest AS l
  /* without a base its times count from when the machine was started */
  WHERE
    EXISTS(
      SELECT
        1
      FROM traces AS t
      WHERE
        t.capture_id = l.capture_id AND NOT t.base_time_ns IS NULL
    )
  UNION ALL
  SELECT
    7,
    'tracedb_captures',
    'Captures in the database.',
    run, NULL, NULL, NULL,
    1e0 * captures
  FROM stored
  UNION ALL
  SELECT
    8,
    'tracedb_files',
    'Trace files in the database.',
    run, NULL, NULL, NULL,
    1e0 * files
  FROM stored
  UNION ALL
  SELECT
    9,
    'tracedb_file_bytes',
    'Bytes of these files.',
    run, NULL, NULL, NULL,
    1e0 * file_bytes
  FROM stored
  UNION ALL
  SELECT
    10,
    'tracedb_events',
    'Events of these files.',
    run, NULL, NULL, NULL,
    1e0 * events
  FROM stored
  UNION ALL
  SELECT
    11,
    'tracedb_ingest_timestamp_seconds',
    'When the last of these files was ingested.',
    run, NULL, NULL, NULL,
    1e0 * ingested_s
  FROM stored
)
SELECT
  metric, help, run, rank, device, kind, value
FROM figure
ORDER BY
  place NULLS FIRST, run NULLS FIRST, rank NULLS FIRST, device NULLS FIRST, kind NULLS FIRST
