-- title: Captures that were cut short or damaged
--
-- A trace is complete when its file ends where its JSON does. One that was still being written,
-- did not fit the disk or was copied half is read up to the cut.
--
-- meaning: What comes after the cut is in no figure: spans, busy times and counts of this rank
--   are those of the part that is there, and its later collectives have no partner
--   (`unmatched`).
-- advice: Copy the file again, or record again; compare this rank with others only up to
--   last_ms.
--
-- column: severity       text        Always finding.
-- column: run            text        Its run: one training job that was recorded.
-- column: trace_id       int(id)     The trace.
-- column: rank           int(id)     Its rank.
-- column: count          int(count)  1: the capture.
-- column: trouble        text        The kind of damage: truncated, damaged_compression.
-- column: first_offset   int(count)  Where, in bytes of the unpacked JSON.
-- column: events         int(count)  Events before it.
-- column: last_ms        real(ms)    End of the last of them, since the trace's first event.
-- column: path           text        The file.
-- column: excerpt        text        What stands at the cut.
--
-- empty:  Every capture is whole.

SELECT
  'finding' AS severity,
  t.run,
  t.trace_id,
  t.rank,
  1 AS count,
  i.kind AS trouble,
  i.first_offset,
  t.events,
  (t.end_ns - t.start_ns) / 1e6 AS last_ms,
  t.path,
  i.first_excerpt AS excerpt
FROM traces t
LEFT JOIN issues i ON i.trace_id = t.trace_id AND i.kind IN ('truncated', 'damaged_compression')
WHERE t.complete = 0
ORDER BY t.run, t.rank, t.trace_id, i.first_offset, i.kind;
