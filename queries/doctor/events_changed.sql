-- title: Events kept otherwise than the file has them
--
-- Events that are there, but were mended or could not be placed: texts with broken escapes,
-- numbers that are not finite, begins without an end, unknown phases and so on. Times of GPU
-- activities and text around the events have checks of their own (times_missing, file_oddities).
--
-- meaning: Names, args or pairs of these events may differ from what was recorded. Times of
--   kernels are not touched, so busy times and waits hold; sums by name or over args may not.
-- advice: Nothing, if the names you look for are not among them. In a capture that was cut
--   short, begins without an end are to be expected.
--
-- column: severity       text        Always note.
-- column: run            text        Its run: one training job that was recorded.
-- column: trace_id       int(id)     The trace.
-- column: rank           int(id)     Its rank.
-- column: count          int(count)  How often.
-- column: trouble        text        The kind, as in the table issues.
-- column: first_offset   int(count)  Where first, in bytes of the unpacked JSON.
-- column: excerpt        text        What stands there.
--
-- empty:  Every event is as the file has it.

SELECT
  'note' AS severity,
  t.run,
  t.trace_id,
  t.rank,
  i.count,
  i.kind AS trouble,
  i.first_offset,
  i.first_excerpt AS excerpt
FROM issues i
JOIN traces t ON t.trace_id = i.trace_id
WHERE i.kind NOT IN ('malformed_event', 'not_an_event', 'event_too_large', 'event_too_deep',
                     'missing_time', 'bad_time', 'truncated', 'damaged_compression', 'no_timing',
                     'impossible_time',
                     'trailing_garbage', 'header_malformed', 'header_too_large',
                     'repeated_event_array')
ORDER BY t.run, t.rank, t.trace_id, i.count DESC, i.kind;
