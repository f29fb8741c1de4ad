-- title: Ranks of a run whose captures do not meet in time
--
-- Traces of a run that overlap in time, directly or over others, are put together; the set with the
-- most ranks is what the run looks like. A rank that is never captured together with any of its
-- ranks is a row. Times are absolute where a trace has baseTimeNanoseconds; a trace that has not is
-- far from the others here, and cannot be compared with them.
--
-- meaning: No collective of this rank has a partner: `nccl_stalls` knows nothing of waits between
--   it and the others, and `nccl_stall_ranks` counts its collectives as unmatched. Figures of each
--   rank by itself hold.
-- advice: Ingest captures that were taken together. Of a job that was restarted, or of two jobs,
--   ingest the traces of each again with a name of its own (--run NAME). If they were taken
--   together, the hosts' clocks differ by about gap_ms: set them (NTP) and record again.
--
-- column: severity  text        Always finding.
-- column: run       text        The run.
-- column: rank      int(id)     The rank.
-- column: count     int(count)  Its captures, none of which meets the others.
-- column: gap_ms    real(ms)    From its nearest capture to the others.
-- column: side      text        before or after the others.
-- column: start_ms  real(ms)    Where its first capture starts, since the first event of the run.
-- column: met       int(count)  Ranks that are together.
-- column: path      text        Its first capture.
--
-- empty:  The captures of all ranks of a run meet in time.

WITH sorted AS (
  SELECT run_id, trace_id, rank, start_ns, end_ns,
         max(end_ns) OVER (PARTITION BY run_id ORDER BY start_ns, trace_id
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached_ns
  FROM traces
  WHERE start_ns IS NOT NULL
),
numbered AS MATERIALIZED (
  SELECT run_id, trace_id, rank, start_ns, end_ns,
         sum(coalesce(start_ns > reached_ns, 1)) OVER (PARTITION BY run_id
                                                       ORDER BY start_ns, trace_id) AS island
  FROM sorted
),
ordered AS (
  SELECT run_id, island, count(DISTINCT rank) AS met, min(start_ns) AS start_ns,
         max(end_ns) AS end_ns,
         row_number() OVER (PARTITION BY run_id ORDER BY count(DISTINCT rank) DESC, island) AS place
  FROM numbered
  GROUP BY run_id, island
),
largest AS MATERIALIZED (
  SELECT run_id, island, met, start_ns, end_ns FROM ordered WHERE place = 1
),
known AS MATERIALIZED (
  SELECT DISTINCT n.run_id, n.rank
  FROM numbered n JOIN largest l ON l.run_id = n.run_id AND l.island = n.island
),
met AS MATERIALIZED (  -- whoever was captured together with one of these
  SELECT DISTINCT n.run_id, n.rank
  FROM numbered n
  WHERE (n.run_id, n.island) IN (SELECT k.run_id, m.island FROM known k
                                 JOIN numbered m ON m.run_id = k.run_id AND m.rank = k.rank)
),
apart AS (
  SELECT n.run_id, n.rank, count(*) AS count, min(n.start_ns) AS first_ns,
         min(max(n.start_ns - l.end_ns, l.start_ns - n.end_ns)) AS gap_ns,
         min(n.start_ns) < l.start_ns AS is_before, l.met
  FROM numbered n JOIN largest l ON l.run_id = n.run_id
  WHERE (n.run_id, n.rank) NOT IN (SELECT run_id, rank FROM met)
  GROUP BY n.run_id, n.rank
)
SELECT
  'finding' AS severity,
  t.run,
  a.rank,
  a.count,
  a.gap_ns / 1e6 AS gap_ms,
  iif(a.is_before, 'before', 'after') AS side,
  (a.first_ns - t.run_start_ns) / 1e6 AS start_ms,
  a.met,
  t.path
FROM apart a
JOIN traces t ON t.trace_id = (SELECT r.trace_id FROM traces r
                               WHERE r.run_id = a.run_id AND r.rank = a.rank
                               ORDER BY r.start_ns IS NULL, r.start_ns, r.trace_id LIMIT 1)
ORDER BY a.run_id, a.rank;
