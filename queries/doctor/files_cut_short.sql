-- title: Other files that break off
--
-- A log, a dump or another file that is no trace was still being written, did not fit the disk or
-- was copied half. What comes before the break is read.
--
-- meaning: What comes after the break is in no answer: of a dump of the flight recorder the last
--   calls, which are those that matter where a job hung.
-- advice: Copy the file again, or have it written again.
--
-- column: severity      text        Always finding.
-- column: run           text        Its run: one training job that was recorded.
-- column: rank          int(id)     Its rank, where the file tells it.
-- column: count         int(count)  1: the file.
-- column: file          text        What it is.
-- column: trouble       text        cut_short; damaged_compression: its compression broke off.
-- column: first_offset  int(count)  Where, in bytes of the unpacked text.
-- column: rows          int(count)  What was read before it, as rows.
-- column: path          text        The file.
-- column: source_id     int(id)     The file, as a number in sources.
--
-- empty:  No other file breaks off.

SELECT 'finding' AS severity, s.run, s.rank, 1 AS count, s.kind AS file, i.kind AS trouble,
       i.first_offset, s.rows, s.path, s.source_id
FROM sources s JOIN issues i ON i.source_id = s.source_id
WHERE i.kind IN ('cut_short', 'damaged_compression')
ORDER BY s.run, s.rank, s.source_id, i.first_offset, i.kind;
