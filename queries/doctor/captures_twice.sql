-- title: Captures of one rank of a run at the same time
--
-- One process has one profiler. Two traces of one rank that overlap in time are the same capture
-- twice (once as recorded, once saved again by another tool), or of two processes that both call
-- themselves this rank.
--
-- param:  tolerance_ns  int(ns)  = 1000000  Overlaps up to this are let pass: captures in a row may
--                                           touch.
--
-- meaning: Whatever is summed for this rank counts both: activities, collectives, bytes, memory.
--   Its streams seem to overlap, and ordinals of its collectives run twice as fast as its
--   partners'.
-- advice: Take one of them out: ingest the right one into a new database, or give the other
--   process a rank of its own with --rank (a rank in a header or file name cannot be
--   overridden). Of two jobs, ingest the traces of one of them again with a name of its own
--   (--run NAME).
--
-- column: severity       text        Always finding.
-- column: run            text        The run.
-- column: rank           int(id)     The rank.
-- column: trace_id       int(id)     The trace that starts later.
-- column: count          int(count)  1: this trace.
-- column: other_id       int(id)     One that still runs then.
-- column: overlap_ms     real(ms)    How long both run.
-- column: path           text        The later one's file.
-- column: other_path     text        The other's.
--
-- lead:   severity, rank, count, overlap_ms, path, other_path
-- empty:  No rank of a run has two captures at the same time.

SELECT
  'finding' AS severity,
  b.run,
  b.rank,
  b.trace_id,
  1 AS count,
  a.trace_id AS other_id,
  (max(min(a.end_ns, b.end_ns) - b.start_ns)) / 1e6 AS overlap_ms,
  b.path,
  a.path AS other_path
FROM traces a
JOIN traces b ON b.run_id = a.run_id AND b.rank = a.rank
  AND (a.start_ns, a.trace_id) < (b.start_ns, b.trace_id)
WHERE min(a.end_ns, b.end_ns) - b.start_ns > coalesce(:tolerance_ns, 1000000)
GROUP BY b.trace_id
ORDER BY b.run_id, b.rank, b.start_ns, b.trace_id;
