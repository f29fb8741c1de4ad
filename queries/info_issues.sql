-- title: What was wrong in the traces
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run            text        The run: one training job that was recorded.
-- column: capture        int(count)  The capture, by its number in the run.
-- column: rank           int(id)     The rank.
-- column: path           text        The file.
-- column: kind           text        The kind of trouble.
-- column: count          int(count)  How often it was met.
-- column: first_offset   int(count)  Where first, in bytes of the unpacked JSON.
-- column: first_excerpt  text        What stands there.
--
-- plot:   bar count by run, rank, kind
-- empty:  Nothing was wrong in any trace.

SELECT t.run, t.capture, t.rank, t.path, i.kind, i.count, i.first_offset, i.first_excerpt
FROM issues i
JOIN traces t ON t.trace_id = i.trace_id
WHERE (:run IS NULL OR t.run = :run) AND (:capture IS NULL OR t.capture = :capture)
ORDER BY t.run, t.capture, t.rank, t.trace_id, i.first_offset, i.kind;
