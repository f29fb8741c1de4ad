-- title: How a job ended, or where it stands, by its logs
--
-- One row for each training log. state is `finished` when the last iteration is the last of all, or
-- the log says that training is done; `failed` after an exception, an error, a crash, out of memory
-- or a kill that stands behind the last iteration; `hung` when other files of the run, or later
-- lines of this log, go on for ten iterations' time and `min_hung_s` seconds at least; else
-- `stopped`: it breaks off. A job that still runs looks like one that stopped. Once a later log of
-- the run has begun to print iterations, the job was started again: other files tell no more of the
-- log before. `messages` is the state of a file with nothing of a job but what went wrong, beside
-- a job's log or traces; one that lies alone is no job's, and left out.
--
-- Times of a log without a zone are compared with those of such logs; with others, such as of
-- traces, where one zone alone makes the log's iterations meet the profiled steps (log_steps).
--
-- param:  run         text        = null  This run only; all of them when null.
-- param:  min_hung_s  int(count)  = 60    Seconds without an iteration before a job is called hung.
--
-- column: run            text        The run: one training job.
-- column: source_id      int(id)     The log, in the view sources.
-- column: path           text        Of the log.
-- column: state          text        finished, failed, hung, stopped or messages.
-- column: iteration      int(count)  The last.
-- column: iterations     int(count)  How many there are to be.
-- column: loss           real(count) Of the last iteration.
-- column: last_ns        int(ns)     The last time in the log, Unix time as time_source says.
-- column: quiet_ms       real(ms)    From the last iteration's line to the last time known of the
--                                    run: how long it has been hung. NULL: there are times that
--                                    cannot be compared with the log's.
-- column: errors         int(count)  Lines with an error, a crash or a time limit.
-- column: exceptions     int(count)  Lines that name an exception.
-- column: out_of_memory  int(count)  Lines that say so.
-- column: nans           int(count)  Lines with a loss or norm that is no number, or that say NaN.
-- column: killed         int(count)  Lines of kills and signals.
-- column: warnings       int(count)  Lines with a warning.
-- column: last_trouble   text        The last line of these, warnings aside.
-- column: last_line      text        Of the log.
-- column: half_lines     int(count)  Lines cut or mixed with others, which are in no number here.
--
-- about:  logs, settings, GPU samples
-- lead:   path, state, iteration, loss, quiet_ms, last_trouble, last_line
-- plot:   bar quiet_ms by run, path
-- empty:  No training log is in the database: ingest the job's folder.

