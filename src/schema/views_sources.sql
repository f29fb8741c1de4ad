CREATE VIEW sources AS
-- A file that is no trace: a training log, samples of a GPU, what another profiler has written.
--   source_id: its number in this database
--   run_id: in runs; NULL where its folder holds several runs
--   run: its name
--   kind: what it is
--   path: as it was given to ingest
--   host: where the file tells it
--   rank: of which rank, where the file tells it
--   bytes: of the file
--   rows: that it became
--   complete: 0 when its compression broke off
--   start_ns: first time in it
--   end_ns: last time in it
--   time_source: how these times are known to be Unix time, or not
SELECT s.source_id, s.run_id, r.run, s.kind, s.path, s.host, s.rank, s.file_bytes AS bytes,
       s.row_count AS rows, s.complete, s.start_ns, s.end_ns, s.time_source
FROM _source s LEFT JOIN _run r ON r.run_id = s.run_id;
