-- title: Text around the events that is not as it should be
--
-- What stands outside the array of events: header values that are no JSON, events behind the end
-- of their array, a second array of events, and text behind the end of the trace. It is a finding
-- where that text looks like events or another trace, which is not read.
--
-- meaning: Text behind the end of a trace is not loaded: if it is another trace, all its events
--   are missing from every figure. A header value that is no JSON may be the rank, the base time or
--   the groups; then ranks, absolute times and matched collectives may be wrong.
-- advice: Look at the place. Two traces in one file: cut it in two. A writer that spoils its
--   header: see what tracedb info says of rank and groups, and give --rank where it is wrong.
--
-- column: severity       text        Finding or note.
-- column: run            text        Its run: one training job that was recorded.
-- column: trace_id       int(id)     The trace.
-- column: rank           int(id)     Its rank.
-- column: count          int(count)  How often.
-- column: trouble        text        The kind, as in the table issues.
-- column: first_offset   int(count)  Where first, in bytes of the unpacked JSON.
-- column: excerpt        text        What stands there.
--
-- empty:  Nothing but the trace is in the file.

SELECT
  CASE WHEN i.kind = 'trailing_garbage'
            AND (instr(i.first_excerpt, '"ph"') > 0 OR instr(i.first_excerpt, 'traceEvents') > 0)
       THEN 'finding' ELSE 'note' END AS severity,
  t.run,
  t.trace_id,
  t.rank,
  i.count,
  i.kind AS trouble,
  i.first_offset,
  i.first_excerpt AS excerpt
FROM issues i
JOIN traces t ON t.trace_id = i.trace_id
WHERE i.kind IN ('trailing_garbage', 'header_malformed', 'header_too_large', 'repeated_event_array')
ORDER BY severity, t.run, t.rank, t.trace_id, i.kind;
