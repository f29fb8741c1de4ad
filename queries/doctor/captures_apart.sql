-- title: Ranks whose captures do not meet in time
--
-- Captures that overlap in time, directly or over others, are put together; the set with the most
-- ranks is what the job looks like. A rank without any capture in it is a row. Times are absolute
-- where a trace has baseTimeNanoseconds; a trace that has not is far from the others here, and
-- cannot be compared with them.
--
-- meaning: The n-th collective of this rank is another one than the n-th of the others: what
--   `nccl_stalls` and `nccl_stall_ranks` say of waits between them is wrong where traces have no
--   Seq, with waits as large as gap_ms. Figures of each rank by itself hold.
-- advice: Ingest captures that were taken together. If they were, the hosts' clocks differ by
--   about gap_ms: set them (NTP) and record again.
--
-- column: severity  text        Always finding.
-- column: rank      int(id)     The rank.
-- column: count     int(count)  Its captures, none of which meets the others.
-- column: gap_ms    real(ms)    From its nearest capture to the others.
-- column: side      text        before or after the others.
-- column: start_ms  real(ms)    Where its first capture starts, since the first of the database.
-- column: met       int(count)  Ranks that are together.
-- column: path      text        Its first capture.
--
-- empty:  The captures of all ranks meet in time.

WITH sorted AS (
  SELECT trace_id, rank, start_ns, end_ns,
         max(end_ns) OVER (ORDER BY start_ns, trace_id
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached_ns
  FROM traces
  WHERE start_ns IS NOT NULL
),
numbered AS MATERIALIZED (
  SELECT trace_id, rank, start_ns, end_ns,
         sum(coalesce(start_ns > reached_ns, 1)) OVER (ORDER BY start_ns, trace_id) AS island
  FROM sorted
),
largest AS MATERIALIZED (
  SELECT island, count(DISTINCT rank) AS met, min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM numbered
  GROUP BY island
  ORDER BY met DESC, island
  LIMIT 1
),
apart AS (
  SELECT n.rank, count(*) AS count, min(n.start_ns) AS first_ns,
         min(max(n.start_ns - l.end_ns, l.start_ns - n.end_ns)) AS gap_ns,
         min(n.start_ns) < l.start_ns AS is_before, l.met
  FROM numbered n, largest l
  WHERE n.rank NOT IN (SELECT m.rank FROM numbered m WHERE m.island = l.island)
  GROUP BY n.rank
)
SELECT
  'finding' AS severity,
  a.rank,
  a.count,
  a.gap_ns / 1e6 AS gap_ms,
  iif(a.is_before, 'before', 'after') AS side,
  (a.first_ns - (SELECT min(start_ns) FROM traces)) / 1e6 AS start_ms,
  a.met,
  (SELECT r.path FROM traces r WHERE r.rank = a.rank ORDER BY r.start_ns, r.trace_id LIMIT 1)
    AS path
FROM apart a
ORDER BY a.rank;
