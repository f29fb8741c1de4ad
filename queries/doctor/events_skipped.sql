-- title: Events that could not be read
--
-- Events that are in no table, by kind: malformed_event is no JSON, not_an_event no event,
-- event_too_large and event_too_deep are beyond the bounds of ingest, missing_time and bad_time
-- have no usable ts.
--
-- meaning: Each is missing wherever it would have counted; share_pct is how much of the trace
--   that is. Lost kernels make busy times too short, lost runtime calls cost kernels their
--   launch.
-- advice: See what stands at first_offset of the unpacked file. For event_too_large ingest with
--   more --memory; what the profiler wrote wrongly is often mended in a newer version of it.
--
-- column: severity       text        Always finding.
-- column: run            text        Its run: one training job that was recorded.
-- column: trace_id       int(id)     The trace.
-- column: rank           int(id)     Its rank.
-- column: count          int(count)  Events of this kind.
-- column: share_pct      real(pct)   Of all events of the file.
-- column: trouble        text        The kind, as in the table issues.
-- column: first_offset   int(count)  Where the first is, in bytes of the unpacked JSON.
-- column: excerpt        text        How it begins.
--
-- empty:  Every event was read.

SELECT
  'finding' AS severity,
  t.run,
  t.trace_id,
  t.rank,
  i.count,
  100.0 * i.count / (t.events + t.skipped_events) AS share_pct,
  i.kind AS trouble,
  i.first_offset,
  i.first_excerpt AS excerpt
FROM issues i
JOIN traces t ON t.trace_id = i.trace_id
WHERE i.kind IN ('malformed_event', 'not_an_event', 'event_too_large', 'event_too_deep',
                 'missing_time', 'bad_time')
ORDER BY t.run, t.rank, t.trace_id, i.count DESC, i.kind;
