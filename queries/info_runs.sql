-- title: The runs in the database
--
-- A run is one training job that was recorded: what is matched, compared and added up is within
-- one. Which traces are one run, the folders in which they lie tell, or `tracedb ingest --run`.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run         text        Its name.
-- column: path        text        The folder that is the run.
-- column: ranks       int(count)  Ranks that were recorded.
-- column: captures    int(count)  Cycles of the profiler, in each of which a rank has one trace.
-- column: world_size  int(count)  Ranks of the whole job, as a header has it.
-- column: start       text        The first start of an event, in UTC; NULL where the traces have
--                                 no absolute time.
-- column: length_ms   real(ms)    From the first start of an event to the last end, of each
--                                 capture.
--
-- about:  the database
-- plot:   bar length_ms by run
-- empty:  The database holds no trace.

SELECT
  r.run,
  r.path,
  r.ranks,
  r.captures,
  r.world_size,
  -- Before 2000: the time since something else.
  iif(r.start_ns >= 946684800000000000,
      strftime('%Y-%m-%d %H:%M:%S', r.start_ns / 1000000000, 'unixepoch'), NULL) AS start,
  (SELECT sum(c.end_ns - c.start_ns) FROM captures c WHERE c.run_id = r.run_id) / 1e6 AS length_ms
FROM runs r
WHERE :run IS NULL OR r.run = :run
ORDER BY r.run;
