-- title: What was wrong in the files
--
-- Of a database that `tracedb gather` made also which ranks it is without: shard_missing, nothing
-- was left by them; shard_broken, what was left cannot be read.
--
-- param:  run      text        = null  This run only; all of them when null.
-- param:  capture  int(count)  = null  This capture of a run only, by its number; all when null.
--
-- column: run            text        The run: one training job that was recorded.
-- column: capture        int(count)  The capture, by its number in the run; of traces.
-- column: rank           int(id)     The rank, where the file tells it.
-- column: path           text        The file.
-- column: kind           text        The kind of trouble.
-- column: count          int(count)  How often it was met.
-- column: first_offset   int(count)  Where first, in bytes of the unpacked text.
-- column: first_excerpt  text        What stands there.
--
-- about:  the database
-- lead:   rank, kind, count, path
-- plot:   bar count by run, rank, kind
-- empty:  Nothing was wrong in any file.

SELECT f.run, f.capture, f.rank, f.path, i.kind, i.count, i.first_offset, i.first_excerpt
FROM issues i
LEFT JOIN (SELECT trace_id, NULL AS source_id, run, capture, rank, path FROM traces
           UNION ALL SELECT NULL, source_id, run, NULL, rank, path FROM sources) f
  ON f.trace_id = i.trace_id OR f.source_id = i.source_id
WHERE (f.path IS NOT NULL OR (i.trace_id IS NULL AND i.source_id IS NULL))
  AND (:run IS NULL OR f.run = :run) AND (:capture IS NULL OR f.capture = :capture)
ORDER BY f.run, f.capture, f.rank, f.trace_id, f.source_id, i.first_offset, i.kind;
