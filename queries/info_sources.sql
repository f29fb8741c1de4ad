-- title: The files in the database that are no traces
--
-- Training logs, samples of GPUs, what other profilers have written: each is of the run in whose
-- folder it lies.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run          text        The run; NULL where the file's folder holds several runs.
-- column: kind         text        What it is.
-- column: path         text        The file, as it was given to ingest.
-- column: host         text        The host, where the file tells it.
-- column: rank         int(id)     The rank, where the file tells it.
-- column: rows         int(count)  What it became.
-- column: issues       int(count)  Kinds of trouble met in it: see info_issues.
-- column: complete     int(count)  0 where its compression broke off.
-- column: length_ms    real(ms)    From its first time to its last.
-- column: time_source  text        How its times are known to be Unix time, or not.
--
-- about:  the database
-- lead:   kind, path, rows, issues, host, rank
-- plot:   bar rows by kind, path
-- empty:  Every file in the database is a trace.

SELECT s.run, s.kind, s.path, s.host, s.rank, s.rows,
       (SELECT count(*) FROM issues i WHERE i.source_id = s.source_id) AS issues,
       s.complete, (s.end_ns - s.start_ns) / 1e6 AS length_ms, s.time_source
FROM sources s
WHERE :run IS NULL OR s.run = :run
ORDER BY s.run, s.kind, s.path;
