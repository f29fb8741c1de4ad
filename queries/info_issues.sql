-- title: What was wrong in the traces
--
-- column: rank           int(id)     The rank.
-- column: path           text        The file.
-- column: kind           text        The kind of trouble.
-- column: count          int(count)  How often it was met.
-- column: first_offset   int(count)  Where first, in bytes of the unpacked JSON.
-- column: first_excerpt  text        What stands there.
--
-- plot:   bar count by rank, kind
-- empty:  Nothing was wrong in any trace.

SELECT t.rank, t.path, i.kind, i.count, i.first_offset, i.first_excerpt
FROM issues i
JOIN traces t ON t.trace_id = i.trace_id
ORDER BY t.rank, t.trace_id, i.first_offset, i.kind;