WITH talk AS (  -- what only a job says
  SELECT source_id FROM log_iterations UNION SELECT source_id FROM log_events
  UNION SELECT source_id FROM log_arguments
  UNION SELECT source_id FROM log_messages
  WHERE text LIKE '%slurmstepd: error: %' OR text LIKE '%srun: error: %'
),
job AS (
  SELECT run_id FROM runs WHERE traces > 0
  UNION SELECT run_id FROM sources WHERE source_id IN (SELECT source_id FROM talk)
),
log AS (
  SELECT source_id, run_id, run, path, start_ns, end_ns,
         ifnull(time_source, '') = 'local time, zone unknown' AS is_local,
         source_id NOT IN (SELECT source_id FROM talk) AS is_talk_missing
  FROM sources
  WHERE kind = 'training log' AND (:run IS NULL OR run = :run)
    AND (source_id IN (SELECT source_id FROM talk) OR run_id IN (SELECT run_id FROM job))
),
printed AS (
  SELECT source_id, max(line) AS line, iteration, iterations, at_ns, after_ns, loss
  FROM log_iterations GROUP BY source_id
),
pace AS (
  SELECT source_id, avg(elapsed_ms) AS mean_ms FROM log_iterations GROUP BY source_id
),
trouble AS (
  SELECT source_id,
         sum(count) FILTER (WHERE kind IN ('error', 'crash', 'timeout')) AS errors,
         sum(count) FILTER (WHERE kind NOT IN ('error', 'crash', 'timeout', 'warning', 'nan',
           'killed', 'out of memory', 'traceback', 'last lines')) AS exceptions,
         sum(count) FILTER (WHERE kind = 'out of memory') AS out_of_memory,
         sum(count) FILTER (WHERE kind = 'nan') AS nans,
         sum(count) FILTER (WHERE kind = 'killed') AS killed,
         sum(count) FILTER (WHERE kind = 'warning') AS warnings
  FROM log_messages WHERE position = 'first' GROUP BY source_id
),
worst AS (
  SELECT source_id, max(line) AS line, text FROM log_messages
  WHERE position IN ('first', 'last') AND kind NOT IN ('warning', 'nan', 'traceback')
  GROUP BY source_id
),
ending AS (
  SELECT source_id, max(line) AS line, text FROM log_messages
  WHERE position = 'end' GROUP BY source_id
),
done AS (
  SELECT DISTINCT source_id FROM log_events WHERE name = 'after training is done'
),
zone AS (  -- what makes times of traces those of a local log; NULL: several would do
  SELECT source_id, CASE WHEN min(moved_ns) = max(moved_ns) AND max(moves) = 1
                         THEN max(moved_ns) END AS moved_ns
  FROM log_steps WHERE :run IS NULL OR run = :run GROUP BY source_id
),
again AS (  -- logs after which the job was started again
  SELECT DISTINCT l.source_id
  FROM log l JOIN log n ON n.run_id = l.run_id AND n.is_local = l.is_local
    AND n.start_ns > l.end_ns
  WHERE n.source_id IN (SELECT source_id FROM printed)
),
file AS (
  SELECT run_id, end_ns, ifnull(time_source, '') = 'local time, zone unknown' AS is_local,
         (SELECT z.moved_ns FROM zone z WHERE z.source_id = s.source_id) AS moved_ns
  FROM sources s WHERE end_ns IS NOT NULL AND run_id IS NOT NULL
  UNION ALL
  SELECT run_id, end_ns, 0, NULL FROM runs WHERE end_ns IS NOT NULL
),
known AS (  -- the last time that any file of the run has, by the log's clock
  SELECT l.source_id,
         max(f.end_ns + CASE WHEN f.is_local = l.is_local THEN 0
                             WHEN l.is_local THEN z.moved_ns ELSE -f.moved_ns END) AS end_ns,
         max(f.is_local <> l.is_local
             AND CASE WHEN l.is_local THEN z.moved_ns ELSE f.moved_ns END IS NULL) AS is_part
  FROM log l JOIN file f ON f.run_id = l.run_id LEFT JOIN zone z ON z.source_id = l.source_id
  WHERE l.source_id NOT IN (SELECT source_id FROM again)
  GROUP BY l.source_id
),
half AS (
  SELECT source_id, sum(count) AS lines FROM issues
  WHERE kind IN ('half_line', 'glued_line', 'too_long_line') GROUP BY source_id
),
told AS (
  SELECT l.source_id, l.run, l.path, l.end_ns, p.iteration, p.iterations, p.loss, a.mean_ms,
         (max(ifnull(k.end_ns, l.end_ns), l.end_ns) - coalesce(p.at_ns, p.after_ns)) / 1e6
           AS quiet_ms,
         ifnull(k.is_part, 0) AS is_part, l.is_talk_missing,
         p.iteration >= p.iterations OR d.source_id IS NOT NULL AS is_done,
         w.line > ifnull(p.line, 0) AS is_trouble_last, w.text AS last_trouble
  FROM log l
  LEFT JOIN printed p ON p.source_id = l.source_id
  LEFT JOIN pace a ON a.source_id = l.source_id
  LEFT JOIN known k ON k.source_id = l.source_id
  LEFT JOIN done d ON d.source_id = l.source_id
  LEFT JOIN worst w ON w.source_id = l.source_id
),
judged AS (
  SELECT *, CASE WHEN is_talk_missing THEN 'messages'
                 WHEN is_done THEN 'finished'
                 WHEN is_trouble_last THEN 'failed'
                 WHEN quiet_ms > ifnull(:min_hung_s, 60) * 1e3 AND quiet_ms > 10 * mean_ms
                   THEN 'hung'
                 ELSE 'stopped' END AS state
  FROM told
)
SELECT
  o.run,
  o.source_id,
  o.path,
  o.state,
  o.iteration,
  o.iterations,
  o.loss,
  o.end_ns AS last_ns,
  CASE WHEN o.state = 'hung' OR NOT o.is_part THEN o.quiet_ms END AS quiet_ms,
  ifnull(t.errors, 0) AS errors,
  ifnull(t.exceptions, 0) AS exceptions,
  ifnull(t.out_of_memory, 0) AS out_of_memory,
  ifnull(t.nans, 0) AS nans,
  ifnull(t.killed, 0) AS killed,
  ifnull(t.warnings, 0) AS warnings,
  o.last_trouble,
  e.text AS last_line,
  ifnull(h.lines, 0) AS half_lines
FROM judged o
LEFT JOIN trouble t ON t.source_id = o.source_id
LEFT JOIN ending e ON e.source_id = o.source_id
LEFT JOIN half h ON h.source_id = o.source_id
ORDER BY o.run, o.path, o.source_id;
